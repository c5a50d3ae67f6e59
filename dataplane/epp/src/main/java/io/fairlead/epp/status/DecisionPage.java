package io.fairlead.epp.status;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.core.HealthState;
import io.fairlead.core.NotSentAgain;
import io.fairlead.core.Usage;
import io.fairlead.core.receipt.DecidedRequest;
import io.fairlead.core.receipt.Decision;
import io.fairlead.core.receipt.Decision.Excluded;
import io.fairlead.core.receipt.EndpointFacts;
import io.fairlead.core.receipt.Exclusion;
import io.fairlead.core.receipt.FailedAttempt;
import io.fairlead.core.receipt.KeptRequest;
import io.fairlead.core.receipt.NamedRequest;
import io.fairlead.core.receipt.ProfileRun;
import io.fairlead.core.receipt.Provenance;
import io.fairlead.core.receipt.ReceiptLog;
import io.fairlead.core.replay.DecisionInputs;
import io.fairlead.core.scheduling.SchedulerOutline.WeightedScorer;
import io.fairlead.crds.document.ConfigDocument;
import java.util.List;

/** What was decided of requests, and why, as JSON. */
public final class DecisionPage {

  /** Of a page of one request: another one can't be read by who reads this. */
  public static final int VERSION = 1;

  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final double NANOS_PER_MILLI = 1e6;

  private final OutEndpoints clock;

  /**
   * Pages of one picker.
   *
   * @param clock tells times
   */
  public DecisionPage(OutEndpoints clock) {
    this.clock = clock;
  }

  /** One of the requests of its name, with all that its decisions were made from. */
  public String of(NamedRequest named) {
    KeptRequest kept = named.request();
    ObjectNode page = summary(kept.request());
    if (named.of() > 1) {
      page.put("nth", named.nth());
      page.put("sameId", named.of());
    }
    page.put("version", VERSION);
    ArrayNode decisions = page.putArray("decisions");
    List<Decision> made = kept.decisions();
    for (int i = 0; i < made.size(); i++) {
      ObjectNode one = decisions.addObject();
      write(made.get(i), one);
      if (kept.status(i) != 0) {
        one.put("status", kept.status(i));
      }
      FailedAttempt failed = kept.failed(i);
      if (failed != null) {
        ObjectNode how = one.putObject("failed").put("how", failed.how().code());
        how.put("why", failed.how().words());
        millis(how, "afterMillis", failed.at() - made.get(i).at());
      }
    }
    NotSentAgain notAgain = kept.notSentAgain();
    if (notAgain != null) {
      page.put("notSentAgain", notAgain.words());
    }
    List<Decision> refusals = kept.refusals();
    if (!refusals.isEmpty()) {
      ArrayNode refused = page.putArray("refusals");
      refusals.forEach(refusal -> refusal(refusal, refused.addObject()));
    }
    return text(page);
  }

  /**
   * Many requests in brief.
   *
   * @param kept of what there are receipts: told where there are no requests, so that nobody takes
   *     that for no traffic
   */
  public String list(List<DecidedRequest> requests, ReceiptLog.Kept kept) {
    ObjectNode page = JSON.createObjectNode();
    if (requests.isEmpty()) {
      page.put("kept", kept(kept));
    }
    ArrayNode list = page.putArray("requests");
    requests.forEach(request -> list.add(summary(request)));
    return text(page);
  }

  /** To a client that asks for one that is not kept: what is. */
  public String kept(ReceiptLog.Kept kept) {
    if (kept.most() == 0) {
      return "none is: requests.receipts.keep is 0, or there is no config yet";
    }
    String asked =
        kept.every() == 1
            ? "every request that can be read has one"
            : "one in "
                + kept.every()
                + " requests has one (requests.receipts.every), and this may have been another";
    String there =
        kept.count() == 0
            ? "none is there yet"
            : kept.count()
                + (kept.count() == 1 ? " is there" : " are there, the oldest")
                + " of "
                + clock.moment(kept.oldestAt());
    return asked
        + ", and the newest "
        + kept.most()
        + " are kept as far as memory allows; "
        + there;
  }

  private static String text(ObjectNode page) {
    try {
      return JSON.writeValueAsString(page);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a page of plain values could not be written", e);
    }
  }

  private ObjectNode summary(DecidedRequest request) {
    ObjectNode one = JSON.createObjectNode();
    one.put("id", request.id());
    one.put("arrived", clock.exactMoment(request.arrivedAt()));
    one.put("model", request.model());
    one.put("endpoint", request.endpoint());
    one.put("outcome", request.outcome());
    one.put("attempts", request.attempts());
    if (request.attempts() > 0 || !request.targetModel().isEmpty()) {
      one.put("targetModel", request.targetModel());
      one.put("criticality", request.criticality().wireName());
      one.put("priority", request.priority());
      one.put("flow", request.flow());
      one.put("promptTokens", request.promptTokens());
    }
    one.put("waited", request.waited());
    millis(one, "beforeSentMillis", request.beforeSentNanos());
    millis(one, "firstTokenMillis", request.firstTokenNanos());
    millis(one, "tookMillis", request.tookNanos());
    number(one, "expectedFirstTokenMillis", request.expectedFirstToken());
    number(one, "firstTokenErrorMillis", request.firstTokenError());
    one.put("streamed", request.streamed());
    one.put("bodyBytes", request.bodyBytes());
    one.put("promptBlocks", request.blocks());
    if (request.maxOutputTokens() >= 0) {
      one.put("maxOutputTokens", request.maxOutputTokens());
    }
    Usage usage = request.usage();
    if (!usage.equals(Usage.UNKNOWN)) {
      ObjectNode reported = one.putObject("usage");
      reported.put("promptTokens", usage.promptTokens());
      reported.put("completionTokens", usage.completionTokens());
      reported.put("cachedTokens", usage.cachedTokens());
    }
    return one;
  }

  private void write(Decision decision, ObjectNode to) {
    to.put("at", clock.moment(decision.at()));
    to.put("configHash", ConfigDocument.hash(decision.config()).toString());
    origin(decision.origin(), to);
    to.put("endpoint", decision.candidate(decision.picked()));
    to.put("profile", decision.primaryRun().outline().name());
    if (decision.prefill() >= 0) {
      to.put("prefill", decision.candidate(decision.prefill()));
    }
    ArrayNode excluded = to.putArray("excluded");
    decision.excluded().forEach(one -> excluded(decision, one, excluded.addObject()));
    ArrayNode candidates = to.putArray("candidates");
    for (int i = 0; i < decision.candidates(); i++) {
      EndpointFacts facts = decision.facts(i);
      if (facts != null) {
        write(decision, decision.candidate(i), facts, candidates.addObject());
      }
    }
    to.put("moreCandidates", decision.candidates() - candidates.size());
    ArrayNode profiles = to.putArray("profiles");
    decision.runs().forEach(run -> write(decision, run, profiles.addObject()));
    to.set("inputs", JSON.valueToTree(DecisionInputs.of(decision).known()));
  }

  /** As the page of the status says it; nothing where both are from their sources. */
  private static void origin(Provenance origin, ObjectNode to) {
    if (origin.keptConfig() || origin.keptEndpoints()) {
      ObjectNode stale = to.putObject("fromCheckpoint");
      stale.put("config", origin.keptConfig());
      stale.put("endpoints", origin.keptEndpoints());
    }
  }

  /** Why nobody got the request, endpoint by endpoint. */
  private void refusal(Decision decision, ObjectNode to) {
    to.put("at", clock.moment(decision.at()));
    to.put("configHash", ConfigDocument.hash(decision.config()).toString());
    origin(decision.origin(), to);
    number(to, "fullFrom", decision.ceiling());
    ArrayNode endpoints = to.putArray("endpoints");
    decision.excluded().forEach(one -> excluded(decision, one, endpoints.addObject()));
    for (int i = 0; i < decision.candidates(); i++) {
      ObjectNode one = endpoints.addObject().put("endpoint", decision.candidate(i));
      one.put("why", whyNot(decision, i));
      EndpointFacts facts = decision.facts(i);
      if (facts != null) {
        write(decision, decision.candidate(i), facts, one);
      }
    }
  }

  /** Of one that the scheduler was asked about, or could have been. */
  private static String whyNot(Decision decision, int candidate) {
    if (decision.runs().isEmpty()) {
      return "has room, but others were to go first";
    }
    for (ProfileRun run : decision.runs()) {
      int by = run.rejectedBy(candidate);
      if (run.pickCount() == 0 && by != ProfileRun.KEPT) {
        String keeps = keeps(run, by);
        return "was rejected by "
            + rejecter(run, by)
            + (decision.runs().size() > 1 ? " of profile " + run.outline().name() : "")
            + (keeps.isEmpty() ? "" : ", which keeps " + keeps);
      }
    }
    return "was not chosen by the profile handler";
  }

  private static String rejecter(ProfileRun run, int by) {
    return by == ProfileRun.NOT_ASSIGNED ? "the assigner" : run.outline().filters().get(by);
  }

  /** Which endpoints it keeps, in words; empty where it does not say. */
  private static String keeps(ProfileRun run, int by) {
    return by == ProfileRun.NOT_ASSIGNED ? "" : run.outline().keeps().get(by);
  }

  private void excluded(Decision decision, Excluded one, ObjectNode to) {
    to.put("endpoint", one.endpoint());
    to.put("why", one.why().words());
    EndpointFacts facts = decision.factsOf(one);
    if (facts != null) {
      write(decision, one.endpoint(), facts, to);
    }
    if (one.why() == Exclusion.FULL) {
      to.put("limit", one.limit());
      number(to, "fullFrom", decision.ceiling());
    }
    if (facts == null && one.health() != HealthState.IN_USE) {
      health(to, one.health(), one.since(), one.reason());
    }
  }

  private void write(Decision decision, String name, EndpointFacts facts, ObjectNode to) {
    to.put("endpoint", name);
    to.put("inFlight", facts.inFlight());
    to.put("awaitingFirstToken", facts.awaitingFirstToken());
    to.put("waiting", facts.scrapedWaiting());
    to.put("running", facts.scrapedRunning());
    number(to, "kvUsage", facts.kvUsage());
    to.put("cachedTokens", facts.cachedTokens());
    if (facts.scrapedAt() != Long.MIN_VALUE) {
      millis(to, "scrapeAgeMillis", decision.at() - facts.scrapedAt());
    }
    health(to, facts.health(), facts.healthSince(), facts.healthReason());
    number(to, "failureRisk", facts.failing());
    number(to, "saturation", facts.saturation());
  }

  private void health(ObjectNode to, HealthState state, long since, String reason) {
    to.put("health", state.words());
    if (state != HealthState.IN_USE) {
      to.put("healthSince", clock.moment(since));
      to.put("healthReason", reason);
    }
  }

  /** Of the candidates those of which facts are kept: the best, and who was picked. */
  private static void write(Decision decision, ProfileRun run, ObjectNode to) {
    to.put("name", run.outline().name());
    to.put("picker", run.outline().picker());
    to.put("preference", run.preference());
    if (!run.costScorer().isEmpty()) {
      to.put("costOf", run.costScorer());
    }
    ArrayNode picked = to.putArray("picked");
    for (int rank = 0; rank < run.pickCount(); rank++) {
      picked.add(decision.candidate(run.candidate(run.pick(rank))));
    }
    ArrayNode rejected = to.putArray("rejected");
    ArrayNode scored = to.putArray("scored");
    for (int i = 0; i < decision.candidates(); i++) {
      int by = run.rejectedBy(i);
      if (by != ProfileRun.KEPT) {
        ObjectNode one = rejected.addObject().put("endpoint", decision.candidate(i));
        one.put("by", rejecter(run, by));
        String keeps = keeps(run, by);
        if (!keeps.isEmpty()) {
          one.put("keeps", keeps);
        }
      } else if (decision.facts(i) != null) {
        scored(run, run.place(i), scored.addObject().put("endpoint", decision.candidate(i)));
      }
    }
  }

  private static void scored(ProfileRun run, int place, ObjectNode to) {
    score(to, run.sum(place));
    ArrayNode scores = to.putArray("scores");
    List<WeightedScorer> scorers = run.outline().scorers();
    for (int s = 0; s < scorers.size(); s++) {
      ObjectNode one = scores.addObject().put("plugin", scorers.get(s).name());
      score(one, run.score(s, place));
      one.put("weight", scorers.get(s).weight());
    }
    if (run.hasCost(place)) {
      number(to, "cost", run.cost(place));
      ArrayNode terms = to.putArray("terms");
      for (int t = 0; t < run.costTerms().size(); t++) {
        if (run.costMillis(place, t) != 0) {
          ObjectNode term = terms.addObject().put("name", run.costTerms().get(t).name());
          number(term, "millis", run.costMillis(place, t));
          number(term, "weight", run.costWeight(place, t));
        }
      }
    }
  }

  /** Left out where an external scheduler has not named the endpoint. */
  private static void score(ObjectNode to, double value) {
    if (Double.isFinite(value)) {
      to.put("score", value);
    }
  }

  private static void millis(ObjectNode to, String field, long nanos) {
    if (nanos >= 0) {
      number(to, field, nanos / NANOS_PER_MILLI);
    }
  }

  /** To a thousandth; left out where there is none. */
  private static void number(ObjectNode to, String field, double value) {
    if (Double.isFinite(value)) {
      to.put(field, Math.round(value * 1_000) / 1_000.0);
    }
  }
}
