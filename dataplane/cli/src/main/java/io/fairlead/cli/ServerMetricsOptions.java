package io.fairlead.cli;

import io.fairlead.core.scheduling.MetricsSource;
import io.fairlead.epp.datalayer.MetricsScraper;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/**
 * Where servers' metrics are, by upstream's flags: for configs that list no source of their own.
 */
final class ServerMetricsOptions {

  @Option(
      names = "--model-server-metrics-scheme",
      paramLabel = "SCHEME",
      description =
          "http or https, where the config lists no metrics-data-source; http unless endpoints are"
              + " spoken to over TLS.")
  private @Nullable String scheme;

  @Option(
      names = "--model-server-metrics-path",
      paramLabel = "PATH",
      description = "Path of servers' metrics, where the config lists no metrics-data-source.",
      defaultValue = "/metrics")
  private String path = "/metrics";

  @Option(
      names = "--model-server-metrics-port",
      paramLabel = "PORT",
      description =
          "Port of servers' metrics, where the config lists no metrics-data-source; 0 for the"
              + " endpoint's own.",
      defaultValue = "0")
  private int port;

  @Option(
      names = "--model-server-metrics-https-insecure-skip-verify",
      paramLabel = "true|false",
      arity = "0..1",
      fallbackValue = "true",
      converter = GoBoolean.class,
      description =
          "Take any certificate of servers that are asked over https: so where nothing is said,"
              + " but for what --endpoint-tls says.")
  private @Nullable Boolean skipVerify;

  @Option(
      names = "--metrics-staleness-threshold",
      paramLabel = "DURATION",
      description =
          "Age at which a server's metrics are no longer believed, at least three intervals; 5s"
              + " where nothing is said.",
      converter = Tuning.GoDuration.class)
  private @Nullable Duration staleness;

  @Spec(Target.MIXEE)
  private CommandSpec spec = CommandSpec.create();

  /**
   * The same with what was asked for.
   *
   * @throws ParameterException if a value makes no sense
   */
  MetricsScraper.Settings applyTo(MetricsScraper.Settings settings) {
    if (scheme != null && !scheme.equals("http") && !scheme.equals("https")) {
      throw wrong("scheme", scheme, "set http or https");
    }
    if (!path.startsWith("/")) {
      throw wrong("path", path, "start it with /");
    }
    if (port < 0 || port > 65_535) {
      throw wrong("port", String.valueOf(port), "set 0 to 65535");
    }
    boolean tls = scheme == null ? settings.pages().tls() : scheme.equals("https");
    boolean verify = skipVerify != null && !skipVerify;
    var pages = new MetricsSource(tls, verify, path, port, null);
    MetricsScraper.Settings of = settings.withPages(pages, skipVerify == null);
    return staleness == null ? of : of.withStale(staleness);
  }

  private ParameterException wrong(String flag, String value, String fix) {
    return new ParameterException(
        spec.commandLine(), "--model-server-metrics-" + flag + " is \"" + value + "\"; " + fix);
  }
}
