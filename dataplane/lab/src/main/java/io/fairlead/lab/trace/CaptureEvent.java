package io.fairlead.lab.trace;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Outcome;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.Usage;
import io.fairlead.crds.config.PoolConfig;
import java.util.List;

/** Something that a pool's core was told. */
sealed interface CaptureEvent {

  /** When, by the core's clock. */
  long now();

  /** A config. */
  record Configured(long now, PoolConfig config) implements CaptureEvent {}

  /** Who may get requests. */
  record Endpoints(long now, List<EndpointSpec> endpoints) implements CaptureEvent {}

  /** A scrape of the endpoint of that name, begun at {@code begun}. */
  record Scraped(long now, String endpoint, long begun, EndpointMetrics metrics)
      implements CaptureEvent {}

  /**
   * A request came.
   *
   * @param withheld whether a plugin has read a header that was not written down
   * @param effect what was done about it
   */
  record Arrived(long now, Request request, RequestFacts facts, boolean withheld, Effect effect)
      implements CaptureEvent {}

  /** Its endpoint did not take it. */
  record AttemptFailed(long now, Request request, Effect effect) implements CaptureEvent {}

  /** Its first token came. */
  record FirstToken(long now, Request request) implements CaptureEvent {}

  /** It is over. */
  record Ended(long now, Request request, Outcome outcome, Usage usage) implements CaptureEvent {}

  /**
   * One request, for what its events have in common.
   *
   * @param line where it was read
   */
  record Request(String line) {}
}
