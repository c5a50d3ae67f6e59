package io.fairlead.cli.explain;

import io.fairlead.cli.TextTable;
import io.fairlead.cli.explain.ReceiptPage.Attempt;
import io.fairlead.cli.explain.ReceiptPage.Candidate;
import io.fairlead.cli.explain.ReceiptPage.Excluded;
import io.fairlead.cli.explain.ReceiptPage.FromCheckpoint;
import io.fairlead.cli.explain.ReceiptPage.Refusal;
import io.fairlead.cli.explain.ReceiptPage.Rejected;
import io.fairlead.cli.explain.ReceiptPage.Run;
import io.fairlead.cli.explain.ReceiptPage.Score;
import io.fairlead.cli.explain.ReceiptPage.Scored;
import io.fairlead.cli.explain.ReceiptPage.Term;
import io.fairlead.core.HealthState;
import io.fairlead.core.Outcome;
import io.fairlead.core.receipt.DecidedRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Tells people of a receipt: who got the request, and why the others did not. */
final class ReceiptText {

  /** Reasons that are told of one endpoint. */
  private static final int MOST_REASONS = 3;

  private static final Comparator<Reason> MOST_FIRST =
      Comparator.comparingDouble(Reason::worth).reversed();

  /** Characters of a config's hash that tell it from others. */
  private static final int SHORT_HASH = 12;

  /** Scores and costs that differ by less are told as the same. */
  private static final double NOTABLE_SCORE = 5e-4;

  private static final double NOTABLE_MILLIS = 0.05;

  /** Endpoints that a table has, the winner and the next best: of so many costs are kept. */
  private static final int MOST_ROWS = 8;

  /** Lines that tell why endpoints did not get a request; endpoints that one of them names. */
  private static final int MOST_REFUSING = 20;

  private static final int MOST_NAMED = 8;

  /** Outcomes of requests that wait, or whose client did not wait any longer. */
  private static final Set<String> NOT_REJECTED =
      Set.of(DecidedRequest.OPEN, Outcome.DISCONNECTED.code());

  /** What is not clear from an outcome's word. */
  private static final Map<String, String> MEANINGS =
      Map.of(
          Outcome.DISCONNECTED.code(),
          "its client went away",
          DecidedRequest.ANSWERED_BY_FORMER,
          "its answer began just when it was sent elsewhere: its client got it, and the endpoint that"
              + " was chosen last never got the request",
          Outcome.REFUSED.code(),
          "its server does not know the model, takes no more, or answered with nothing of what was"
              + " asked for",
          Outcome.INVALID.code(),
          "its server says that something is wrong with the request, or where it was sent");

  /** Of one that was sent, and whose end nobody saw but a proxy. */
  private static final String SAME_BEHIND_A_PROXY =
      "; behind a proxy a server that breaks off looks the same";

  private final List<String> lines = new ArrayList<>();

  private ReceiptText() {}

  /**
   * The lines.
   *
   * @param other how each of its decisions would be made under another config, or why that of one
   *     that was sent to nobody can't be told; empty for no other
   */
  static List<String> lines(ReceiptPage page, List<OtherDecision> other) {
    ReceiptText text = new ReceiptText();
    text.request(page);
    List<Refusal> refusals = page.refusals();
    for (int i = 0; i < refusals.size(); i++) {
      boolean last = i == refusals.size() - 1 && page.decisions().isEmpty();
      text.refusal(refusals.get(i), last && !NOT_REJECTED.contains(page.outcome()));
    }
    for (int i = 0; i < page.decisions().size(); i++) {
      text.lines.add("");
      text.attempt(page.decisions().get(i), i + 1, page.decisions().size());
      if (!other.isEmpty()) {
        text.lines.add("");
        text.other(other.get(i), page.decisions().get(i));
      }
    }
    if (page.decisions().isEmpty() && !other.isEmpty()) {
      text.lines.add("");
      text.nothing(other.getFirst());
    }
    return text.lines;
  }

  private void refusal(Refusal refusal, boolean ended) {
    lines.add("");
    lines.add(
        String.format(
            Locale.ROOT,
            "%s: %s, under config %s",
            refusal.at(),
            refusal.endpoints().isEmpty()
                ? "there were no endpoints"
                : ended
                    ? "rejected, since of " + count(refusal.endpoints().size()) + " none got it"
                    : "none of " + count(refusal.endpoints().size()) + " got it then",
            shortened(refusal.configHash())));
    origin(refusal.fromCheckpoint());
    losers(refusal.endpoints().stream().map(ReceiptText::loser).toList());
  }

  private void origin(@Nullable FromCheckpoint kept) {
    if (kept != null) {
      lines.add(
          "  "
              + kept.what()
              + " from the picker's checkpoint, perhaps old: nobody had told of newer ones");
    }
  }

  /**
   * One that did not get the request.
   *
   * @param why in words
   * @param kind the same as far as others have it in common
   */
  private record Loser(String endpoint, String why, String kind) {}

  private static Loser loser(Excluded one) {
    return new Loser(one.endpoint(), why(one), one.why());
  }

  /**
   * Together those of whom the same is to be told; so many lines as people read, the rest counted
   * by what they have in common.
   */
  private void losers(List<Loser> losers) {
    Map<String, List<Loser>> same =
        losers.stream()
            .collect(Collectors.groupingBy(Loser::why, LinkedHashMap::new, Collectors.toList()));
    same.values().stream().limit(MOST_REFUSING).forEach(this::alike);
    Map<String, Long> rest =
        same.values().stream()
            .skip(MOST_REFUSING)
            .flatMap(List::stream)
            .collect(Collectors.groupingBy(Loser::kind, LinkedHashMap::new, Collectors.counting()));
    rest.forEach(
        (kind, count) ->
            lines.add("    " + count + (count == 1 ? " other: " : " others: each ") + kind));
  }

  /** Of which the same is told. */
  private void alike(List<Loser> group) {
    String names =
        group.stream().limit(MOST_NAMED).map(Loser::endpoint).collect(Collectors.joining(", "));
    if (group.size() > MOST_NAMED) {
      names += " and " + (group.size() - MOST_NAMED) + " more";
    }
    lines.add("    " + names + (group.size() == 1 ? ": " : ": each ") + group.getFirst().why());
  }

  private static String count(int endpoints) {
    return endpoints == 1 ? "1 endpoint" : endpoints + " endpoints";
  }

  /** With what it lacks, or since when it is out. */
  private static String why(Excluded one) {
    StringBuilder why = new StringBuilder(one.why());
    if (one.limit() != null && !one.limit().isEmpty()) {
      why.append(", by ").append(one.limit());
    }
    if (one.saturation() != null && one.fullFrom() != null) {
      why.append(
          String.format(
              Locale.ROOT,
              " (at %.0f %%; this request goes below %.0f %%)",
              100 * one.saturation(),
              100 * one.fullFrom()));
    }
    if (one.healthSince() != null) {
      boolean said = one.why().equals("is " + one.health());
      why.append(said ? "," : "; " + one.health());
      why.append(" since ").append(since(one.healthSince(), one.healthReason()));
    }
    return why.toString();
  }

  private static String since(String since, @Nullable String reason) {
    return reason == null || reason.isEmpty() ? since : since + ": " + reason;
  }

  private static String shortened(String hash) {
    return hash.substring(0, Math.min(SHORT_HASH, hash.length()));
  }

  /** The same request under another config. */
  private void other(OtherDecision other, Attempt real) {
    if (other.made() == null) {
      nothing(other);
      return;
    }
    Attempt made = other.made();
    boolean same = made.endpoint().equals(real.endpoint());
    lines.add(
        "under "
            + other.config()
            + ": "
            + (same
                ? "sent to " + made.endpoint() + " too"
                : "sent to " + made.endpoint() + " instead")
            + ", by profile "
            + made.profile());
    if (made.prefill() != null) {
      lines.add("  its prompt would be computed by " + made.prefill());
    }
    if (made.moreCandidates() > 0) {
      lines.add(
          String.format(
              Locale.ROOT,
              "  chosen among %d: what was known of the other %,d is not kept of a pool of that size",
              made.candidates().size(),
              made.moreCandidates()));
    }
    other
        .leftOut()
        .forEach(
            (plugin, reason) ->
                lines.add(
                    "  decided without " + plugin + ", which can't be asked again: " + reason));
    if (!other.repeated().isEmpty()) {
      lines.add("  says what it said then: " + String.join(", ", other.repeated()));
    }
    lines.add("");
    Run run = primary(made);
    table(made, run);
    lines.add("");
    reasons(made, run);
  }

  /** Nothing came of it under another config. */
  private void nothing(OtherDecision other) {
    lines.add("under " + other.config() + ": " + other.why());
  }

  private void request(ReceiptPage page) {
    StringBuilder head = new StringBuilder();
    head.append("request ").append(page.id()).append(" for ").append(page.model());
    if (page.promptTokens() != null) {
      head.append(
          page.promptTokens() == 1
              ? ", 1 prompt token"
              : String.format(Locale.ROOT, ", %,d prompt tokens", page.promptTokens()));
      head.append(", ").append(page.criticality());
    }
    lines.add(head.append(page.streamed() ? ", streamed" : "").toString());
    if (page.sameId() > 1) {
      lines.add(
          "  is number %d of %d with this id, the newest is 1; --nth tells of another"
              .formatted(page.nth(), page.sameId()));
    }
    StringBuilder end = new StringBuilder("  ").append(page.outcome());
    if (page.tookMillis() != null) {
      end.append(" after ").append(millis(page.tookMillis()));
    }
    if (page.usage() != null && page.usage().completionTokens() >= 0) {
      end.append(
          String.format(Locale.ROOT, ", %,d tokens put out", page.usage().completionTokens()));
    }
    if (page.usage() != null && page.usage().cachedTokens() >= 0) {
      end.append(
          String.format(
              Locale.ROOT, ", %,d of its prompt found cached", page.usage().cachedTokens()));
    }
    lines.add(end.toString());
    String meaning = MEANINGS.get(page.outcome());
    if (meaning != null) {
      boolean alike =
          page.outcome().equals(Outcome.DISCONNECTED.code()) && !page.decisions().isEmpty();
      lines.add("  " + meaning + (alike ? SAME_BEHIND_A_PROXY : ""));
    }
    Double first = page.firstTokenMillis();
    Double error = page.firstTokenErrorMillis();
    if (first != null) {
      lines.add(
          "  first token after "
              + millis(first)
              + (error == null
                  ? ""
                  : ", "
                      + millis(Math.abs(error))
                      + (error < 0 ? " sooner" : " later")
                      + " than expected"));
    }
    if (page.waited()) {
      lines.add(
          "  waited for room"
              + (page.beforeSentMillis() == null ? "" : " " + millis(page.beforeSentMillis()))
              + (page.flow() == null || page.flow().isEmpty()
                  ? ""
                  : String.format(
                      Locale.ROOT, ", priority %d, flow %s", page.priority(), page.flow())));
    }
    if (page.decisions().isEmpty()) {
      lines.add("  was sent to nobody");
    }
    if (page.notSentAgain() != null) {
      lines.add("  was not sent again: " + page.notSentAgain());
    }
  }

  private void attempt(Attempt attempt, int number, int of) {
    Run run = primary(attempt);
    int endpoints =
        attempt.candidates().size() + attempt.moreCandidates() + attempt.excluded().size();
    lines.add(
        String.format(
            Locale.ROOT,
            "%s%s: sent to %s of %d endpoints, by profile %s of config %s",
            of == 1 ? "" : "attempt " + number + ", ",
            attempt.at(),
            attempt.endpoint(),
            endpoints,
            attempt.profile(),
            shortened(attempt.configHash())));
    origin(attempt.fromCheckpoint());
    if (attempt.prefill() != null) {
      lines.add("  its prompt is computed by " + attempt.prefill());
    }
    String status = attempt.status() == null ? "" : "its answer had status " + attempt.status();
    if (attempt.failed() != null) {
      lines.add(
          "  failed after "
              + millis(attempt.failed().afterMillis())
              + ": "
              + attempt.failed().why()
              + (status.isEmpty() ? "" : "; " + status));
    } else if (!status.isEmpty()) {
      lines.add("  " + status);
    }
    attempt.candidates().stream()
        .filter(one -> one.endpoint().equals(attempt.endpoint()) && one.healthSince() != null)
        .forEach(
            one ->
                lines.add(
                    "  it was %s, since %s; %s"
                        .formatted(
                            one.health(),
                            since(one.healthSince(), one.healthReason()),
                            one.health().equals(HealthState.OUT.words())
                                ? "one that is out is used where too few others are left"
                                : "it was to be tried")));
    if (!run.preference().isEmpty()) {
      lines.add("  preferred: " + run.preference());
    }
    lines.add("");
    table(attempt, run);
    lines.add("");
    reasons(attempt, run);
  }

  /** The run whose pick got the request. */
  private static Run primary(Attempt attempt) {
    return attempt.profiles().stream()
        .filter(run -> run.name().equals(attempt.profile()))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("profile " + attempt.profile()));
  }

  private void table(Attempt attempt, Run run) {
    Map<String, Candidate> known =
        attempt.candidates().stream()
            .collect(Collectors.toMap(Candidate::endpoint, Function.identity()));
    List<Scored> scored = winnerFirst(attempt, run).stream().limit(MOST_ROWS).toList();
    boolean costs = scored.stream().anyMatch(one -> one.cost() != null);
    List<List<String>> rows = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of("ENDPOINT", "SUM"));
    for (Score score : scored.getFirst().scores()) {
      head.add(score.plugin() + " x " + plain(score.weight()));
    }
    if (costs) {
      head.add("COST");
    }
    head.addAll(List.of("IN FLIGHT", "QUEUE", "KV USE", "CACHED", "SCRAPED"));
    boolean sick = known.values().stream().anyMatch(one -> one.healthSince() != null);
    if (sick) {
      head.add("HEALTH");
    }
    rows.add(head);
    for (Scored one : scored) {
      List<String> row = new ArrayList<>(List.of(one.endpoint(), score(one.score())));
      one.scores().forEach(score -> row.add(score(score.score())));
      if (costs) {
        row.add(one.cost() == null ? "-" : millis(one.cost()));
      }
      Candidate facts = known.get(one.endpoint());
      if (facts == null) {
        row.addAll(List.of("-", "-", "-", "-", "-"));
      } else {
        row.add(Integer.toString(facts.inFlight()));
        row.add(Integer.toString(facts.waiting()));
        row.add(
            facts.kvUsage() == null
                ? "-"
                : String.format(Locale.ROOT, "%.0f %%", 100 * facts.kvUsage()));
        row.add(String.format(Locale.ROOT, "%,d", facts.cachedTokens()));
        row.add(facts.scrapeAgeMillis() == null ? "-" : millis(facts.scrapeAgeMillis()) + " ago");
      }
      if (sick) {
        row.add(facts == null ? "-" : facts.health());
      }
      rows.add(row);
    }
    TextTable.lines(rows).forEach(line -> lines.add("  " + line));
    if (costs) {
      lines.add("");
      lines.add(
          "  COST: what "
              + run.costOf()
              + " expects the request to cost there, itself and others; of milliseconds, each kind"
              + " times its weight: no time to wait");
    }
  }

  private static List<Scored> winnerFirst(Attempt attempt, Run run) {
    Comparator<Scored> winner =
        Comparator.comparing(one -> !one.endpoint().equals(attempt.endpoint()));
    return run.scored().stream()
        .sorted(winner.thenComparing(Comparator.comparingDouble(Scored::score).reversed()))
        .toList();
  }

  private void reasons(Attempt attempt, Run run) {
    List<Scored> scored = winnerFirst(attempt, run);
    Scored winner = scored.getFirst();
    Map<String, String> why = new LinkedHashMap<>();
    int told = Math.min(MOST_ROWS, scored.size());
    for (Scored other : scored.subList(1, told)) {
      why.put(other.endpoint(), against(other, winner, run));
    }
    int more = attempt.moreCandidates() + scored.size() - told;
    if (more > 0) {
      why.put(String.format(Locale.ROOT, "%,d others", more), "did no better than these");
    }
    List<Loser> losers = new ArrayList<>();
    for (Rejected one : run.rejected()) {
      losers.add(new Loser(one.endpoint(), one.why(), one.why()));
    }
    attempt.excluded().forEach(one -> losers.add(loser(one)));
    if (why.isEmpty() && losers.isEmpty()) {
      lines.add("  there was no other");
      return;
    }
    lines.add("  why not the others");
    why.forEach((endpoint, reason) -> lines.add("    " + endpoint + ": " + reason));
    losers(losers);
  }

  private static String against(Scored other, Scored winner, Run run) {
    List<Reason> reasons = reasons(other, winner, run);
    if (other.score() - winner.score() > NOTABLE_SCORE) {
      return "scored higher, but "
          + (run.preference().isEmpty()
              ? run.picker() + " picked by more than scores"
              : "see above");
    }
    if (reasons.isEmpty()) {
      return "did as well, and " + (run.preference().isEmpty() ? "lost the draw" : "see above");
    }
    return reasons.stream()
        .limit(MOST_REASONS)
        .map(Reason::words)
        .collect(Collectors.joining(", "));
  }

  /**
   * What counts against it, the most first: scorers, and in the place of one that scores by a cost
   * the terms of that, where it counts most or is the only one.
   */
  private static List<Reason> reasons(Scored other, Scored winner, Run run) {
    List<Reason> byScore = byScore(other, winner);
    if (other.terms() == null || winner.terms() == null) {
      return byScore;
    }
    List<Reason> byCost = byCost(other, winner);
    if (winner.scores().size() == 1) {
      return byCost;
    }
    boolean decided = !byScore.isEmpty() && byScore.getFirst().of().equals(run.costOf());
    if (!decided || byCost.isEmpty()) {
      return byScore;
    }
    List<Reason> reasons = new ArrayList<>(byCost);
    reasons.addAll(byScore.subList(1, byScore.size()));
    return reasons;
  }

  /** What it would have cost more there, by term, the most first. */
  private static List<Reason> byCost(Scored other, Scored winner) {
    List<Reason> reasons = new ArrayList<>();
    for (Term term : terms(other)) {
      double there = term.millis() * term.weight();
      double here =
          terms(winner).stream()
              .filter(own -> own.name().equals(term.name()))
              .mapToDouble(own -> own.millis() * own.weight())
              .sum();
      if (there - here > NOTABLE_MILLIS) {
        reasons.add(
            new Reason(
                term.name(),
                there - here,
                term.name() + " costs " + millis(there - here) + " more"));
      }
    }
    reasons.sort(MOST_FIRST);
    return reasons;
  }

  private static List<Term> terms(Scored one) {
    return one.terms() == null ? List.of() : one.terms();
  }

  /** By how much a scorer likes it less, the most first. */
  private static List<Reason> byScore(Scored other, Scored winner) {
    List<Reason> reasons = new ArrayList<>();
    for (int s = 0; s < other.scores().size(); s++) {
      Score there = other.scores().get(s);
      Score here = winner.scores().get(s);
      double less = (here.score() - there.score()) * there.weight();
      if (less > NOTABLE_SCORE) {
        reasons.add(
            new Reason(
                there.plugin(),
                less,
                String.format(
                    Locale.ROOT,
                    "%s says %s instead of %s",
                    there.plugin(),
                    score(there.score()),
                    score(here.score()))));
      }
    }
    reasons.sort(MOST_FIRST);
    return reasons;
  }

  /**
   * Why an endpoint lost.
   *
   * @param of name of the scorer or term that says so
   * @param worth how much that counted
   */
  private record Reason(String of, double worth, String words) {}

  private static String score(double score) {
    return String.format(Locale.ROOT, "%.3f", score);
  }

  private static String plain(double number) {
    return number == Math.rint(number)
        ? String.format(Locale.ROOT, "%.0f", number)
        : String.format(Locale.ROOT, "%s", number);
  }

  private static String millis(double millis) {
    return millis < 10
        ? String.format(Locale.ROOT, "%.1f ms", millis)
        : String.format(Locale.ROOT, "%,.0f ms", millis);
  }
}
