package io.fairlead.epp.status;

import io.fairlead.core.EndpointSnapshot;
import io.fairlead.crds.report.PickerReport;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Which endpoints get no requests since they don't answer, in words that stay the same while
 * nothing changes: one that is tried now and then, and fails, is out all the while. One that is on
 * trial for longer has nothing to show but its answers to probes: nobody sends requests.
 *
 * <p>Used by one thread, but for {@link #moment} and {@link #exactMoment}.
 */
public final class OutEndpoints {

  private static final long TRIAL_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Less of a difference to the machine's clock than this is none: told times stay the same. */
  private static final Duration SET = Duration.ofSeconds(2);

  /** One moment by both clocks. */
  private record Origin(Instant time, long nanos) {

    Instant at(long other) {
      return time.plusNanos(other - nanos);
    }
  }

  private volatile Origin origin;
  private SortedMap<String, PickerReport.Out> out = new TreeMap<>();
  private final Set<String> answered = new HashSet<>();

  /**
   * Nobody is out.
   *
   * @param now what the time is
   * @param nanos what it is by the pool's clock
   */
  public OutEndpoints(Instant now, long nanos) {
    origin = new Origin(now, nanos);
  }

  /**
   * What the time is now. The machine's clock may have been set since this was told last, or the
   * machine may have slept, which the pool's clock does not see: whoever reads a time compares it
   * with other logs.
   */
  public void time(Instant now, long nanos) {
    if (Duration.between(origin.at(nanos), now).abs().compareTo(SET) >= 0) {
      origin = new Origin(now, nanos);
    }
  }

  /**
   * Takes in how all endpoints are.
   *
   * @param now of the pool's clock
   */
  public void look(List<EndpointSnapshot> endpoints, long now) {
    SortedMap<String, PickerReport.Out> next = new TreeMap<>();
    answered.retainAll(endpoints.stream().map(EndpointSnapshot::name).toList());
    for (EndpointSnapshot endpoint : endpoints) {
      String name = endpoint.name();
      if (endpoint.scrapedAt() != Long.MIN_VALUE) {
        answered.add(name);
      }
      EndpointSnapshot.Health health = endpoint.health();
      PickerReport.Out known = out.get(name);
      switch (health.state()) {
        case IN_USE -> {}
        case OUT -> {
          String since = known == null ? moment(health.since()) : known.since();
          next.put(name, new PickerReport.Out(name, health.reason(), since));
        }
        case ON_TRIAL -> {
          if (known != null && now - health.since() < TRIAL_NANOS) {
            next.put(name, known);
          }
        }
      }
    }
    out = next;
  }

  /**
   * Those of these that are out, named by their places and in that order.
   *
   * @param places where people find an endpoint, by its name
   */
  public List<PickerReport.Out> among(Map<String, String> places) {
    return places.entrySet().stream()
        .flatMap(
            place ->
                Stream.ofNullable(out.get(place.getKey()))
                    .map(one -> new PickerReport.Out(place.getValue(), one.reason(), one.since())))
        .sorted(Comparator.comparing(PickerReport.Out::name))
        .toList();
  }

  /** Whether any of these has ever answered a scrape. */
  public boolean anyAnswered(Collection<String> names) {
    return names.stream().anyMatch(answered::contains);
  }

  /** What this time of the pool's clock is, to the second. */
  public String moment(long nanos) {
    return origin.at(nanos).truncatedTo(ChronoUnit.SECONDS).toString();
  }

  /** The same to the millisecond: what comes within a second is told apart by it. */
  public String exactMoment(long nanos) {
    return origin.at(nanos).truncatedTo(ChronoUnit.MILLIS).toString();
  }
}
