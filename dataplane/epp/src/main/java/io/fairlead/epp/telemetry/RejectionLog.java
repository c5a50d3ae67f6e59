package io.fairlead.epp.telemetry;

import io.fairlead.core.Rejection;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Logs why requests are rejected: for each reason at most one line in {@value #PAUSE_SECONDS} s,
 * which counts those that had none, so that an overload doesn't become one of the log.
 *
 * <p>Confined to one thread.
 */
final class RejectionLog {

  private static final Logger LOG = LoggerFactory.getLogger(RejectionLog.class);

  private static final long PAUSE_SECONDS = 10;

  private final Map<Rejection.Reason, Lines> lines = new EnumMap<>(Rejection.Reason.class);

  /**
   * A request was rejected.
   *
   * @param model as metrics name it, which a client can't choose
   * @param now of a monotonic clock, in nanoseconds
   */
  void rejected(String model, Rejection.Reason reason, long now) {
    Lines last = lines.computeIfAbsent(reason, _ -> new Lines());
    if (last.any && now - last.at < TimeUnit.SECONDS.toNanos(PAUSE_SECONDS)) {
      last.unsaid++;
      return;
    }
    LOG.atLevel(reason.status() >= 500 ? Level.WARN : Level.INFO)
        .log(
            "A request for model {} was answered {} {}: {} {} more were since the last such line.",
            model,
            reason.status(),
            reason.code(),
            reason.message(),
            last.unsaid);
    last.any = true;
    last.at = now;
    last.unsaid = 0;
  }

  private static final class Lines {
    private boolean any;
    private long at;
    private long unsaid;
  }
}
