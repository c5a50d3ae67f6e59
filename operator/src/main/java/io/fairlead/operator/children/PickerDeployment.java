package io.fairlead.operator.children;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.ContainerPortBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fairlead.crds.fairlead.v1alpha1.ConsoleSpec;
import io.fairlead.crds.fairlead.v1alpha1.Frontend;
import io.fairlead.crds.fairlead.v1alpha1.SecretKeyRef;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The Deployment of a picker. Nothing of the config is in its pod template: a change of models,
 * weights, ports or scheduling is read hot and restarts nothing.
 */
final class PickerDeployment {
  static final int EXT_PROC_PORT = 9002;
  static final int GATEWAY_PORT = 8080;
  private static final String GATEWAY = "gateway";
  private static final int HEALTH_PORT = 9003;
  private static final int METRICS_PORT = 9090;

  /** Streams get 30 s to finish; gateways get 5 s before that to learn that the pod leaves. */
  private static final int LEAVE_SECONDS = 5;

  private static final long GRACE_SECONDS = 45L;

  /** Whole answers come through a gateway: it gives them ten minutes. */
  private static final long GATEWAY_GRACE_SECONDS = 620L;

  /** Lives as long as the pod does: a container that restarts finds it there. */
  private static final String CHECKPOINT = "/tmp/checkpoint";

  private static final String CONSOLE_TOKEN = "/etc/fairlead/console";

  /** The server's default: a volume is applied whole, and without it would never match. */
  private static final int READABLE = 0644;

  private PickerDeployment() {}

  static Deployment of(PickerDesign design) {
    return new DeploymentBuilder()
        .withMetadata(Children.meta(design, design.picker()).build())
        .withNewSpec()
        .withReplicas(design.replicas())
        .withRevisionHistoryLimit(3)
        .withProgressDeadlineSeconds(300)
        .withNewStrategy()
        .withType("RollingUpdate")
        .withNewRollingUpdate()
        .withMaxSurge(new IntOrString(1))
        .withMaxUnavailable(new IntOrString(0))
        .endRollingUpdate()
        .endStrategy()
        .withNewSelector()
        .withMatchLabels(Labels.selector(design.picker()))
        .endSelector()
        .withNewTemplate()
        .withNewMetadata()
        .withLabels(Labels.all(design.picker()))
        .endMetadata()
        .withNewSpec()
        .withServiceAccountName(design.picker())
        .withTerminationGracePeriodSeconds(grace(design.frontend()))
        .withNewSecurityContext()
        .withRunAsNonRoot(true)
        .withNewSeccompProfile()
        .withType("RuntimeDefault")
        .endSeccompProfile()
        .endSecurityContext()
        .addNewTopologySpreadConstraint()
        .withMaxSkew(1)
        .withTopologyKey("kubernetes.io/hostname")
        .withWhenUnsatisfiable("ScheduleAnyway")
        .withNewLabelSelector()
        .withMatchLabels(Labels.selector(design.picker()))
        .endLabelSelector()
        .endTopologySpreadConstraint()
        .withContainers(container(design))
        .withVolumes(volumes(design))
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }

  private static Container container(PickerDesign design) {
    return new ContainerBuilder()
        .withName("epp")
        .withImage(design.image())
        .withImagePullPolicy("IfNotPresent")
        .withArgs(arguments(design))
        .withEnv(
            fieldEnv("POD_NAME", "metadata.name"),
            fieldEnv("POD_NAMESPACE", "metadata.namespace"),
            fieldEnv("POD_UID", "metadata.uid"))
        .withPorts(ports(design.frontend()))
        .withResources(resources(design))
        .withNewSecurityContext()
        .withAllowPrivilegeEscalation(false)
        .withReadOnlyRootFilesystem(true)
        .withNewCapabilities()
        .withDrop("ALL")
        .endCapabilities()
        .endSecurityContext()
        .withStartupProbe(alive(design).withPeriodSeconds(1).withFailureThreshold(60).build())
        .withLivenessProbe(alive(design).withPeriodSeconds(10).withFailureThreshold(3).build())
        .withReadinessProbe(ready(design).withPeriodSeconds(2).withFailureThreshold(2).build())
        .withNewLifecycle()
        .withNewPreStop()
        .withNewSleep((long) LEAVE_SECONDS)
        .endPreStop()
        .endLifecycle()
        .withVolumeMounts(mounts(design))
        .build();
  }

  private static List<String> arguments(PickerDesign design) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                command(design.frontend()),
                "--pool-namespace",
                design.namespace(),
                "--pool-name",
                design.pool(),
                "--config-map",
                design.picker(),
                "--picker",
                design.picker(),
                "--checkpoint",
                CHECKPOINT));
    if (design.console() != null && design.console().isEnabled()) {
      arguments.add("--console");
      if (token(design) != null) {
        arguments.addAll(List.of("--console-token-file", CONSOLE_TOKEN + "/token"));
      }
    }
    return arguments;
  }

  /** Where the console's token is; null where there is none. */
  private static @Nullable SecretKeyRef token(PickerDesign design) {
    ConsoleSpec console = design.console();
    if (console == null || !console.isEnabled()) {
      return null;
    }
    SecretKeyRef token = console.tokenSecretRef();
    return token == null || token.name() == null ? null : token;
  }

  private static List<Volume> volumes(PickerDesign design) {
    List<Volume> volumes = new ArrayList<>();
    volumes.add(new VolumeBuilder().withName("tmp").withNewEmptyDir().endEmptyDir().build());
    SecretKeyRef token = token(design);
    if (token != null) {
      volumes.add(
          new VolumeBuilder()
              .withName("console-token")
              .withNewSecret()
              .withSecretName(token.name())
              // The picker serves without it, and sees it come: a page must not keep a pool down.
              .withOptional(true)
              .withDefaultMode(READABLE)
              .addNewItem()
              .withKey(token.key() == null ? "token" : token.key())
              .withPath("token")
              .endItem()
              .endSecret()
              .build());
    }
    return volumes;
  }

  private static List<VolumeMount> mounts(PickerDesign design) {
    VolumeMount tmp = new VolumeMountBuilder().withName("tmp").withMountPath("/tmp").build();
    if (token(design) == null) {
      return List.of(tmp);
    }
    return List.of(
        tmp,
        new VolumeMountBuilder()
            .withName("console-token")
            .withMountPath(CONSOLE_TOKEN)
            .withReadOnly(true)
            .build());
  }

  private static String command(Frontend frontend) {
    return switch (frontend) {
      case EXT_PROC -> "epp";
      case GATEWAY -> GATEWAY;
    };
  }

  /** What a Deployment that is there runs. */
  static Frontend frontend(Deployment there) {
    boolean gateway =
        there.getSpec().getTemplate().getSpec().getContainers().stream()
            .map(Container::getArgs)
            .anyMatch(arguments -> !arguments.isEmpty() && arguments.getFirst().equals(GATEWAY));
    return gateway ? Frontend.GATEWAY : Frontend.EXT_PROC;
  }

  private static long grace(Frontend frontend) {
    return switch (frontend) {
      case EXT_PROC -> GRACE_SECONDS;
      case GATEWAY -> GATEWAY_GRACE_SECONDS;
    };
  }

  private static List<ContainerPort> ports(Frontend frontend) {
    ContainerPort metrics = port("http-metrics", METRICS_PORT);
    return switch (frontend) {
      case EXT_PROC ->
          List.of(port("grpc-ext-proc", EXT_PROC_PORT), port("grpc-health", HEALTH_PORT), metrics);
      case GATEWAY -> List.of(port("http", GATEWAY_PORT), metrics);
    };
  }

  private static ProbeBuilder alive(PickerDesign design) {
    return switch (design.frontend()) {
      case EXT_PROC -> health("liveness");
      case GATEWAY -> page("/healthz");
    };
  }

  private static ProbeBuilder ready(PickerDesign design) {
    return switch (design.frontend()) {
      case EXT_PROC -> health("inference-extension");
      case GATEWAY -> page("/readyz");
    };
  }

  private static ProbeBuilder page(String path) {
    return new ProbeBuilder()
        .withTimeoutSeconds(2)
        .withNewHttpGet()
        .withPath(path)
        .withPort(new IntOrString(METRICS_PORT))
        // An httpGet is applied whole: without the server's default in it, it never matches.
        .withScheme("HTTP")
        .endHttpGet();
  }

  private static ProbeBuilder health(String service) {
    return new ProbeBuilder()
        .withTimeoutSeconds(2)
        .withNewGrpc()
        .withPort(HEALTH_PORT)
        .withService(service)
        .endGrpc();
  }

  private static ResourceRequirements resources(PickerDesign design) {
    ResourceRequirements asked = design.resources();
    if (asked != null) {
      return asked;
    }
    return new ResourceRequirementsBuilder()
        .addToRequests("cpu", new Quantity("500m"))
        .addToRequests("memory", new Quantity("512Mi"))
        .addToLimits("memory", new Quantity("1Gi"))
        .build();
  }

  private static EnvVar fieldEnv(String name, String path) {
    return new EnvVarBuilder()
        .withName(name)
        .withNewValueFrom()
        .withNewFieldRef()
        // A fieldRef is applied whole: without the server's default in it, it never matches.
        .withApiVersion("v1")
        .withFieldPath(path)
        .endFieldRef()
        .endValueFrom()
        .build();
  }

  private static ContainerPort port(String name, int number) {
    return new ContainerPortBuilder()
        .withName(name)
        .withContainerPort(number)
        .withProtocol("TCP")
        .build();
  }
}
