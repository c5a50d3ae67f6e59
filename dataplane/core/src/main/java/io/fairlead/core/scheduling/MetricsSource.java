package io.fairlead.core.scheduling;

import io.fairlead.crds.config.GoDuration;
import io.fairlead.plugin.InvalidParameterException;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Setting;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where servers' metrics pages are: upstream's {@code metrics-data-source}.
 *
 * @param tls whether they are read over TLS
 * @param verify whether the server's certificate is checked, against the authorities that the
 *     machine trusts
 * @param path of the page
 * @param port of the page; 0 for the endpoint's own
 * @param interval time from one look to the next; null for the picker's own
 */
public record MetricsSource(
    boolean tls, boolean verify, String path, int port, @Nullable Duration interval)
    implements Setting {

  /** Each endpoint's own port, without TLS, at the picker's pace. */
  public static final MetricsSource DEFAULT = new MetricsSource(false, false, "/metrics", 0, null);

  private static final Duration SHORTEST = Duration.ofMillis(10);

  static MetricsSource read(Parameters parameters) {
    boolean tls = parameters.choice("scheme", "http", List.of("http", "https")).equals("https");
    boolean verify = !parameters.flag("insecureSkipVerify", true);
    String path = parameters.text("path", DEFAULT.path);
    if (!path.startsWith("/")) {
      throw parameters.invalid("path", "is \"" + path + "\"; start it with /");
    }
    for (String file : List.of("caCertPath", "clientCertPath", "clientKeyPath")) {
      if (parameters.has(file)) {
        throw parameters.invalid(
            file,
            "can't be set: certificates of one's own are not used for reading metrics; remove it,"
                + " and check servers against the machine's authorities or not at all, by"
                + " insecureSkipVerify");
      }
    }
    return new MetricsSource(
        tls, verify, path, parameters.integer("port", 0, 1, 65_535), interval(parameters));
  }

  private static @Nullable Duration interval(Parameters parameters) {
    if (!parameters.has("interval")) {
      return null;
    }
    String text = parameters.text("interval", "");
    Duration interval = GoDuration.parse(text);
    if (interval == null
        || interval.compareTo(SHORTEST) < 0
        || interval.compareTo(Duration.ofHours(1)) > 0) {
      throw wrongInterval(parameters, text);
    }
    return interval;
  }

  private static InvalidParameterException wrongInterval(Parameters parameters, String text) {
    return parameters.invalid("interval", "is \"" + text + "\"; set 10ms to 60m, e.g. 50ms or 1s");
  }
}
