package io.fairlead.cli;

import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.DataPlaneConfig.Gateway;
import io.fairlead.epp.DataPlaneConfig.Listen;
import io.fairlead.epp.DataPlaneConfig.Source;
import io.fairlead.epp.frontend.gateway.AllowedOrigins;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Runs the HTTP gateway: on a folder of resources, a list of endpoints, or on Kubernetes. */
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
      paramLabel = "DIR",
      description =
          "Run without Kubernetes on a folder of YAML: one InferencePool, its InferenceModels, EndpointSlices. Watched: a good"
              + " edit takes effect within a second, a broken one is refused.")
  private @Nullable Path folder;

  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      description = "Where clients send their requests.",
      defaultValue = "0.0.0.0:8080")
  private HostPort listen = new HostPort("0.0.0.0", 8080);

  @Option(
      names = "--lame-duck",
      paramLabel = "DURATION",
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
      paramLabel = "N",
      description = "Connections of clients that may be open; those beyond get a 503.",
      defaultValue = "16384")
  private int maxConnections = DataPlaneConfig.DEFAULT_MAX_CONNECTIONS;

  @Option(
      names = "--allowed-origins",
      paramLabel = "ORIGIN,…",
      description =
          "Whose pages a browser lets call, such as https://chat.example: * for all, as model"
              + " servers have it, none for those of no other site.",
      converter = Origins.class,
      defaultValue = "*")
  private AllowedOrigins allowedOrigins = AllowedOrigins.ANY;

  @Mixin private SourceOptions source = new SourceOptions();
  @Mixin private TracingOptions tracing = new TracingOptions();
  @Mixin private Tuning tuning = new Tuning();
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() throws InterruptedException {
    DataPlaneConfig config = config(System.getenv());
    if (tuning.dryRun) {
      return PickerProcess.describe(config);
    }
    PickerProcess.run(config);
    return 0;
  }

  /** What was asked for. */
  DataPlaneConfig config(Map<String, String> environment) {
    var gateway =
        new Gateway(
            new Listen(listen.host(), listen.port()),
            tuning.maxBodyBytes,
            lameDuck,
            certPath,
            maxConnections,
            allowedOrigins);
    return tuning
        .applyTo(DataPlaneConfig.builder(source(environment)), DRAIN)
        .gateway(gateway)
        .tracing(tracing.settings(environment))
        .checkpoint(source.checkpoint())
        .build();
  }

  private Source source(Map<String, String> environment) {
    if (folder == null && !source.isGiven()) {
      throw new ParameterException(
          spec.commandLine(),
          "Say where the endpoints come from: --folder DIR, --endpoints FILE, or on Kubernetes"
              + " --pool-name NAME.");
    }
    if (folder == null) {
      return source.source(environment);
    }
    if (source.isGiven()) {
      throw new ParameterException(
          spec.commandLine(), "--folder has all there is: it goes without other sources");
    }
    return new DataPlaneConfig.Folder(folder);
  }

  /** Reads origins with commas between them. */
  static final class Origins implements ITypeConverter<AllowedOrigins> {

    @Override
    public AllowedOrigins convert(String text) {
      try {
        return text.equals("none")
            ? AllowedOrigins.of()
            : new AllowedOrigins(
                Stream.of(text.split(",", -1)).map(String::strip).collect(Collectors.toSet()));
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(String.valueOf(e.getMessage()));
      }
    }
  }
}
