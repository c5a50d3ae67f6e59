package io.fairlead.cli;

import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.DataPlaneConfig.Gateway;
import io.fairlead.epp.DataPlaneConfig.Listen;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs the HTTP gateway on a folder of resources. */
@Command(
    name = "gateway",
    description = "The picker as an HTTP gateway: proxies OpenAI requests in one hop.",
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class GatewayCommand implements Callable<Integer> {

  /** Whole answers come through it: longer than they take. It ends when the last one does. */
  private static final Duration DRAIN = Duration.ofMinutes(10);

  @Option(
      names = "--folder",
      required = true,
      description =
          "Folder of YAML: one InferencePool, its InferenceModels, EndpointSlices. Watched: a good"
              + " edit takes effect within a second, a broken one is refused.")
  private Path folder = Path.of(".");

  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      description = "Where clients send their requests.",
      defaultValue = "0.0.0.0:8080")
  private HostPort listen = new HostPort("0.0.0.0", 8080);

  @Option(
      names = "--lame-duck",
      description =
          "So long new connections are served after the end began, since clients and load"
              + " balancers learn late of it; part of --drain-timeout.",
      converter = Tuning.GoDuration.class,
      defaultValue = "5s")
  private Duration lameDuck = Duration.ofSeconds(5);

  @Option(
      names = "--cert-path",
      paramLabel = "DIR",
      description =
          "Serve over TLS, with the tls.crt and tls.key of this folder; read again when they"
              + " change.")
  private @Nullable Path certPath;

  @Option(
      names = "--max-connections",
      description = "Connections of clients that may be open; those beyond get a 503.",
      defaultValue = "16384")
  private int maxConnections = DataPlaneConfig.DEFAULT_MAX_CONNECTIONS;

  @Mixin private TracingOptions tracing = new TracingOptions();
  @Mixin private Tuning tuning = new Tuning();

  @Override
  public Integer call() throws InterruptedException {
    var gateway =
        new Gateway(
            new Listen(listen.host(), listen.port()),
            tuning.maxBodyBytes,
            lameDuck,
            certPath,
            maxConnections);
    DataPlaneConfig config =
        tuning
            .applyTo(DataPlaneConfig.builder(new DataPlaneConfig.Folder(folder)), DRAIN)
            .gateway(gateway)
            .tracing(tracing.settings(System.getenv()))
            .build();
    if (tuning.dryRun) {
      return PickerProcess.describe(config);
    }
    PickerProcess.run(config);
    return 0;
  }
}
