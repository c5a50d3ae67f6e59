package io.fairlead.epp;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Instant;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** When the certificates of ports end, as meters. */
final class CertificateMeters {

  private CertificateMeters() {}

  /**
   * Asks {@code end} at every scrape. A port in plain text has no series.
   *
   * @param listener whose port it is
   */
  static void register(MeterRegistry registry, String listener, Supplier<@Nullable Instant> end) {
    if (end.get() != null) {
      Gauge.builder("fairlead.tls.certificate.expiry.timestamp", () -> seconds(end.get()))
          .description(
              "When the certificate ends that new connections get now, in Unix time; of a chain"
                  + " the first to end. None of a port in plain text.")
          .baseUnit("seconds")
          .tag("listener", listener)
          .strongReference(true)
          .register(registry);
    }
  }

  private static double seconds(@Nullable Instant end) {
    return end == null ? Double.NaN : end.getEpochSecond();
  }
}
