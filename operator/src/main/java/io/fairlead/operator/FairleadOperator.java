package io.fairlead.operator;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fairlead.crds.DnsLabel;
import io.fairlead.crds.DnsSubdomain;
import io.fairlead.crds.access.PageAccess;
import io.fairlead.crds.watch.ApiJson;
import io.fairlead.operator.children.PickerImage;
import io.fairlead.operator.observe.Adoption;
import io.fairlead.operator.reconcile.Settings;
import io.javaoperatorsdk.operator.monitoring.micrometer.MicrometerMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs the operator until it is told to end. */
@Command(
    name = "fairlead-operator",
    mixinStandardHelpOptions = true,
    subcommands = TrainCommand.class,
    description = "Runs an endpoint picker for every InferencePool that it serves.",
    footerHeading = "%nEnvironment:%n",
    footer = {
      "POD_NAMESPACE: Namespace of the Lease by which one replica acts. Without it that of the"
          + " kubeconfig.",
      "POD_NAME: What the replica calls itself in that Lease.",
      "KUBECONFIG: The kubeconfig, outside of a cluster."
    })
public final class FairleadOperator implements Callable<Integer> {
  private static final Logger LOG = LoggerFactory.getLogger(FairleadOperator.class);
  private static final String LEASE = "fairlead-operator";
  private static final int LAST_PORT = 65535;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--adopt",
      paramLabel = "all|labelled|none",
      defaultValue = "all",
      description = {
        "Pools to serve that no EndpointPicker names, if nobody provides their Service.",
        "all; labelled: those with the label fairlead.io/adopt=true; none.",
        "Default: ${DEFAULT-VALUE}"
      })
  private Adoption adoption = Adoption.ALL;

  @Option(
      names = "--adopt-grace-seconds",
      paramLabel = "SECONDS",
      defaultValue = "10",
      description = {"How long such a pool is left to others at first. Default: ${DEFAULT-VALUE}"})
  private int graceSeconds;

  @Option(
      names = "--watch-namespaces",
      paramLabel = "NAME,…",
      description = "Namespaces to serve, separated by commas. Default: all")
  private List<String> watchNamespaces = List.of();

  @Option(
      names = "--epp-image",
      paramLabel = "IMAGE",
      defaultValue = "${env:FAIRLEAD_EPP_IMAGE:-fairlead.local/dataplane:dev}",
      description = "Image of pickers that name none. Default: ${DEFAULT-VALUE}")
  private String eppImage = "";

  @Option(
      names = "--epp-pull-secrets",
      paramLabel = "NAME,…",
      description = {
        "Secrets that the registry of pickers' images asks for, separated by commas: those of each pool's namespace,",
        "for pickers whose EndpointPicker names none. Default: none"
      })
  private List<String> pullSecrets = List.of();

  @Option(
      names = "--max-rollouts",
      paramLabel = "N",
      defaultValue = "5",
      description = {
        "How many pickers are replaced at a time where an upgrade of the operator replaces all.",
        "One that does not become ready keeps its place until Kubernetes gives it up.",
        "Default: ${DEFAULT-VALUE}"
      })
  private int maxRollouts;

  @Option(
      names = "--leader-elect",
      paramLabel = "true|false",
      negatable = true,
      defaultValue = "true",
      fallbackValue = "true",
      arity = "0..1",
      description = "Let one replica act at a time. Default: ${DEFAULT-VALUE}")
  private boolean leaderElect = true;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "8080",
      description = "Port of /healthz, /readyz and /metrics. Default: ${DEFAULT-VALUE}")
  private int port;

  @Option(
      names = "--metrics-endpoint-auth",
      description = {
        "Serve /metrics to those alone whose bearer token lets them get that path of the API server.",
        "Needs the right to create tokenreviews and subjectaccessreviews."
      })
  private boolean metricsAuth;

  @Option(
      names = "--log-format",
      paramLabel = "ecs|plain",
      defaultValue = "ecs",
      description = "ecs (JSON) or plain. Default: ${DEFAULT-VALUE}")
  private Logs.Format logFormat = Logs.Format.ECS;

  /**
   * Ends the process with 0 after a clean end by SIGTERM or SIGINT, with 1 when it cannot start or
   * leadership is lost, with 2 on bad usage.
   */
  public static void main(String[] args) {
    // Not exit: after a signal that would wait for ever, and the code would be the signal's.
    Runtime.getRuntime().halt(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    return new CommandLine(new FairleadOperator()).setCaseInsensitiveEnumValuesAllowed(true);
  }

  @Override
  public Integer call() {
    // The client tells how it finds its settings, which is for nobody's log.
    Logs.configure(logFormat);
    return serve(
        new ConfigBuilder().withRequestRetryBackoffLimit(Settings.REQUEST_RETRIES).build(),
        new CompletableFuture<>());
  }

  /**
   * Serves until it is told to end.
   *
   * @param config where the API server is
   * @param end completed with the exit code by whatever ends it
   * @throws ParameterException when an option says what cannot be
   */
  int serve(Config config, CompletableFuture<Integer> end) {
    if (maxRollouts < 1) {
      throw wrong("--max-rollouts is %d; set 1 or more".formatted(maxRollouts));
    }
    if (graceSeconds < 0) {
      throw wrong("--adopt-grace-seconds is %d; set 0 or more".formatted(graceSeconds));
    }
    if (port < 0 || port > LAST_PORT) {
      throw wrong(
          "--port is %d; set one from 1 to %d, or 0 for any free one".formatted(port, LAST_PORT));
    }
    Set<String> namespaces = watched();
    Logs.configure(logFormat);
    PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    Fence fence =
        new Fence(
            URI.create(config.getMasterUrl()),
            Leadership.LEASE,
            System::nanoTime,
            InstantSource.system());
    KubernetesClient client =
        new KubernetesClientBuilder()
            .withConfig(config)
            .withKubernetesSerialization(ApiJson.serialization())
            .withHttpClientBuilderConsumer(
                http -> {
                  if (leaderElect) {
                    http.addOrReplaceInterceptor("fence", fence);
                  }
                })
            .build();
    Controllers controllers =
        Controllers.on(
            client,
            new Settings(adoption, Duration.ofSeconds(graceSeconds), image(), maxRollouts),
            namespaces,
            MicrometerMetrics.withoutPerResourceMetrics(metrics),
            InstantSource.system(),
            metrics);
    try (OperatorProcess process = new OperatorProcess(controllers, client);
        HealthServer health =
            new HealthServer(
                port,
                process::healthy,
                process::ready,
                metrics,
                metricsAuth ? new PageAccess(client, System::nanoTime) : null)) {
      LOG.info("health and metrics on port {}", health.port());
      Runtime.getRuntime().addShutdownHook(signalled(end, Thread.currentThread()));
      if (leaderElect) {
        process.elect(
            namespace(client),
            LEASE,
            identity(),
            fence,
            () -> end.complete(1),
            () -> Runtime.getRuntime().halt(1));
      } else {
        process.run();
      }
      int code = end.join();
      LOG.info("ending");
      return code;
    }
  }

  /** The process lasts as long as its hooks: this one leaves time for a clean end. */
  private static Thread signalled(CompletableFuture<Integer> end, Thread main) {
    return new Thread(
        () -> {
          end.complete(0);
          try {
            main.join();
          } catch (InterruptedException e) {
            LOG.warn("cut off while ending");
          }
        },
        "shutdown");
  }

  /** As asked for; nothing, as some manifests pass it on, is all. */
  Set<String> watched() {
    // Whoever watches one of another name is told of nothing, and not why.
    return names(
        "--watch-namespaces",
        watchNamespaces,
        DnsLabel::isOne,
        "which is no name of a namespace; leave the option out to serve all");
  }

  /** Of pickers that name none. */
  PickerImage image() {
    return new PickerImage(
        eppImage,
        List.copyOf(
            names(
                "--epp-pull-secrets",
                pullSecrets,
                DnsSubdomain::isOne,
                "which is no name of a Secret; leave the option out where the registry asks for none")));
  }

  /** Each of a list once. Lists that templates write end in a comma at times. */
  private Set<String> names(
      String option, List<String> given, Predicate<String> isOne, String wrongOne) {
    String all = String.join(",", given);
    if (all.isBlank()) {
      return Set.of();
    }
    Set<String> names = new LinkedHashSet<>();
    for (String name : all.replaceFirst("[\\s,]+$", "").split(",", -1)) {
      if (name.isBlank()) {
        throw wrong(
            "%s is \"%s\", with an empty name in it; take out the comma too many"
                .formatted(option, all));
      }
      if (!isOne.test(name.strip())) {
        throw wrong("%s has \"%s\", %s".formatted(option, name.strip(), wrongOne));
      }
      names.add(name.strip());
    }
    return names;
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  private static String namespace(KubernetesClient client) {
    String own = System.getenv("POD_NAMESPACE");
    String configured = own == null ? client.getNamespace() : own;
    return configured == null ? "fairlead-system" : configured;
  }

  private static String identity() {
    String pod = System.getenv("POD_NAME");
    return (pod == null ? "fairlead-operator" : pod) + "_" + UUID.randomUUID();
  }
}
