package io.fairlead.core;

import io.fairlead.core.receipt.DecisionWriter;
import io.fairlead.core.receipt.EndpointFacts;
import io.fairlead.core.receipt.Exclusion;
import io.fairlead.core.receipt.Receipt;
import io.fairlead.core.receipt.ReceiptLog;
import io.fairlead.core.receipt.WrittenDecision;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.DecisionRecorder;
import io.fairlead.core.scheduling.Scheduler;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Notes how the decision on a request comes about, for its receipt; nothing where it has none. Only
 * the try that sends the request is kept.
 */
final class DecisionNotes implements DecisionWriter.Surroundings {

  private final ReceiptLog receipts;
  private final DecisionWriter writer;
  private final CandidateChoice choice;
  private final CurrentRequest current;
  private final EndpointSet endpoints;

  /** With what the candidates were chosen. */
  private double ceiling;

  private CandidateChoice.Use use = CandidateChoice.Use.ANY;

  /** Whom it is decided about, and when. */
  private @Nullable Flight decided;

  private long at;

  DecisionNotes(
      ReceiptLog receipts, CandidateChoice choice, CurrentRequest current, EndpointSet endpoints) {
    this.receipts = receipts;
    this.writer = receipts.writer();
    this.choice = choice;
    this.current = current;
    this.endpoints = endpoints;
  }

  /** Notes that the request waits. */
  void waits(Flight flight) {
    Receipt receipt = flight.receipt();
    if (receipt != null) {
      receipt.waits();
    }
  }

  /** Is to be told of the try that begins now; null if nobody is. */
  @Nullable DecisionRecorder recorder(
      Flight flight, double fullFrom, CandidateChoice.Use whom, Scheduler scheduler) {
    if (flight.receipt() == null) {
      return null;
    }
    ceiling = fullFrom;
    use = whom;
    writer.begin(scheduler.outline(), current.size());
    return writer;
  }

  /** The try has found somebody, and nothing is booked yet; null if nobody was told of it. */
  @Nullable WrittenDecision decision(long now, Flight flight, CompiledConfig active) {
    if (flight.receipt() == null) {
      return null;
    }
    Scheduler scheduler = active.scheduler();
    decided = flight;
    at = now;
    return writer.end(
        now,
        active.source(),
        endpoints.eligible(),
        scheduler.primaryProfile(),
        scheduler.primary(),
        scheduler.prefill(),
        this);
  }

  /**
   * It was booked, and nothing else was decided since.
   *
   * @return the route, which tells the client where that may know, and asks
   */
  Route sent(Flight flight, WrittenDecision decision, Route route, CompiledConfig active) {
    Receipt receipt = flight.receipt();
    if (receipt == null) {
      return route;
    }
    receipt.sent(
        decision, route.criticality(), flight.flow, route.targetModel(), route.promptTokens());
    return active.receipts().responseHeader()
            && flight.facts.headers().first(FlowHeaders.EXPLAIN) != null
        ? route.withResponseHeader(FlowHeaders.DECISION, receipts.brief(receipt))
        : route;
  }

  /** Nothing is decided any more. */
  void clear() {
    writer.clear();
    decided = null;
  }

  @Override
  public int place(int candidate) {
    return current.place(candidate);
  }

  @Override
  public Exclusion exclusion(int place) {
    return choice.exclusion(at, Objects.requireNonNull(decided), ceiling, use, place);
  }

  @Override
  public EndpointFacts facts(int candidate) {
    EndpointState endpoint = current.endpoint(candidate);
    double[] saturation = endpoints.columns().saturation;
    return new EndpointFacts(
        endpoint.inFlight(),
        endpoint.awaitingFirstToken(),
        endpoint.scrapedWaiting(),
        endpoint.scrapedRunning(),
        endpoint.kvUsage(),
        current.cachedTokens(candidate),
        endpoint.scrapedAt(),
        endpoint.health().state(),
        endpoint.health().failing(),
        saturation[current.place(candidate)]);
  }
}
