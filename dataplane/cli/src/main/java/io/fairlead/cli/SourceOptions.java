package io.fairlead.cli;

import io.fairlead.crds.config.Spelling;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.epp.ClusterPool;
import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.DataPlaneConfig.Reporting;
import io.fairlead.epp.DataPlaneConfig.Source;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/**
 * Where a picker's config and endpoints come from: files, the operator's ConfigMap, or the pool.
 */
final class SourceOptions {

  private static final List<String> GROUPS = List.of(InferencePool.GROUP, InferenceModel.GROUP);

  /** As upstream has it: a flag with an empty value is one that was not given. */
  private static final String NONE = "";

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
          "An EndpointPickerConfig; with --endpoints it may be a config document. Watched. Without"
              + " it, and without --config-text, the default profile runs: with --endpoints ours,"
              + " else upstream's.")
  private String configFile = NONE;

  @Option(
      names = "--config-text",
      paramLabel = "YAML",
      description = "An EndpointPickerConfig as text instead of a file.")
  private String configText = NONE;

  @Option(
      names = "--pool-namespace",
      paramLabel = "NAME",
      description =
          "Namespace of the pool, its pods and its ConfigMap. Without it that of the environment's"
              + " NAMESPACE or POD_NAMESPACE, else default.")
  private String poolNamespace = NONE;

  @Option(
      names = "--pool-name",
      paramLabel = "NAME",
      description =
          "On Kubernetes: the pool. Without --config-map and --picker the picker reads it itself,"
              + " with its objectives and rewrites.")
  private String poolName = NONE;

  @Option(
      names = "--pool-group",
      paramLabel = "GROUP",
      description =
          "API group of the pool's kind: inference.networking.k8s.io or"
              + " inference.networking.x-k8s.io.",
      defaultValue = InferencePool.GROUP)
  private String poolGroup = InferencePool.GROUP;

  @Option(
      names = "--endpoint-selector",
      paramLabel = "KEY=VALUE,…",
      description = "On Kubernetes, without an InferencePool: labels of the pods.")
  private String selector = NONE;

  @Option(
      names = "--endpoint-target-ports",
      paramLabel = "PORT",
      split = ",",
      description = "With --endpoint-selector: ports of every pod, each an endpoint; 1 to 8.")
  private List<Integer> targetPorts = List.of();

  @Option(
      names = "--config-map",
      paramLabel = "NAME",
      description =
          "ConfigMap with the operator's config in its key config.yaml. Watched. With --picker it"
              + " is POOL-NAME-epp unless named.")
  private @Nullable String configMap;

  @Option(
      names = "--picker",
      paramLabel = "NAME",
      description =
          "Report as a replica of this picker, in a Lease named after the pod (POD_NAME, POD_UID).")
  private @Nullable String picker;

  @Option(
      names = "--picker-service",
      paramLabel = "NAME",
      description =
          "With --pool-name or --endpoint-selector: the Service of the pickers, in the pool's"
              + " namespace. Its ready endpoints are how many pickers share the pool. Watched: needs"
              + " list and watch of endpointslices. With --picker that is known without it.")
  private String pickerService = NONE;

  @Option(
      names = "--checkpoint",
      paramLabel = "DIR",
      description =
          "On Kubernetes: folder in which the picker keeps the config and the endpoints that it"
              + " had last, to start from them while the API server does not answer. One process"
              + " per folder.")
  private @Nullable Path checkpoint;

  @Spec(Target.MIXEE)
  private CommandSpec spec = CommandSpec.create();

  /** Where it is kept for a start without the API server; null for nowhere. */
  @Nullable Path checkpoint() {
    return checkpoint;
  }

  /** Whether anything was said of it. */
  boolean isGiven() {
    return endpoints != null
        || !configFile.isEmpty()
        || !configText.isEmpty()
        || !ofKubernetes().isEmpty();
  }

  /** What is given of that which there is on Kubernetes alone. */
  private List<String> ofKubernetes() {
    List<String> given = new ArrayList<>();
    addIf(!poolNamespace.isEmpty(), "--pool-namespace", given);
    addIf(!poolName.isEmpty(), "--pool-name", given);
    addIf(!poolGroup.equals(InferencePool.GROUP), "--pool-group", given);
    addIf(!selector.isEmpty(), "--endpoint-selector", given);
    addIf(!targetPorts.isEmpty(), "--endpoint-target-ports", given);
    addIf(configMap != null, "--config-map", given);
    addIf(picker != null, "--picker", given);
    addIf(!pickerService.isEmpty(), "--picker-service", given);
    addIf(checkpoint != null, "--checkpoint", given);
    return given;
  }

  private static void addIf(boolean given, String option, List<String> to) {
    if (given) {
      to.add(option);
    }
  }

  /**
   * What was asked for.
   *
   * @throws ParameterException if that is not one thing
   */
  Source source(Map<String, String> environment) {
    refuseIf(
        !configFile.isEmpty() && !configText.isEmpty(),
        "give --config-file or --config-text, not both");
    refuseIf(
        !poolName.isEmpty() && !selector.isEmpty(),
        "give --pool-name or --endpoint-selector, not both");
    if (endpoints != null) {
      List<String> others = ofKubernetes();
      refuseIf(
          !others.isEmpty(),
          String.join(", ", others) + " goes without --endpoints: no Kubernetes");
      refuseIf(
          !configText.isEmpty(),
          "with --endpoints write the text of --config-text to a file, and name it in"
              + " --config-file");
      return new DataPlaneConfig.Files(
          endpoints, configFile.isEmpty() ? null : Path.of(configFile));
    }
    if (configMap != null || picker != null) {
      return generated(environment);
    }
    if (!poolName.isEmpty()) {
      refuseIf(!GROUPS.contains(poolGroup), unknownGroup());
      return pool(new ClusterPool.OfPool(poolName, poolGroup), environment);
    }
    if (!selector.isEmpty()) {
      return pool(new ClusterPool.Selected(ownName(environment), labels(), ports()), environment);
    }
    throw wrong(
        "Say where the endpoints come from: --endpoints FILE, or on Kubernetes --pool-name NAME or"
            + " --endpoint-selector KEY=VALUE.");
  }

  private Source generated(Map<String, String> environment) {
    refuseIf(
        !configFile.isEmpty() || !configText.isEmpty(),
        "--config-file and --config-text go without --config-map and --picker");
    refuseIf(!selector.isEmpty(), "--endpoint-selector goes without --config-map and --picker");
    refuseIf(!pickerService.isEmpty(), "--picker-service goes without --config-map and --picker");
    refuseIf(configMap == null && poolName.isEmpty(), "--picker needs --config-map or --pool-name");
    return new DataPlaneConfig.Kubernetes(
        namespace(environment),
        configMap == null ? poolName + "-epp" : configMap,
        reporting(environment));
  }

  private Source pool(ClusterPool.Members members, Map<String, String> environment) {
    ClusterPool.Scheduling scheduling =
        !configFile.isEmpty()
            ? new ClusterPool.InFile(Path.of(configFile))
            : configText.isEmpty()
                ? new ClusterPool.UpstreamDefault()
                : new ClusterPool.Inline(configText);
    return new ClusterPool(
        namespace(environment),
        members,
        scheduling,
        pickerService.isEmpty() ? null : pickerService);
  }

  private String namespace(Map<String, String> environment) {
    if (!poolNamespace.isEmpty()) {
      return poolNamespace;
    }
    String own = environment.getOrDefault("NAMESPACE", "");
    return own.isEmpty() ? environment.getOrDefault("POD_NAMESPACE", "default") : own;
  }

  /** Of the Deployment, whose pods have two more parts in their names. */
  private static String ownName(Map<String, String> environment) {
    String own = environment.getOrDefault("POD_NAME", "").replaceFirst("-[a-z0-9]+-[a-z0-9]+$", "");
    return own.isEmpty() ? "endpoints" : own;
  }

  private Map<String, String> labels() {
    Map<String, String> labels = new LinkedHashMap<>();
    for (String pair : selector.split(",", -1)) {
      String[] parts = pair.split("=", -1);
      refuseIf(
          parts.length != 2 || parts[0].isBlank() || parts[0].matches(".*[\\s!()].*"),
          "--endpoint-selector has \""
              + pair
              + "\"; write labels as key=value, with commas between them: no other selectors");
      labels.put(parts[0], parts[1]);
    }
    return labels;
  }

  private List<Integer> ports() {
    List<Integer> ports = targetPorts.stream().distinct().toList();
    refuseIf(
        ports.isEmpty() || ports.size() > 8,
        "--endpoint-target-ports needs 1 to 8 ports beside --endpoint-selector");
    ports.forEach(
        port ->
            refuseIf(
                port < 1 || port > 65_535,
                "--endpoint-target-ports has " + port + "; set ports from 1 to 65535"));
    return ports;
  }

  private String unknownGroup() {
    String near = Spelling.near(poolGroup, GROUPS);
    return "--pool-group is \""
        + poolGroup
        + "\"; set "
        + (near.isEmpty() ? String.join(" or ", GROUPS) : near);
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
      throw wrong(
          "--picker needs the environment variable %s: set it from the pod's fields"
              .formatted(name));
    }
    return value;
  }

  private void refuseIf(boolean wrong, String message) {
    if (wrong) {
      throw wrong(message);
    }
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
