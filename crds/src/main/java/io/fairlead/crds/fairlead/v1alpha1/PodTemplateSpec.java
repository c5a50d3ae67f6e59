package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fairlead.crds.Lenient;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What pods of a picker have beyond what the operator gives them.
 *
 * @param labels added; none of the operator's own
 * @param annotations added
 * @param nodeSelector labels of the nodes that they may run on
 * @param affinity which nodes, and beside which pods
 * @param tolerations taints of nodes that they bear
 * @param priorityClassName their PriorityClass; the cluster's default when absent
 * @param imagePullSecrets what the registry of their image asks for
 * @param env variables of the picker's container, added
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record PodTemplateSpec(
    Map<String, String> labels,
    Map<String, String> annotations,
    Map<String, String> nodeSelector,
    @Nullable Affinity affinity,
    List<Toleration> tolerations,
    @Nullable String priorityClassName,
    List<LocalObjectReference> imagePullSecrets,
    List<EnvVar> env) {

  /** Nothing more. */
  public static final PodTemplateSpec EMPTY =
      new PodTemplateSpec(
          Map.of(), Map.of(), Map.of(), null, List.of(), null, List.of(), List.of());

  public PodTemplateSpec {
    labels = Lenient.map(labels);
    annotations = Lenient.map(annotations);
    nodeSelector = Lenient.map(nodeSelector);
    tolerations = Lenient.list(tolerations);
    imagePullSecrets = Lenient.list(imagePullSecrets);
    env = Lenient.list(env);
  }

  /** The same with other labels. */
  public PodTemplateSpec withLabels(Map<String, String> others) {
    return new PodTemplateSpec(
        others,
        annotations,
        nodeSelector,
        affinity,
        tolerations,
        priorityClassName,
        imagePullSecrets,
        env);
  }
}
