package io.fairlead.operator.children;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.ServicePort;
import io.fabric8.kubernetes.api.model.ServicePortBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.document.ConfigMapTexts;
import io.fairlead.crds.fairlead.v1alpha1.AutoscalingSpec;
import io.fairlead.crds.fairlead.v1alpha1.DisruptionBudgetSpec;
import io.fairlead.crds.fairlead.v1alpha1.ExternalPlace;
import io.fairlead.crds.fairlead.v1alpha1.Frontend;
import io.fairlead.crds.fairlead.v1alpha1.HandOverSpec;
import io.fairlead.crds.fairlead.v1alpha1.NetworkPolicySpec;
import io.fairlead.crds.fairlead.v1alpha1.SecretKeyRef;
import io.fairlead.operator.children.PickerDesign.ServicePlace;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Builds the desired children of one pool, each with only the fields that we mean. */
public final class Children {
  /** Key of the document in the ConfigMap. */
  public static final String CONFIG_KEY = "config.yaml";

  /** Key of the document that ran before it, in the same ConfigMap. */
  public static final String LAST_GOOD_KEY = "last-good.yaml";

  /** Key of what pods share to hand over what they know, in whichever Secret. */
  public static final String HAND_OVER_KEY = PickerOptions.HAND_OVER_KEY;

  /** Key of the console's token in its Secret, where the reference names none. */
  public static final String CONSOLE_TOKEN_KEY = "token";

  /** The picker's own container; all others are sidecars that its author asks for. */
  public static final String CONTAINER = "epp";

  /** The one ClusterRole that pickers are bound to; it ships with the install. */
  public static final String CLUSTER_ROLE = "fairlead-epp";

  private static final int SECRET_BYTES = 32;
  private static final SecureRandom RANDOM = new SecureRandom();

  private Children() {}

  /** Key of the console's token in the Secret that the reference names. */
  public static String consoleTokenKey(SecretKeyRef token) {
    return token.key() == null ? CONSOLE_TOKEN_KEY : token.key();
  }

  /** Every child in the order in which one needs the other. */
  public static List<HasMetadata> of(PickerDesign design) {
    List<HasMetadata> children = new ArrayList<>();
    children.add(serviceAccount(design));
    children.add(roleBinding(design));
    String document = design.document();
    ConfigHash hash = design.documentHash();
    if (document != null && hash != null) {
      children.add(configMap(design, document, hash));
    }
    ServicePlace place = design.service();
    if (place != null) {
      children.add(service(design, place));
    }
    NetworkPolicySpec policy = design.settings().networkPolicy();
    if (policy != null) {
      children.add(PickerNetworkPolicy.of(design, policy));
    }
    children.add(PickerDeployment.of(design));
    AutoscalingSpec autoscaling = design.settings().autoscaling();
    if (autoscaling != null) {
      children.add(PickerAutoscaler.of(design, autoscaling));
    }
    // A budget for one pod would keep its node from being drained.
    if (design.mayBeMany()) {
      children.add(disruptionBudget(design));
    }
    return List.copyOf(children);
  }

  /** What the picker is that runs in this Deployment. */
  public static Frontend frontend(Deployment there) {
    return PickerDeployment.frontend(there);
  }

  /** Schedulers of the author's own that the pods of this Deployment have. */
  public static List<ExternalPlace> schedulers(Deployment there) {
    return SchedulerParts.of(there.getMetadata().getAnnotations());
  }

  /**
   * UID of the account that pods of this Deployment are to have begun with.
   *
   * @param account that there is; null while it is not seen
   * @param pods that there are
   * @return null where any does
   */
  public static @Nullable String account(
      Deployment there, @Nullable ServiceAccount account, List<Pod> pods) {
    return PickerDeployment.account(there, account, pods);
  }

  /** Whether the pods that run are others than the pool's author asks for now. */
  public static boolean askedFor(PickerDesign design, Deployment there) {
    Map<String, String> annotations = there.getMetadata().getAnnotations();
    String before = annotations == null ? null : annotations.get(PickerDeployment.ASKED);
    // An operator that did not say so, or said it of other fields, made it: that is an upgrade.
    return before != null
        && PickerDeployment.isComparable(before)
        && !before.equals(PickerDeployment.asked(design));
  }

  /**
   * The Secret that pods share to hand over what they know, where they do and its author names
   * none. What is in it is chance, so it is made once and never changed.
   */
  public static Optional<Secret> handOverSecret(PickerDesign design) {
    HandOverSpec asked = design.handOver();
    String name = design.handOverSecret();
    if (asked == null || asked.secretName() != null || name == null) {
      return Optional.empty();
    }
    byte[] chance = new byte[SECRET_BYTES];
    RANDOM.nextBytes(chance);
    return Optional.of(
        new SecretBuilder()
            .withMetadata(meta(design, name).build())
            .withType("Opaque")
            .addToStringData(PickerOptions.HAND_OVER_KEY, HexFormat.of().formatHex(chance))
            .build());
  }

  /** Whether pods of this Deployment share the Secret. */
  public static boolean mounts(Deployment there, Secret secret) {
    return mounts(there.getSpec().getTemplate().getSpec(), secret.getMetadata().getName());
  }

  private static boolean mounts(PodSpec pod, String secret) {
    return pod.getVolumes().stream()
        .map(Volume::getSecret)
        .anyMatch(of -> of != null && secret.equals(of.getSecretName()));
  }

  /** Whether pods like this hand over what they know by the Secret that is made for them. */
  public static boolean handsOver(PodSpec pod, String picker) {
    return mounts(pod, Names.handOver(picker));
  }

  private static ServiceAccount serviceAccount(PickerDesign design) {
    return new ServiceAccountBuilder().withMetadata(meta(design, design.picker()).build()).build();
  }

  private static RoleBinding roleBinding(PickerDesign design) {
    return new RoleBindingBuilder()
        .withMetadata(meta(design, design.picker()).build())
        .withNewRoleRef()
        .withApiGroup("rbac.authorization.k8s.io")
        .withKind("ClusterRole")
        .withName(CLUSTER_ROLE)
        .endRoleRef()
        .addNewSubject()
        .withKind("ServiceAccount")
        .withName(design.picker())
        .withNamespace(design.namespace())
        .endSubject()
        .build();
  }

  private static ConfigMap configMap(PickerDesign design, String document, ConfigHash hash) {
    Map<String, String> data = new TreeMap<>();
    Map<String, String> binaryData = new TreeMap<>();
    ConfigMapTexts.put(data, binaryData, CONFIG_KEY, document, LAST_GOOD_KEY, design.lastGood());
    return new ConfigMapBuilder()
        .withMetadata(
            meta(design, design.picker())
                .addToAnnotations(ConfigHash.ANNOTATION, hash.hex())
                .build())
        .withData(data)
        .withBinaryData(binaryData)
        .build();
  }

  private static Service service(PickerDesign design, ServicePlace place) {
    return new ServiceBuilder()
        .withMetadata(meta(design, place.name()).build())
        .withNewSpec()
        .withSelector(Labels.selector(design.picker()))
        .withPorts(servicePort(design, place.port()))
        .endSpec()
        .build();
  }

  private static ServicePort servicePort(PickerDesign design, int number) {
    ServicePortBuilder port = new ServicePortBuilder().withProtocol("TCP").withPort(number);
    return switch (design.frontend()) {
      case EXT_PROC ->
          port.withName("grpc-ext-proc")
              // The port is TLS, so h2c, HTTP/2 in clear text, would be untrue. This says HTTP/2
              // and leaves TLS to the gateway, as it does for every picker of the protocol.
              .withAppProtocol("http2")
              .withTargetPort(new IntOrString(PickerDeployment.EXT_PROC_PORT))
              .build();
      case GATEWAY ->
          port.withName("http")
              .withAppProtocol(design.settings().tls() == null ? "http" : "https")
              .withTargetPort(new IntOrString(PickerDeployment.GATEWAY_PORT))
              .build();
    };
  }

  private static PodDisruptionBudget disruptionBudget(PickerDesign design) {
    DisruptionBudgetSpec asked = design.settings().disruptionBudget();
    return new PodDisruptionBudgetBuilder()
        .withMetadata(meta(design, design.picker()).build())
        .withNewSpec()
        .withMinAvailable(asked == null ? null : pods(asked.minAvailable()))
        .withMaxUnavailable(asked == null ? new IntOrString(1) : pods(asked.maxUnavailable()))
        .withNewSelector()
        .withMatchLabels(Labels.selector(design.picker()))
        .endSelector()
        .endSpec()
        .build();
  }

  private static @Nullable IntOrString pods(@Nullable JsonNode asked) {
    if (asked == null || asked.isNull()) {
      return null;
    }
    return asked.isNumber() ? new IntOrString(asked.intValue()) : new IntOrString(asked.asText());
  }

  /**
   * Owned by the pool, not by an EndpointPicker: deleting the picker's settings must not take the
   * pool's Service and pods with it. No blocking: a pool's deletion waits for nothing.
   */
  static ObjectMetaBuilder meta(PickerDesign design, String name) {
    ObjectMeta owned = new ObjectMeta();
    owned.setName(name);
    owned.setNamespace(design.namespace());
    owned.setLabels(Labels.all(design.picker()));
    return new ObjectMetaBuilder(owned)
        .addNewOwnerReference()
        .withApiVersion(design.poolApiVersion())
        .withKind("InferencePool")
        .withName(design.pool())
        .withUid(design.poolUid())
        .withController(true)
        .withBlockOwnerDeletion(false)
        .endOwnerReference();
  }
}
