package io.fairlead.core.scheduling;

import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.TimeoutsConfig;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What the treatment of requests in a document must be like. */
final class RequestRules {

  private static final int MAX_PERCENT = 100;

  private RequestRules() {}

  static void check(RequestsConfig requests, Problems problems) {
    timeouts("requests", requests.timeouts(), problems);
    int percent = requests.retryBudgetPercent();
    if (percent < 0 || percent > MAX_PERCENT) {
      problems.add(
          "requests.retryBudgetPercent",
          "is " + percent + "; set a whole number from 0 to " + MAX_PERCENT);
    }
  }

  /** Of the pool, or of a model. */
  static void timeouts(String owner, TimeoutsConfig timeouts, Problems problems) {
    timeout(owner + ".timeouts.firstByte", timeouts.firstByte(), problems);
    timeout(owner + ".timeouts.silence", timeouts.silence(), problems);
    timeout(owner + ".timeouts.total", timeouts.total(), problems);
  }

  private static void timeout(String path, @Nullable Duration value, Problems problems) {
    if (value != null
        && (value.isZero() || value.isNegative() || value.compareTo(TimeoutsConfig.LONGEST) > 0)) {
      problems.add(
          path,
          "is "
              + value
              + "; set more than 0 and no more than "
              + TimeoutsConfig.LONGEST.toHours()
              + "h");
    }
  }
}
