package io.fairlead.operator.children;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.ContainerPortBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;

/**
 * The Deployment of a picker. Nothing of the config is in its pod template: a change of models,
 * weights, ports or scheduling is read hot and restarts nothing.
 */
final class PickerDeployment {
  static final int EXT_PROC_PORT = 9002;
  private static final int HEALTH_PORT = 9003;
  private static final int METRICS_PORT = 9090;

  /** Streams get 30 s to finish; gateways get 5 s before that to learn that the pod leaves. */
  private static final int LEAVE_SECONDS = 5;

  private static final long GRACE_SECONDS = 45L;

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
        .withTerminationGracePeriodSeconds(GRACE_SECONDS)
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
        .addNewVolume()
        .withName("tmp")
        .withNewEmptyDir()
        .endEmptyDir()
        .endVolume()
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
        .withArgs(
            "epp",
            "--pool-namespace",
            design.namespace(),
            "--pool-name",
            design.pool(),
            "--config-map",
            design.picker(),
            "--picker",
            design.picker())
        .withEnv(
            fieldEnv("POD_NAME", "metadata.name"),
            fieldEnv("POD_NAMESPACE", "metadata.namespace"),
            fieldEnv("POD_UID", "metadata.uid"))
        .withPorts(
            port("grpc-ext-proc", EXT_PROC_PORT),
            port("grpc-health", HEALTH_PORT),
            port("http-metrics", METRICS_PORT))
        .withResources(resources(design))
        .withNewSecurityContext()
        .withAllowPrivilegeEscalation(false)
        .withReadOnlyRootFilesystem(true)
        .withNewCapabilities()
        .withDrop("ALL")
        .endCapabilities()
        .endSecurityContext()
        .withStartupProbe(health("liveness").withPeriodSeconds(1).withFailureThreshold(60).build())
        .withLivenessProbe(health("liveness").withPeriodSeconds(10).withFailureThreshold(3).build())
        .withReadinessProbe(readiness())
        .withNewLifecycle()
        .withNewPreStop()
        .withNewSleep((long) LEAVE_SECONDS)
        .endPreStop()
        .endLifecycle()
        .addNewVolumeMount()
        .withName("tmp")
        .withMountPath("/tmp")
        .endVolumeMount()
        .build();
  }

  private static Probe readiness() {
    return health("inference-extension").withPeriodSeconds(2).withFailureThreshold(2).build();
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
