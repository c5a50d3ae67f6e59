package io.fairlead.lab.simulator;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.Failure;
import io.fairlead.lab.simulator.ServerCondition.Answer;
import java.util.List;

/** Scrapes of servers, as long as there are requests. */
final class Scrapes {

  private static final double NANOS_PER_MILLI = 1e6;

  private final long intervalNanos;
  private final Timeline timeline;
  private final PickerReplicas pickers;
  private final ArrivingRequests requests;
  private final Senses senses;

  /**
   * Nobody is scraped yet.
   *
   * @param intervalMillis between two scrapes of a server; 0 for none ever
   */
  Scrapes(
      double intervalMillis,
      Timeline timeline,
      PickerReplicas pickers,
      ArrivingRequests requests,
      Senses senses) {
    this.timeline = timeline;
    this.pickers = pickers;
    this.requests = requests;
    this.senses = senses;
    intervalNanos = (long) (intervalMillis * NANOS_PER_MILLI);
  }

  /** These are scraped from the beginning on; scrapes of many are spread over the interval. */
  void begin(List<SimulatedServer> members) {
    for (int i = 0; i < members.size(); i++) {
      from(intervalNanos * i / members.size(), members.get(i));
    }
  }

  /** One that has come is scraped. */
  void come(long now, SimulatedServer server) {
    if (requests.open()) {
      from(now, server);
    }
  }

  /** From this time on, until it leaves. */
  private void from(long time, SimulatedServer server) {
    if (intervalNanos > 0) {
      int stay = server.stays();
      timeline.at(time, now -> scrape(now, server, stay));
    }
  }

  private void scrape(long now, SimulatedServer server, int stay) {
    if (server.stays() != stay) {
      return;
    }
    long next = now + intervalNanos;
    switch (server.condition().scrape()) {
      case Answer.Served _ -> {
        long after = senses.pageNanos();
        EndpointMetrics page = server.metrics();
        timeline.nowOrAt(
            now,
            now + after,
            later ->
                pickers.processes().forEach(picker -> picker.scraped(later, server, now, page)));
        next = Math.max(next, now + after);
      }
      case Answer.Failed(Failure failure, long after) -> {
        timeline.at(
            now + after,
            later ->
                pickers
                    .processes()
                    .forEach(picker -> picker.unreachable(later, server, now, failure)));
        // A page is asked for when the one before it has come, or is given up.
        next = Math.max(next, now + after);
      }
    }
    if (requests.open()) {
      timeline.at(next, later -> scrape(later, server, stay));
    }
  }
}
