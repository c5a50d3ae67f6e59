package io.fairlead.lab.trace;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.Usage;
import io.fairlead.core.external.Advice;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.epp.capture.Untold;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Something that a pool's core was told. */
sealed interface CaptureEvent {

  /** When, by the core's clock. */
  long now();

  /** A config. */
  record Configured(long now, PoolConfig config) implements CaptureEvent {}

  /** Who may get requests. */
  record Endpoints(long now, List<EndpointSpec> endpoints) implements CaptureEvent {}

  /** So many pickers share the pool. */
  record Replicas(long now, int count) implements CaptureEvent {}

  /** A scrape of the endpoint of that name, begun at {@code begun}. */
  record Scraped(long now, String endpoint, long begun, EndpointMetrics metrics)
      implements CaptureEvent {}

  /** A scrape of the endpoint of that name failed, begun at {@code begun}. */
  record Unreachable(long now, String endpoint, long begun, Failure failure)
      implements CaptureEvent {}

  /** Time passed. */
  record Ticked(long now) implements CaptureEvent {}

  /**
   * A probe came to an end.
   *
   * @param failure null if it was answered
   */
  record Probed(long now, long probe, @Nullable Failure failure) implements CaptureEvent {}

  /** All that waited were rejected. */
  record RefusedWaiting(long now) implements CaptureEvent {}

  /** The core was told something from here on that the capture does not have. */
  record NotTold(long now, Untold what) implements CaptureEvent {}

  /** In the event before a probe was wanted, and nobody was asked. */
  record Unasked(long now, long probe) implements CaptureEvent {}

  /**
   * A request came.
   *
   * @param advice where an external scheduler wanted it; null where none said
   * @param withheld whether a plugin has read a header that was not written down
   * @param effect what was done about it
   */
  record Arrived(
      long now,
      Request request,
      RequestFacts facts,
      @Nullable Advice advice,
      boolean withheld,
      Effect effect)
      implements CaptureEvent {}

  /** An external scheduler had another word on it; null for none any more. */
  record Advised(long now, Request request, @Nullable Advice advice) implements CaptureEvent {}

  /** Its endpoint failed it. */
  record AttemptFailed(long now, Request request, Failure failure, Effect effect)
      implements CaptureEvent {}

  /** A proxy showed the answer of another endpoint, to which it had sent it by itself. */
  record AnsweredBy(long now, Request request, String destination, Effect effect)
      implements CaptureEvent {}

  /** The first byte of its answer came. */
  record FirstByte(long now, Request request) implements CaptureEvent {}

  /** Its client got its answer from there on. */
  record Answering(long now, Request request) implements CaptureEvent {}

  /** More of its answer came. */
  record Progress(long now, Request request) implements CaptureEvent {}

  /** Its client took no more of its answer for now, or took more again. */
  record HeldUp(long now, Request request, boolean held) implements CaptureEvent {}

  /** Nobody told of it any more. */
  record Left(long now, Request request) implements CaptureEvent {}

  /** In the event before the core took it for over. */
  record PresumedOver(long now, Request request) implements CaptureEvent {}

  /** In the event before, which was none of its own, this was done about it. */
  record Decided(long now, Request request, Effect effect) implements CaptureEvent {}

  /** It is over. */
  record Ended(long now, Request request, Outcome outcome, Usage usage) implements CaptureEvent {}

  /**
   * One request, for what its events have in common.
   *
   * @param line where it was read
   */
  record Request(String line) {}
}
