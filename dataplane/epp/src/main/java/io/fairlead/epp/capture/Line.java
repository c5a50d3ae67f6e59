package io.fairlead.epp.capture;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.crds.config.PoolConfig;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What is handed to the writer: nothing in it changes any more. */
sealed interface Line
    permits Line.Config,
        Line.Endpoints,
        Line.Replicas,
        Line.Scrape,
        Line.Unreachable,
        Line.Ticks,
        Line.Probed,
        Line.Unasked,
        Line.RefusedWaiting,
        Line.NotTold,
        CapturedRequest {

  /** Roughly the memory that it keeps while it waits to be written. */
  int weight();

  /**
   * A config came into force.
   *
   * @param seq number of the event among all of the capture
   * @param at time of the event, in nanoseconds since the capture was opened
   */
  record Config(long seq, long at, PoolConfig config) implements Line {

    @Override
    public int weight() {
      return 1 << 12;
    }
  }

  /** Endpoints came into force. */
  record Endpoints(long seq, long at, List<EndpointSpec> endpoints) implements Line {

    @Override
    public int weight() {
      return 64 + 512 * endpoints.size();
    }
  }

  /** So many pickers share the pool. */
  record Replicas(long seq, long at, int replicas) implements Line {

    @Override
    public int weight() {
      return 64;
    }
  }

  /**
   * A scrape was taken in.
   *
   * @param begun when it was begun, as {@code at} is given
   */
  record Scrape(long seq, long at, String endpoint, long begun, EndpointMetrics metrics)
      implements Line {

    @Override
    public int weight() {
      return 512;
    }
  }

  /**
   * A scrape failed.
   *
   * @param begun when it was begun, as {@code at} is given
   */
  record Unreachable(long seq, long at, String endpoint, long begun, Failure failure)
      implements Line {

    @Override
    public int weight() {
      return 128;
    }
  }

  /**
   * Time passed.
   *
   * @param run when, again and again
   */
  record Ticks(EventRun run) implements Line {

    @Override
    public int weight() {
      return 64 + run.weight();
    }
  }

  /**
   * A probe came to an end.
   *
   * @param failure null if it was answered
   */
  record Probed(long seq, long at, long probe, @Nullable Failure failure) implements Line {

    @Override
    public int weight() {
      return 128;
    }
  }

  /** All that wait are rejected. */
  record RefusedWaiting(long seq, long at) implements Line {

    @Override
    public int weight() {
      return 64;
    }
  }

  /** The core was told something that is not written down, for the first time. */
  record NotTold(long seq, long at, Untold what) implements Line {

    @Override
    public int weight() {
      return 64;
    }
  }

  /** A probe was not sent. */
  record Unasked(long seq, long at, long probe) implements Line {

    @Override
    public int weight() {
      return 64;
    }
  }
}
