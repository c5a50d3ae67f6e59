package io.fairlead.lab.load;

import io.fairlead.crds.config.Criticality;
import io.fairlead.lab.load.Answered.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * What an overload came to; written as JSON.
 *
 * @param ratePerSecond requests a second that the servers were said to be able to serve
 * @param seconds how long each phase took requests
 * @param streamShare share of requests that asked for a stream
 * @param seed of the requests
 * @param phases in the order in which they were
 */
record OverloadReport(
    double ratePerSecond, long seconds, double streamShare, long seed, List<Phase> phases) {

  /** An answer is good if it has begun so soon after its request was due. */
  static final Duration SOON = Duration.ofSeconds(1);

  /** In an answer in one piece nobody sees when it began: with no more than this for each token. */
  private static final Duration EACH_TOKEN = Duration.ofMillis(100);

  /** Share of the good answers at capacity that there must be beyond it. */
  private static final double KEPT = 0.95;

  /**
   * One load on one way.
   *
   * @param factor multiple of what can be served
   * @param way on which
   * @param models what became of the requests of each criticality
   * @param engines who waited in engines
   */
  record Phase(
      double factor, String way, Map<Criticality, Served> models, EngineQueues.Waiting engines) {

    private long good() {
      return models.values().stream().mapToLong(Served::good).sum();
    }
  }

  /**
   * What became of some requests.
   *
   * @param sent how many there were
   * @param served answered in full
   * @param good of those served: begun soon, or, in one piece, there as soon as one that began so
   *     soon and took 100 ms a token
   * @param refused turned away with 429
   * @param failed all others
   * @param p50Millis until a served stream began, from when its request was due
   * @param p99Millis the same
   */
  record Served(
      long sent,
      long served,
      long good,
      long refused,
      long failed,
      double p50Millis,
      double p99Millis) {

    static Served of(Collection<Answered> answers) {
      var micros = new Histogram(3_600_000_000L, 3);
      long served = 0;
      long good = 0;
      long refused = 0;
      for (Answered answer : answers) {
        if (answer.outcome() == Outcome.SUCCEEDED) {
          served++;
          if (answer.stream()) {
            micros.recordValue(answer.firstByte().toNanos() / 1_000);
          }
          good += answer.firstByte().compareTo(latest(answer)) <= 0 ? 1 : 0;
        } else if (answer.outcome() == Outcome.REJECTED) {
          refused++;
        }
      }
      return new Served(
          answers.size(),
          served,
          good,
          refused,
          answers.size() - served - refused,
          micros.getValueAtPercentile(50) / 1e3,
          micros.getValueAtPercentile(99) / 1e3);
    }
  }

  private static Duration latest(Answered answer) {
    return answer.stream()
        ? SOON
        : SOON.plus(EACH_TOKEN.multipliedBy(answer.request().outputTokens()));
  }

  /** The head of a table in Markdown. */
  static final List<String> HEAD =
      List.of(
          "| load | way | criticality | sent/s | good/s | served | refused | failed | TTFT p50, ms |"
              + " p99 | in an engine's queue, p99 | most |",
          "|---|---|---|---|---|---|---|---|---|---|---|---|");

  /** The table's lines for a phase that lasted so long, one for each criticality. */
  static List<String> lines(Phase phase, long seconds) {
    List<String> lines = new ArrayList<>();
    phase
        .models()
        .forEach((criticality, served) -> lines.add(line(phase, seconds, criticality, served)));
    return lines;
  }

  private static String line(Phase phase, long seconds, Criticality criticality, Served served) {
    double sent = Math.max(1, served.sent());
    return String.format(
        Locale.ROOT,
        "| %.2f × | %s | %s | %.1f | %.1f | %.1f %% | %.1f %% | %d | %.0f | %.0f | %d | %d |",
        phase.factor(),
        phase.way(),
        criticality.wireName(),
        sent / seconds,
        (double) served.good() / seconds,
        100 * served.served() / sent,
        100 * served.refused() / sent,
        served.failed(),
        served.p50Millis(),
        served.p99Millis(),
        phase.engines().p99(),
        phase.engines().most());
  }

  /**
   * What the first way did not do as it must; empty when it did: no request fails, no critical one
   * is refused, and overload leaves as many good answers as there are at capacity, but for 5 %.
   */
  List<String> problems() {
    List<String> problems = new ArrayList<>();
    String judged = phases.getFirst().way();
    List<Phase> own = phases.stream().filter(phase -> phase.way().equals(judged)).toList();
    long atCapacity =
        own.stream().filter(phase -> phase.factor() == 1).mapToLong(Phase::good).max().orElse(0);
    for (Phase phase : own) {
      String where = "%s at %s ×: ".formatted(judged, phase.factor());
      long failed = phase.models().values().stream().mapToLong(Served::failed).sum();
      if (failed > 0) {
        problems.add(where + failed + " requests failed");
      }
      Served critical = phase.models().get(Criticality.CRITICAL);
      if (critical != null && critical.refused() > 0) {
        problems.add(where + critical.refused() + " critical requests were refused");
      }
      if (phase.factor() > 1 && phase.good() < KEPT * atCapacity) {
        problems.add(where + "%d good answers, %d at capacity".formatted(phase.good(), atCapacity));
      }
    }
    return problems;
  }
}
