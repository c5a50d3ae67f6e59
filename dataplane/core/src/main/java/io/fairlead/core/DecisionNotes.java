package io.fairlead.core;

import io.fairlead.core.flow.FlowQueue;
import io.fairlead.core.receipt.Decision;
import io.fairlead.core.receipt.Decision.Excluded;
import io.fairlead.core.receipt.DecisionWriter;
import io.fairlead.core.receipt.EndpointFacts;
import io.fairlead.core.receipt.Receipt;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.DecisionRecorder;
import io.fairlead.core.scheduling.Scheduler;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Notes how the decision on a request comes about, for its receipt; nothing where it has none. Only
 * the try that sends the request is kept.
 */
final class DecisionNotes {

  private final DecisionWriter writer;
  private final CandidateChoice choice;
  private final CurrentRequest current;
  private final EndpointSet endpoints;

  /** With what the candidates were chosen. */
  private double ceiling;

  private CandidateChoice.Use use = CandidateChoice.Use.ANY;

  DecisionNotes(
      DecisionWriter writer,
      CandidateChoice choice,
      CurrentRequest current,
      EndpointSet endpoints) {
    this.writer = writer;
    this.choice = choice;
    this.current = current;
    this.endpoints = endpoints;
  }

  /** Notes that the request waits. */
  void waits(Flight flight) {
    Receipt receipt = flight.receipt;
    if (receipt != null) {
      receipt.waits();
    }
  }

  /** Is to be told of the try that begins now; null if nobody is. */
  @Nullable DecisionRecorder recorder(
      Flight flight, double fullFrom, CandidateChoice.Use whom, Scheduler scheduler) {
    if (flight.receipt == null) {
      return null;
    }
    ceiling = fullFrom;
    use = whom;
    writer.begin(scheduler.outline(), current.size());
    return writer;
  }

  /** The try has found somebody, and nothing is booked yet; null if nobody was told of it. */
  @Nullable Decision decision(long now, Flight flight, CompiledConfig active) {
    Receipt receipt = flight.receipt;
    if (receipt == null) {
      return null;
    }
    FlowQueue queue = flight.flow;
    if (queue != null) {
      receipt.band(queue.priority(), queue.id());
    }
    Scheduler scheduler = active.scheduler();
    return writer.end(
        now,
        active.source(),
        current.endpoints(),
        excluded(now, flight),
        scheduler.primaryProfile(),
        scheduler.prefill(),
        this::facts);
  }

  /** Nothing is decided any more. */
  void clear() {
    writer.clear();
  }

  private List<Excluded> excluded(long now, Flight flight) {
    if (current.isEverybody()) {
      return List.of();
    }
    EndpointState[] all = endpoints.eligible();
    boolean[] candidate = new boolean[all.length];
    for (int i = 0; i < current.size(); i++) {
      candidate[current.place(i)] = true;
    }
    List<Excluded> excluded = new ArrayList<>();
    for (int place = 0; place < all.length; place++) {
      if (!candidate[place]) {
        excluded.add(
            new Excluded(all[place].name(), choice.exclusion(now, flight, ceiling, use, place)));
      }
    }
    return excluded;
  }

  private EndpointFacts facts(int index) {
    EndpointState endpoint = current.endpoint(index);
    double[] saturation = endpoints.columns().saturation;
    return new EndpointFacts(
        endpoint.inFlight(),
        endpoint.awaitingFirstToken(),
        endpoint.scrapedWaiting(),
        endpoint.scrapedRunning(),
        endpoint.kvUsage(),
        current.cachedTokens(index),
        endpoint.scrapedAt(),
        endpoint.health().state(),
        endpoint.health().failing(),
        saturation[current.place(index)]);
  }
}
