package io.fairlead.cli;

import io.fairlead.core.scheduling.MetricsSource;
import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.datalayer.MetricsScraper;
import io.fairlead.epp.tls.EndpointSecurity;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Options that every command with a data plane has, and variables that it reads. */
@Command(
    footerHeading = "%nEnvironment:%n",
    footer = {
      "NAMESPACE: Namespace of the pool, where --pool-namespace is not given.",
      "POD_NAMESPACE: Namespace of the picker's pod, needed by --picker; that of the pool, where"
          + " nothing else says which.",
      "POD_NAME: Name of the picker's pod, needed by --picker. With --endpoint-selector the pool is"
          + " called as the pod's Deployment is.",
      "POD_UID: UID of the picker's pod, needed by --picker.",
      "KUBECONFIG: The kubeconfig, outside of a cluster.",
      "OTEL_EXPORTER_OTLP_ENDPOINT: Collector of spans, as --tracing-endpoint; unless"
          + " --tracing=false, spans are sent there.",
      "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: The same, before OTEL_EXPORTER_OTLP_ENDPOINT.",
      "OTEL_EXPORTER_OTLP_PROTOCOL: grpc, or http/protobuf. Without it grpc.",
      "OTEL_SERVICE_NAME: Name of the service in spans. Without it fairlead.",
      "OTEL_RESOURCE_ATTRIBUTES: More attributes of the service, key=value with commas between"
          + " them.",
      "OTEL_TRACES_SAMPLER: Which requests are traced, where --tracing-ratio is not given.",
      "OTEL_TRACES_SAMPLER_ARG: Share of requests for the sampler.",
      "OTEL_SDK_DISABLED: true for no spans, whatever else is said.",
      "OTEL_TRACES_EXPORTER: none for no spans, whatever else is said."
    })
final class Tuning {

  @Option(
      names = "--metrics-port",
      paramLabel = "PORT",
      description =
          "Port of /metrics, /healthz, /readyz, /debug/… and the console; 0 takes a free one.",
      defaultValue = "9090")
  int metricsPort = 9090;

  @Option(
      names = "--refresh-metrics-interval",
      paramLabel = "DURATION",
      description = "Time between two looks at an endpoint's metrics, e.g. 50ms.",
      converter = GoDuration.class,
      defaultValue = "200ms")
  private Duration refreshMetricsInterval = Duration.ofMillis(200);

  @Option(
      names = "--drain-timeout",
      paramLabel = "DURATION",
      description =
          "Longest time that requests in flight get at the end: 20s, for the gateway 10m where"
              + " nothing is said. Keep it below the pod's grace less its preStop.",
      converter = GoDuration.class)
  private @Nullable Duration drainTimeout;

  @Option(
      names = "--warm-up",
      paramLabel = "DURATION",
      description =
          "So long requests of its own make the process quick before it says that it is ready; 0s"
              + " for not at all.",
      converter = GoDuration.class,
      defaultValue = "2s")
  private Duration warmUp = Duration.ofSeconds(2);

  @Option(
      names = "--max-body-bytes",
      paramLabel = "BYTES",
      description = "Largest request body.",
      defaultValue = "" + DataPlaneConfig.DEFAULT_MAX_BODY_BYTES)
  int maxBodyBytes = DataPlaneConfig.DEFAULT_MAX_BODY_BYTES;

  @Option(
      names = "--dry-run",
      description = "Load everything, print what would run, and exit: 0, or 1 with what is wrong.")
  boolean dryRun;

  @Mixin private EndpointTlsOptions endpointTls = new EndpointTlsOptions();
  @Mixin private CaptureOptions capture = new CaptureOptions();
  @Mixin private ConsoleOptions console = new ConsoleOptions();
  @Mixin private HandOverOptions handOver = new HandOverOptions();

  /** Sets what was asked for; {@code usualDrain} where nothing was said of the end. */
  DataPlaneConfig.Builder applyTo(DataPlaneConfig.Builder builder, Duration usualDrain) {
    return builder
        .admin("0.0.0.0", metricsPort)
        .console(console.config())
        .drain(drainTimeout == null ? usualDrain : drainTimeout)
        .warmUp(warmUp)
        .capture(capture.config())
        .handOver(handOver.settings())
        .endpoints(endpointTls.security())
        .scraping(scraping());
  }

  /** How endpoints are asked for their metrics. */
  MetricsScraper.Settings scraping() {
    MetricsScraper.Settings usual =
        MetricsScraper.Settings.DEFAULT.withInterval(refreshMetricsInterval);
    if (endpointTls.security() instanceof EndpointSecurity.PlainText) {
      return usual;
    }
    MetricsSource pages = usual.pages();
    return usual.withPages(
        new MetricsSource(true, pages.verify(), pages.path(), pages.port(), pages.interval()),
        true);
  }

  /** Reads {@code 50ms}, {@code 30s}, {@code 1m30s}: as Go, and so pickers, write durations. */
  static final class GoDuration implements ITypeConverter<Duration> {

    @Override
    public Duration convert(String text) {
      Duration duration = io.fairlead.crds.config.GoDuration.parse(text);
      if (duration == null || duration.isNegative()) {
        throw new TypeConversionException("'" + text + "' is not a duration, e.g. 50ms, 30s, 2m");
      }
      return duration;
    }
  }
}
