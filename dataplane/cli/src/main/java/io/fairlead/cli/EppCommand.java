package io.fairlead.cli;

import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.DataPlaneConfig.ExtProc;
import io.fairlead.epp.DataPlaneConfig.Listen;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs the endpoint picker for a gateway that speaks ext_proc. */
@Command(
    name = "epp",
    description = "The picker as an ext_proc server under the Endpoint Picker Protocol.",
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class EppCommand implements Callable<Integer> {

  private static final String ANY = "0.0.0.0";

  private static final Duration DRAIN = Duration.ofSeconds(20);

  @Option(
      names = "--grpc-port",
      paramLabel = "PORT",
      description = "Port of ext_proc.",
      defaultValue = "9002")
  private int grpcPort = 9002;

  @Option(
      names = "--grpc-health-port",
      paramLabel = "PORT",
      description = "Port of gRPC health.",
      defaultValue = "9003")
  private int healthPort = 9003;

  @Option(
      names = "--metrics-endpoint-auth",
      paramLabel = "true|false",
      arity = "0..1",
      fallbackValue = "true",
      converter = GoBoolean.class,
      description =
          "Serve /metrics to those alone whose bearer token lets them get that path of the API"
              + " server. Needs the right to create tokenreviews and subjectaccessreviews.",
      defaultValue = "false")
  private boolean metricsAuth;

  @Option(
      names = "--secure-serving",
      paramLabel = "true|false",
      arity = "0..1",
      fallbackValue = "true",
      converter = GoBoolean.class,
      description = "Serve ext_proc over TLS.",
      defaultValue = "true")
  private boolean secureServing = true;

  @Option(
      names = "--cert-path",
      paramLabel = "DIR",
      description = "Folder with tls.crt and tls.key; without it a self-signed pair is made.")
  private @Nullable String certPath;

  @Option(
      names = "--lame-duck",
      paramLabel = "DURATION",
      description =
          "So long new requests are taken after the end began, since gateways learn late of it;"
              + " part of --drain-timeout.",
      converter = Tuning.GoDuration.class,
      defaultValue = "2s")
  private Duration lameDuck = Duration.ofSeconds(2);

  @Option(
      names = "--leave-after-pick",
      paramLabel = "true|false",
      arity = "0..1",
      fallbackValue = "true",
      converter = GoBoolean.class,
      description =
          "Leave each request to the gateway once it is sent: nothing of its answer comes through"
              + " the picker, which then costs less and can be killed without harm, and learns"
              + " nothing from it.",
      defaultValue = "false")
  private boolean leaveAfterPick;

  @Option(
      names = "--disable-endpoint-subset-filter",
      paramLabel = "true|false",
      arity = "0..1",
      fallbackValue = "true",
      converter = GoBoolean.class,
      description = "Pick from all endpoints, whatever subset of them the gateway allows.",
      defaultValue = "false")
  private boolean ignoreSubset;

  @Mixin private SourceOptions source = new SourceOptions();
  @Mixin private ServerMetricsOptions serverMetrics = new ServerMetricsOptions();
  @Mixin private LogOptions log = new LogOptions();
  @Mixin private TracingOptions tracing = new TracingOptions();
  @Mixin private Tuning tuning = new Tuning();
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() throws InterruptedException {
    DataPlaneConfig config = config(System.getenv());
    log.apply();
    tell();
    if (tuning.dryRun) {
      return PickerProcess.describe(config);
    }
    PickerProcess.run(config);
    return 0;
  }

  /** What was asked for. */
  DataPlaneConfig config(Map<String, String> environment) {
    EppFlags.refuse(spec.commandLine().getParseResult());
    var extProc =
        new ExtProc(
            new Listen(ANY, grpcPort),
            secureServing,
            certPath == null || certPath.isEmpty() ? null : Path.of(certPath),
            tuning.maxBodyBytes,
            lameDuck,
            leaveAfterPick,
            ignoreSubset);
    return tuning
        .applyTo(DataPlaneConfig.builder(source.source(environment)), DRAIN)
        .scraping(serverMetrics.applyTo(tuning.scraping()))
        .extProc(extProc)
        .health(ANY, healthPort)
        .tracing(tracing.settings(environment))
        .checkpoint(source.checkpoint())
        .metricsAuth(metricsAuth)
        .build();
  }

  /** Logs which flags do nothing. */
  void tell() {
    EppFlags.tell(spec.commandLine().getParseResult());
  }

  LogOptions log() {
    return log;
  }
}
