package io.fairlead.cli.explain;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a picker says of one request at {@code /debug/decisions/{id}}, as far as it is told here.
 *
 * @param version of the page; what has another one is not read
 * @param priority of its band; absent for a request that was never sent, as all up to {@code
 *     promptTokens} may be
 * @param refusals why nobody got it, when it began to wait and when it was rejected
 */
@JsonIgnoreProperties(ignoreUnknown = true)
record ReceiptPage(
    int version,
    String id,
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
    @Nullable List<Refusal> refusals) {

  /** Tokens as the server reported them; -1 for what it didn't. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Used(int promptTokens, int completionTokens, int cachedTokens) {}

  /**
   * One choice of an endpoint.
   *
   * @param profile whose pick counts
   * @param inputs what it was made from, as {@link io.fairlead.core.replay.DecisionInputs}; null
   *     from a picker that does not tell
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Attempt(
      String at,
      String configHash,
      String endpoint,
      String profile,
      @Nullable String prefill,
      List<Excluded> excluded,
      List<Candidate> candidates,
      int moreCandidates,
      List<Run> profiles,
      @Nullable JsonNode inputs) {}

  /** An endpoint that the scheduler was not asked about. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Excluded(
      String endpoint,
      String why,
      @Nullable String limit,
      @Nullable Double saturation,
      @Nullable Double fullFrom,
      @Nullable String healthSince,
      @Nullable String healthReason) {}

  /**
   * Why nobody got the request.
   *
   * @param endpoints each with its own reason
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Refusal(String at, String configHash, List<Excluded> endpoints) {}

  /** What was known of an endpoint. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Candidate(
      String endpoint,
      int inFlight,
      int waiting,
      @Nullable Double kvUsage,
      int cachedTokens,
      @Nullable Double scrapeAgeMillis,
      String health) {}

  /** How a profile chose. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Run(
      String name,
      String picker,
      String preference,
      List<String> picked,
      List<Rejected> rejected,
      List<Scored> scored) {}

  /** An endpoint that a filter rejected. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Rejected(String endpoint, String by) {}

  /** An endpoint that was scored. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Scored(
      String endpoint,
      double score,
      List<Score> scores,
      @Nullable Double cost,
      @Nullable List<Term> terms) {}

  /** What a scorer said. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Score(String plugin, double score, double weight) {}

  /** One of the times that a cost is the sum of. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Term(String name, double millis, double weight) {}
}
