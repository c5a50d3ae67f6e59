package io.fairlead.lab.faults;

import io.fairlead.lab.faults.Finding.Part;
import io.fairlead.lab.load.Answered;
import io.fairlead.lab.load.Answered.Outcome;
import io.fairlead.lab.statistics.Sorted;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What answers and counts say of a scenario. */
final class Assessment {

  private static final double FIRST_SECONDS = 10;
  private static final double LONG_AFTER_SECONDS = 5;
  private static final double TO_NOTICE_SECONDS = 2;
  private static final double SHARE_SECONDS = 15;
  private static final double IN_USE_SECONDS = 5;

  private final Scenario scenario;
  private final String way;
  private final List<String> names;
  private final List<Answered> answers;
  private final Sends sent;
  private final Sends heard;

  Assessment(
      Scenario scenario,
      String way,
      List<String> names,
      List<Answered> answers,
      SentCounts counts) {
    this(scenario, way, names, answers, counts.sent(), counts.heard());
  }

  Assessment(
      Scenario scenario,
      String way,
      List<String> names,
      List<Answered> answers,
      Sends sent,
      Sends heard) {
    this.scenario = scenario;
    this.way = way;
    this.names = names;
    this.answers = answers;
    this.sent = sent;
    this.heard = heard;
  }

  Finding finding() {
    double onset = scenario.onset();
    double well = scenario.well();
    // Of a scenario that lasts less than four seconds, its second half.
    double noticed = onset + Math.min(TO_NOTICE_SECONDS, (well - onset) / 2);
    Sorted millis =
        Sorted.of(
            answers.stream()
                .filter(sent(onset, well).and(outcome(Outcome.SUCCEEDED)))
                .mapToDouble(answer -> answer.firstByte().toNanos() / 1e6)
                .toArray());
    Finding finding =
        new Finding(
            scenario.name(),
            scenario.what(),
            way,
            scenario.servers(),
            answers.size(),
            count(outcome(Outcome.FAILED)),
            count(outcome(Outcome.REJECTED)),
            kinds(),
            part(onset, Math.min(onset + FIRST_SECONDS, well)),
            part(Math.min(onset + FIRST_SECONDS, well), well),
            part(well, Double.POSITIVE_INFINITY),
            part(well + LONG_AFTER_SECONDS, Double.POSITIVE_INFINITY).failed(),
            millis.quantile(0.5),
            millis.quantile(0.99),
            secondsUntilRight(),
            toSick(sent, noticed, well),
            toSick(heard, noticed, well),
            usedAgain(),
            share(names, sent(Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY), true),
            share(sick(), sent(well, well + SHARE_SECONDS), false),
            leastInUse(noticed, well),
            answers.stream()
                .mapToDouble(answer -> answer.sent().minus(answer.due()).toNanos() / 1e6)
                .max()
                .orElse(0),
            perSecond(),
            List.of());
    return finding.missing(
        scenario.bars().stream().filter(bar -> bar.missed(finding)).map(Bar::what).toList());
  }

  private List<String> sick() {
    return scenario.sick().stream().sorted().map(names::get).toList();
  }

  private static double seconds(Answered answer) {
    return answer.sent().toNanos() / 1e9;
  }

  private static Predicate<Answered> sent(double from, double to) {
    return answer -> seconds(answer) >= from && seconds(answer) < to;
  }

  private static Predicate<Answered> outcome(Outcome outcome) {
    return answer -> answer.outcome() == outcome;
  }

  private long count(Predicate<Answered> which) {
    return answers.stream().filter(which).count();
  }

  private Part part(double from, double to) {
    Predicate<Answered> sent = sent(from, to);
    return new Part(count(sent), count(sent.and(outcome(Outcome.FAILED))));
  }

  private Map<String, Long> kinds() {
    return answers.stream()
        .filter(outcome(Outcome.SUCCEEDED).negate())
        .collect(Collectors.groupingBy(Answered::kind, TreeMap::new, Collectors.counting()));
  }

  private @Nullable Double secondsUntilRight() {
    return answers.stream()
        .filter(outcome(Outcome.FAILED).and(sent(scenario.onset(), Double.POSITIVE_INFINITY)))
        .map(answer -> seconds(answer) - scenario.onset())
        .max(Double::compare)
        .orElse(null);
  }

  private long toSick(Sends sends, double from, double to) {
    return scenario.sick().stream().mapToLong(server -> sends.between(server, from, to)).sum();
  }

  private @Nullable Double usedAgain() {
    @Nullable Double last = null;
    for (String name : sick()) {
      double first =
          answers.stream()
              .filter(outcome(Outcome.SUCCEEDED).and(answer -> answer.endpoint().equals(name)))
              .mapToDouble(Assessment::seconds)
              .filter(at -> at >= scenario.well())
              .min()
              .orElse(Double.NaN);
      if (Double.isNaN(first)) {
        return null;
      }
      last = Math.max(last == null ? 0 : last, first - scenario.well());
    }
    return last;
  }

  /** Of the answers of some time, the most or the least that one of these servers gave. */
  private double share(List<String> which, Predicate<Answered> when, boolean most) {
    Map<String, Long> served =
        answers.stream()
            .filter(outcome(Outcome.SUCCEEDED).and(when))
            .collect(Collectors.groupingBy(Answered::endpoint, Collectors.counting()));
    long all = served.values().stream().mapToLong(Long::longValue).sum();
    double[] shares =
        which.stream()
            .mapToDouble(name -> all == 0 ? 0 : (double) served.getOrDefault(name, 0L) / all)
            .toArray();
    return (most ? Arrays.stream(shares).max() : Arrays.stream(shares).min()).orElse(Double.NaN);
  }

  private int leastInUse(double from, double to) {
    int least = sent.used(from, to);
    for (double at = from; at + IN_USE_SECONDS <= to; at += IN_USE_SECONDS) {
      least = Math.min(least, sent.used(at, at + IN_USE_SECONDS));
    }
    return least;
  }

  private Map<String, List<Long>> perSecond() {
    var each = new LinkedHashMap<String, List<Long>>();
    for (int i = 0; i < names.size(); i++) {
      each.put(names.get(i), sent.perSecond(i, (int) Math.ceil(scenario.end())));
    }
    return each;
  }
}
