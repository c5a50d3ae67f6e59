package io.fairlead.operator.children;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.ContainerPortBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.EnvVarSource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPickerSpec;
import io.fairlead.crds.fairlead.v1alpha1.ExternalPlace;
import io.fairlead.crds.fairlead.v1alpha1.Frontend;
import io.fairlead.crds.fairlead.v1alpha1.NetworkPolicySpec;
import io.fairlead.crds.fairlead.v1alpha1.PodTemplateSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The Deployment of a picker. Nothing of the config is in its pod template: a change of models,
 * weights, ports or scheduling is read hot and restarts nothing.
 */
final class PickerDeployment {
  static final int EXT_PROC_PORT = 9002;
  static final int GATEWAY_PORT = 8080;

  /** The picker's own; all others are sidecars. */
  private static final String GATEWAY = "gateway";

  static final int HEALTH_PORT = 9003;
  static final int METRICS_PORT = 9090;

  /** Where pods tell those that start what they know; no Service leads there. */
  static final int HAND_OVER_PORT = 9004;

  /** Streams get 30 s to finish; gateways get 5 s before that to learn that the pod leaves. */
  private static final int LEAVE_SECONDS = 5;

  private static final long GRACE_SECONDS = 45L;

  /** Whole answers come through a gateway: it gives them ten minutes. */
  private static final long GATEWAY_GRACE_SECONDS = 620L;

  /** Lives as long as the pod does: a container that restarts finds it there. */
  private static final String CHECKPOINT = "/tmp/checkpoint";

  /** The only one that a fieldRef may be of, and the API server's default. */
  private static final String FIELDS_VERSION = "v1";

  /** Digest of what the pool's author wants of the pods: what else changes them is an upgrade. */
  static final String ASKED = "fairlead.io/asked-for";

  /** Of the pods: UID of the account that was made again since others began. */
  private static final String ACCOUNT = "fairlead.io/account";

  /**
   * Before the digest, which fields of an EndpointPicker it is of, and how they are written: of
   * another form's nobody can say that it asks for something else.
   */
  private static final String FORM = "3-";

  /** Fields whose own fields are labels or annotations. */
  private static final Set<String> LABELS =
      Set.of("labels", "annotations", "nodeSelector", "matchLabels");

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private PickerDeployment() {}

  static Deployment of(PickerDesign design) {
    PodTemplateSpec template = template(design);
    PickerOptions options = PickerOptions.of(design);
    return new DeploymentBuilder()
        .withMetadata(
            Children.meta(design, design.picker())
                .addToAnnotations(ASKED, asked(design))
                .addToAnnotations(SchedulerParts.annotations(design.schedulers()))
                .build())
        .withNewSpec()
        .withReplicas(design.settings().autoscaling() == null ? design.settings().replicas() : null)
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
        .withLabels(labels(design, template))
        .withAnnotations(orNull(annotations(design, template)))
        .endMetadata()
        .withNewSpec()
        .withServiceAccountName(design.picker())
        // Said here, it holds whatever hardening of the account says.
        .withAutomountServiceAccountToken(true)
        .withNodeSelector(orNull(template.nodeSelector()))
        .withAffinity(template.affinity())
        .withTolerations(template.tolerations())
        .withPriorityClassName(template.priorityClassName())
        .withImagePullSecrets(pullSecrets(design, template))
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
        .withContainers(containers(design, template, options))
        .withVolumes(volumes(design, options))
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }

  /** Whether what was asked for before can be compared with what is now. */
  static boolean isComparable(String asked) {
    return asked.startsWith(FORM);
  }

  /** All of an EndpointPicker that is in the Deployment, and nothing that is read hot. */
  static String asked(PickerDesign design) {
    EndpointPickerSpec all = design.settings();
    EndpointPickerSpec ofPods =
        new EndpointPickerSpec(
            null,
            all.frontend(),
            all.image(),
            all.replicas(),
            all.resources(),
            null,
            null,
            all.podTemplate(),
            all.allowedOrigins(),
            all.tls(),
            all.endpointTls(),
            all.tracing(),
            all.capture(),
            design.handOverAskedFor(),
            null,
            all.console(),
            null,
            List.of(),
            null,
            List.of(),
            null,
            // Whether there is one is a label of the pods; what it lets through is not in them.
            all.networkPolicy() == null ? null : new NetworkPolicySpec(List.of(), List.of()),
            null);
    List<@Nullable Object> whole = new ArrayList<>();
    whole.add(ofPods);
    for (ExternalPlace place : design.schedulers()) {
      whole.add(place.name());
      whole.add(place.spec().sidecar());
      whole.add(place.spec().service());
    }
    try {
      return FORM + Names.hash(JSON.writeValueAsString(whole));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("what came as JSON could not be written as JSON", e);
    }
  }

  private static List<LocalObjectReference> pullSecrets(
      PickerDesign design, PodTemplateSpec template) {
    return template.imagePullSecrets().isEmpty()
        ? design.image().pullSecrets().stream().map(LocalObjectReference::new).toList()
        : template.imagePullSecrets();
  }

  private static PodTemplateSpec template(PickerDesign design) {
    PodTemplateSpec asked = design.settings().podTemplate();
    return asked == null ? PodTemplateSpec.EMPTY : withoutEmpty(asked);
  }

  /**
   * A field that is empty is stored as one that is absent, and would be a difference for ever; the
   * value of a label may be empty.
   */
  private static PodTemplateSpec withoutEmpty(PodTemplateSpec asked) {
    // What is empty at the top is not in the tree to begin with.
    ObjectNode tree = JSON.valueToTree(asked);
    removeEmpty(tree);
    try {
      return JSON.treeToValue(tree, PodTemplateSpec.class);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("what came as JSON could not be read as JSON", e);
    }
  }

  private static boolean isEmpty(JsonNode value) {
    return value.isTextual() && value.textValue().isEmpty();
  }

  private static void removeEmpty(JsonNode within) {
    if (within instanceof ObjectNode object) {
      object.properties().removeIf(field -> isEmpty(field.getValue()));
    }
    for (Map.Entry<String, JsonNode> field : within.properties()) {
      if (!LABELS.contains(field.getKey())) {
        removeEmpty(field.getValue());
      }
    }
    if (within.isArray()) {
      within.forEach(PickerDeployment::removeEmpty);
    }
  }

  private static Map<String, String> labels(PickerDesign design, PodTemplateSpec template) {
    Map<String, String> labels = new TreeMap<>(template.labels());
    labels.putAll(Labels.all(design.picker()));
    if (design.settings().networkPolicy() != null) {
      labels.put(Labels.NETWORK_POLICY, "own");
    }
    return labels;
  }

  private static Map<String, String> annotations(PickerDesign design, PodTemplateSpec template) {
    Map<String, String> annotations = new TreeMap<>(template.annotations());
    if (design.account() != null) {
      annotations.put(ACCOUNT, design.account());
    }
    return annotations;
  }

  /**
   * Which account pods are to have begun with. The API server refuses tokens of one that was
   * deleted, and a pod may go on with such a token for most of an hour. So where an account is made
   * again its pods are replaced; where it is as old as they are, nothing is said of it, and nothing
   * is replaced.
   *
   * @param account as observed; null while it is not seen
   * @param pods that there are
   * @return its UID; null where any does
   */
  static @Nullable String account(
      Deployment there, @Nullable ServiceAccount account, List<Pod> pods) {
    Map<String, String> annotations = there.getSpec().getTemplate().getMetadata().getAnnotations();
    String before = annotations == null ? null : annotations.get(ACCOUNT);
    if (account == null) {
      return before;
    }
    return before != null
            || (isMadeBefore(there, account)
                && pods.stream().anyMatch(pod -> !isMadeBefore(account, pod)))
        ? account.getMetadata().getUid()
        : null;
  }

  /** By the API server's clock, to the second. */
  private static boolean isMadeBefore(HasMetadata one, HasMetadata other) {
    return one.getMetadata()
            .getCreationTimestamp()
            .compareTo(other.getMetadata().getCreationTimestamp())
        < 0;
  }

  /** An empty map would be applied as one, and be a difference where the server keeps none. */
  private static @Nullable Map<String, String> orNull(Map<String, String> map) {
    return map.isEmpty() ? null : map;
  }

  private static List<Container> containers(
      PickerDesign design, PodTemplateSpec template, PickerOptions options) {
    List<Container> containers = new ArrayList<>();
    containers.add(container(design, template, options));
    design.schedulers().stream().map(SchedulerParts::container).forEach(containers::addAll);
    return containers;
  }

  private static List<Volume> volumes(PickerDesign design, PickerOptions options) {
    List<Volume> volumes = new ArrayList<>();
    volumes.add(SchedulerParts.emptyDir("tmp"));
    volumes.addAll(options.volumes());
    design.schedulers().stream().map(SchedulerParts::volumes).forEach(volumes::addAll);
    return volumes;
  }

  private static List<VolumeMount> mounts(PickerDesign design, PickerOptions options) {
    List<VolumeMount> mounts = new ArrayList<>();
    mounts.add(new VolumeMountBuilder().withName("tmp").withMountPath("/tmp").build());
    mounts.addAll(options.mounts());
    design.schedulers().stream().map(SchedulerParts::mounts).forEach(mounts::addAll);
    return mounts;
  }

  private static Container container(
      PickerDesign design, PodTemplateSpec template, PickerOptions options) {
    return new ContainerBuilder()
        .withName(Children.CONTAINER)
        .withImage(design.image().name())
        .withImagePullPolicy("IfNotPresent")
        .withArgs(
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
            CHECKPOINT)
        .addAllToArgs(options.arguments())
        .withEnv(
            fieldEnv("POD_NAME", "metadata.name"),
            fieldEnv("POD_NAMESPACE", "metadata.namespace"),
            fieldEnv("POD_UID", "metadata.uid"))
        .addAllToEnv(template.env().stream().map(PickerDeployment::complete).toList())
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
        .withVolumeMounts(mounts(design, options))
        .build();
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
            .filter(container -> Children.CONTAINER.equals(container.getName()))
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
    ResourceRequirements asked = design.settings().resources();
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
        .withApiVersion(FIELDS_VERSION)
        .withFieldPath(path)
        .endFieldRef()
        .endValueFrom()
        .build();
  }

  /** A fieldRef is applied whole: without the server's default in it, it never matches. */
  private static EnvVar complete(EnvVar asked) {
    EnvVarSource source = asked.getValueFrom();
    return source == null || source.getFieldRef() == null
        ? asked
        : new EnvVarBuilder(asked)
            .editValueFrom()
            .editFieldRef()
            .withApiVersion(FIELDS_VERSION)
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
