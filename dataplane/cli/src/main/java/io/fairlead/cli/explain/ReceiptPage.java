package io.fairlead.cli.explain;

import static io.fairlead.cli.explain.ReceiptReader.required;
import static io.fairlead.cli.explain.ReceiptReader.requiredList;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a picker says of one request at {@code /debug/decisions/{id}}, as far as it is told here.
 *
 * @param version of the page; what has another one is not read
 * @param nth of the requests of its id that are kept, from 1 for the newest; 0 where it is the only
 *     one
 * @param sameId how many these are; 0 where it is the only one
 * @param priority of its band; absent for a request that was never sent, as all up to {@code
 *     promptTokens} may be
 * @param notSentAgain why there was no further attempt after the last one failed
 * @param refusals why nobody got it, when it began to wait and when it was rejected
 */
@JsonIgnoreProperties(ignoreUnknown = true)
record ReceiptPage(
    int version,
    String id,
    int nth,
    int sameId,
    String arrived,
    String model,
    String outcome,
    @Nullable Long priority,
    @Nullable String criticality,
    @Nullable String flow,
    @Nullable Integer promptTokens,
    boolean waited,
    boolean streamed,
    @Nullable Double beforeSentMillis,
    @Nullable Double firstTokenMillis,
    @Nullable Double expectedFirstTokenMillis,
    @Nullable Double firstTokenErrorMillis,
    @Nullable Double tookMillis,
    @Nullable Used usage,
    List<Attempt> decisions,
    @Nullable String notSentAgain,
    List<Refusal> refusals) {

  ReceiptPage {
    id = required(id, "id");
    arrived = required(arrived, "arrived");
    model = required(model, "model");
    outcome = required(outcome, "outcome");
    decisions = requiredList(decisions, "decisions");
    refusals = requiredList(refusals == null ? List.of() : refusals, "refusals");
  }

  /** Tokens as the server reported them; -1 for what it didn't. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Used(int promptTokens, int completionTokens, int cachedTokens) {}

  /**
   * One choice of an endpoint.
   *
   * @param fromCheckpoint what it was made from that may have been old; null for nothing
   * @param profile whose pick counts
   * @param status of the endpoint's answer, where that was none of what was asked for
   * @param failed how the endpoint failed the request; null where it did not
   * @param inputs what it was made from, as {@link io.fairlead.core.replay.DecisionInputs}; null
   *     from a picker that does not tell
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Attempt(
      String at,
      String configHash,
      @Nullable FromCheckpoint fromCheckpoint,
      String endpoint,
      String profile,
      @Nullable String prefill,
      List<Excluded> excluded,
      List<Candidate> candidates,
      int moreCandidates,
      List<Run> profiles,
      @Nullable Integer status,
      @Nullable Failed failed,
      @Nullable JsonNode inputs) {

    Attempt {
      at = required(at, "at");
      configHash = required(configHash, "configHash");
      endpoint = required(endpoint, "endpoint");
      profile = required(profile, "profile");
      excluded = requiredList(excluded, "excluded");
      candidates = requiredList(candidates, "candidates");
      profiles = requiredList(profiles, "profiles");
    }
  }

  /** What was not from its source, but kept on the picker's disk. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record FromCheckpoint(boolean config, boolean endpoints) {

    /** In words. */
    String what() {
      return config && endpoints ? "config and endpoints" : config ? "config" : "endpoints";
    }
  }

  /** How an endpoint failed the request: words to be read after its name. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Failed(String why, double afterMillis) {

    Failed {
      why = required(why, "why");
    }
  }

  /** An endpoint that the scheduler was not asked about. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Excluded(
      String endpoint,
      String why,
      @Nullable String limit,
      @Nullable Double saturation,
      @Nullable Double fullFrom,
      @Nullable String health,
      @Nullable String healthSince,
      @Nullable String healthReason) {

    Excluded {
      endpoint = required(endpoint, "endpoint");
      why = required(why, "why");
      health = healthSince == null ? health : required(health, "health");
    }
  }

  /**
   * Why nobody got the request.
   *
   * @param fromCheckpoint as of a decision
   * @param endpoints each with its own reason
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Refusal(
      String at,
      String configHash,
      @Nullable FromCheckpoint fromCheckpoint,
      List<Excluded> endpoints) {

    Refusal {
      at = required(at, "at");
      configHash = required(configHash, "configHash");
      endpoints = requiredList(endpoints, "endpoints");
    }
  }

  /**
   * What was known of an endpoint.
   *
   * @param healthSince since when it was out or on trial; null for in use
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Candidate(
      String endpoint,
      int inFlight,
      int waiting,
      @Nullable Double kvUsage,
      int cachedTokens,
      @Nullable Double scrapeAgeMillis,
      String health,
      @Nullable String healthSince,
      @Nullable String healthReason) {

    Candidate {
      endpoint = required(endpoint, "endpoint");
      health = required(health, "health");
    }
  }

  /**
   * How a profile chose.
   *
   * @param costOf the scorer whose scores come from the costs that are told; null for none
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Run(
      String name,
      String picker,
      String preference,
      @Nullable String costOf,
      List<String> picked,
      List<Rejected> rejected,
      List<Scored> scored) {

    Run {
      name = required(name, "name");
      picker = required(picker, "picker");
      preference = required(preference, "preference");
      picked = requiredList(picked, "picked");
      rejected = requiredList(rejected, "rejected");
      scored = requiredList(scored, "scored");
    }
  }

  /**
   * An endpoint that a filter rejected.
   *
   * @param keeps which endpoints the filter keeps, in words
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Rejected(String endpoint, String by, @Nullable String keeps) {

    Rejected {
      endpoint = required(endpoint, "endpoint");
      by = required(by, "by");
    }

    /** In words, to be read after its name. */
    String why() {
      return "was rejected by "
          + by
          + (keeps == null || keeps.isEmpty() ? "" : ", which keeps " + keeps);
    }
  }

  /** An endpoint that was scored. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Scored(
      String endpoint,
      double score,
      List<Score> scores,
      @Nullable Double cost,
      @Nullable List<Term> terms) {

    Scored {
      endpoint = required(endpoint, "endpoint");
      scores = requiredList(scores, "scores");
    }
  }

  /** What a scorer said. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Score(String plugin, double score, double weight) {

    Score {
      plugin = required(plugin, "plugin");
    }
  }

  /** One of the times that a cost is the sum of. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Term(String name, double millis, double weight) {

    Term {
      name = required(name, "name");
    }
  }
}
