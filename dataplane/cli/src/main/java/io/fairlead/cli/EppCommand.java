package io.fairlead.cli;

import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.DataPlaneConfig.ExtProc;
import io.fairlead.epp.DataPlaneConfig.Listen;
import io.fairlead.epp.DataPlaneConfig.Reporting;
import io.fairlead.epp.DataPlaneConfig.Source;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
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
      names = "--endpoints",
      paramLabel = "FILE",
      description =
          "Run without Kubernetes on these endpoints: an EndpointSlice, or"
              + " endpoints: [{name, address, port}]. Watched.")
  private @Nullable Path endpoints;

  @Option(
      names = "--config-file",
      paramLabel = "FILE",
      description =
          "With --endpoints: a config document or an EndpointPickerConfig. Watched. Without it the"
              + " default profile runs.")
  private @Nullable Path configFile;

  @Option(
      names = "--pool-namespace",
      description = "Namespace of the pool, its pods and its ConfigMap.",
      defaultValue = "${env:POD_NAMESPACE:-default}")
  private String poolNamespace = "default";

  @Option(
      names = "--pool-name",
      description =
          "On Kubernetes: the pool. Its ConfigMap is NAME-epp unless --config-map says otherwise.")
  private @Nullable String poolName;

  @Option(
      names = "--config-map",
      paramLabel = "NAME",
      description = "ConfigMap with the generated config in its key config.yaml. Watched.")
  private @Nullable String configMap;

  @Option(
      names = "--picker",
      paramLabel = "NAME",
      description =
          "Report as a replica of this picker, in a Lease named after the pod (POD_NAME, POD_UID).")
  private @Nullable String picker;

  @Option(names = "--grpc-port", description = "Port of ext_proc.", defaultValue = "9002")
  private int grpcPort = 9002;

  @Option(names = "--grpc-health-port", description = "Port of gRPC health.", defaultValue = "9003")
  private int healthPort = 9003;

  @Option(
      names = "--secure-serving",
      arity = "0..1",
      fallbackValue = "true",
      description = "Serve ext_proc over TLS.",
      defaultValue = "true")
  private boolean secureServing = true;

  @Option(
      names = "--cert-path",
      paramLabel = "DIR",
      description = "Folder with tls.crt and tls.key; without it a self-signed pair is made.")
  private @Nullable Path certPath;

  @Option(
      names = "--lame-duck",
      description =
          "So long new requests are taken after the end began, since gateways learn late of it;"
              + " part of --drain-timeout.",
      converter = Tuning.GoDuration.class,
      defaultValue = "2s")
  private Duration lameDuck = Duration.ofSeconds(2);

  @Option(
      names = "--leave-after-pick",
      arity = "0..1",
      fallbackValue = "true",
      description =
          "Leave each request to the gateway once it is sent: nothing of its answer comes through"
              + " the picker, which then costs less and can be killed without harm, and learns"
              + " nothing from it.",
      defaultValue = "false")
  private boolean leaveAfterPick;

  @Mixin private Tuning tuning = new Tuning();
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() throws InterruptedException {
    var extProc =
        new ExtProc(
            new Listen(ANY, grpcPort),
            secureServing,
            certPath,
            tuning.maxBodyBytes,
            lameDuck,
            leaveAfterPick);
    DataPlaneConfig config =
        tuning
            .applyTo(DataPlaneConfig.builder(source()), DRAIN)
            .extProc(extProc)
            .health(ANY, healthPort)
            .build();
    if (tuning.dryRun) {
      return PickerProcess.describe(config);
    }
    PickerProcess.run(config);
    return 0;
  }

  private Source source() {
    if (endpoints != null) {
      refuseIf(configMap != null, "--config-map goes without --endpoints");
      return new DataPlaneConfig.Files(endpoints, configFile);
    }
    refuseIf(configFile != null, "--config-file goes with --endpoints");
    if (configMap == null && poolName == null) {
      throw new ParameterException(
          spec.commandLine(),
          "Say where the endpoints come from: --endpoints FILE, or --pool-name NAME on Kubernetes.");
    }
    return new DataPlaneConfig.Kubernetes(
        poolNamespace,
        configMap == null ? poolName + "-epp" : configMap,
        reporting(System.getenv()));
  }

  private @Nullable Reporting reporting(Map<String, String> environment) {
    if (picker == null) {
      return null;
    }
    return new Reporting(
        picker,
        required(environment, "POD_NAME"),
        required(environment, "POD_NAMESPACE"),
        required(environment, "POD_UID"));
  }

  private String required(Map<String, String> environment, String name) {
    String value = environment.get(name);
    if (value == null || value.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(),
          "--picker needs the environment variable %s: set it from the pod's fields"
              .formatted(name));
    }
    return value;
  }

  private void refuseIf(boolean wrong, String message) {
    if (wrong) {
      throw new ParameterException(spec.commandLine(), message);
    }
  }
}
