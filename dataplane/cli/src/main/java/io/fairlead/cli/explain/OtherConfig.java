package io.fairlead.cli.explain;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fairlead.cli.InputText;
import io.fairlead.cli.explain.ReceiptPage.Attempt;
import io.fairlead.cli.explain.ReceiptPage.Candidate;
import io.fairlead.cli.explain.ReceiptPage.Rejected;
import io.fairlead.cli.explain.ReceiptPage.Run;
import io.fairlead.cli.explain.ReceiptPage.Score;
import io.fairlead.cli.explain.ReceiptPage.Scored;
import io.fairlead.core.receipt.ProfileRun;
import io.fairlead.core.receipt.RequestInputs;
import io.fairlead.core.replay.DecisionInputs;
import io.fairlead.core.replay.Replay;
import io.fairlead.core.replay.RunOutputs;
import io.fairlead.core.replay.RunOutputs.ScorerOutputs;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.SchedulerOutline.ProfileOutline;
import io.fairlead.epp.TriedConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Decides requests of receipts again, under the config in a file. */
final class OtherConfig {

  /** Parameters of plugins are compared: whole numbers are of one type in YAML and here. */
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_LONG_FOR_INTS)
          .addMixIn(RequestInputs.class, FormerInputs.class)
          .build();

  /** What pickers of before have told besides, and nobody needs. */
  @JsonIgnoreProperties("prefixKey")
  private interface FormerInputs {}

  private final String file;
  private final TriedConfig config;

  private OtherConfig(String file, TriedConfig config) {
    this.file = file;
    this.config = config;
  }

  /**
   * Reads it.
   *
   * @throws IOException if it can't be read or can't be run: one line for each problem, with the
   *     path of its field
   */
  static OtherConfig read(Path file) throws IOException {
    String name = InputText.name(file);
    return new OtherConfig(name, TriedConfig.read(name, InputText.read(file)));
  }

  /** Decides each attempt of a receipt again; where there was none, it says that once. */
  List<OtherDecision> decide(ReceiptPage page, ReceiptReader reader) throws IOException {
    if (page.decisions().isEmpty()) {
      return List.of(
          nothing("can't be told: it was sent to nobody, and of that only the reasons are kept"));
    }
    List<OtherDecision> decisions = new ArrayList<>();
    for (Attempt attempt : page.decisions()) {
      decisions.add(decide(attempt, reader));
    }
    return decisions;
  }

  private OtherDecision decide(Attempt attempt, ReceiptReader reader) throws IOException {
    JsonNode inputs = attempt.inputs();
    if (inputs == null) {
      return nothing("can't be told: the receipt is of a picker that keeps no inputs");
    }
    DecisionInputs known;
    try {
      known = JSON.treeToValue(inputs, DecisionInputs.class);
    } catch (JsonProcessingException e) {
      throw reader.noReceipt("inputs: " + ReceiptReader.problem(e));
    }
    CompiledConfig fresh = config.compile();
    try {
      Replay.Outcome outcome =
          attempt.moreCandidates() > 0 ? Replay.ofSome(known, fresh) : Replay.of(known, fresh);
      return outcome.picked() < 0
          ? new OtherDecision(
              file,
              null,
              outcome.leftOut().isEmpty()
                  ? "sent to nobody: filters leave none of its candidates"
                  : "can't be told: " + reasons(outcome.leftOut()),
              outcome.leftOut(),
              outcome.repeated())
          : new OtherDecision(
              file,
              attempt(attempt, known, outcome, keeps(fresh)),
              "",
              outcome.leftOut(),
              outcome.repeated());
    } catch (RuntimeException e) {
      // Inputs that were edited, or a plugin of somebody's, asked about what it has never seen.
      return nothing("can't be told: the inputs don't fit together, or a plugin failed: " + e);
    }
  }

  private OtherDecision nothing(String why) {
    return new OtherDecision(file, null, why, Map.of(), List.of());
  }

  private static String reasons(Map<String, String> leftOut) {
    List<String> reasons = new ArrayList<>();
    leftOut.forEach((plugin, why) -> reasons.add(plugin + ": " + why));
    return String.join("; ", reasons);
  }

  /** As a page would have it. */
  private static Attempt attempt(
      Attempt real,
      DecisionInputs inputs,
      Replay.Outcome outcome,
      Map<String, List<String>> keeps) {
    List<Candidate> candidates =
        real.candidates().stream()
            .filter(
                one -> inputs.endpoints().stream().anyMatch(e -> e.name().equals(one.endpoint())))
            .toList();
    return new Attempt(
        real.at(),
        real.configHash(),
        real.fromCheckpoint(),
        inputs.endpoints().get(outcome.picked()).name(),
        outcome.runs().get(outcome.primary()).profile(),
        outcome.prefill() < 0 ? null : inputs.endpoints().get(outcome.prefill()).name(),
        real.excluded(),
        candidates,
        real.candidates().size() + real.moreCandidates() - candidates.size(),
        outcome.runs().stream()
            .map(run -> run(run, inputs, keeps.getOrDefault(run.profile(), List.of())))
            .toList(),
        null,
        null,
        null);
  }

  /** By profile and filter, which endpoints it keeps. */
  private static Map<String, List<String>> keeps(CompiledConfig config) {
    return config.scheduler().outline().profiles().stream()
        .collect(Collectors.toMap(ProfileOutline::name, ProfileOutline::keeps));
  }

  private static Run run(RunOutputs run, DecisionInputs inputs, List<String> keeps) {
    List<Rejected> rejected = new ArrayList<>();
    List<Scored> scored = new ArrayList<>();
    for (int i = 0; i < inputs.endpoints().size(); i++) {
      String name = inputs.endpoints().get(i).name();
      int by = run.rejectedBy().get(i);
      if (by != ProfileRun.KEPT) {
        boolean byFilter = by != ProfileRun.NOT_ASSIGNED;
        rejected.add(
            new Rejected(
                name,
                byFilter ? run.filters().get(by) : "the assigner",
                byFilter && by < keeps.size() ? keeps.get(by) : null));
      } else if (!run.picked().isEmpty()) {
        scored.add(new Scored(name, run.sum(i), scores(run, i), null, null));
      }
    }
    return new Run(
        run.profile(),
        run.picker(),
        "",
        null,
        run.picked().stream().map(i -> inputs.endpoints().get(i).name()).toList(),
        rejected,
        scored);
  }

  private static List<Score> scores(RunOutputs run, int endpoint) {
    List<Score> scores = new ArrayList<>();
    for (ScorerOutputs scorer : run.scorers()) {
      scores.add(new Score(scorer.name(), scorer.scores().get(endpoint), scorer.weight()));
    }
    return scores;
  }
}
