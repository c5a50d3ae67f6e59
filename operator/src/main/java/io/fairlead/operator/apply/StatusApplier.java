package io.fairlead.operator.apply;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPickerStatus;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.crds.v1alpha2.InferenceModelStatus;
import io.fairlead.operator.status.ConditionList;
import io.fairlead.operator.status.ConditionType;
import io.fairlead.operator.status.Verdict;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Writes statuses by forced server-side apply; sends nothing that is there. */
public final class StatusApplier {
  /** Field manager of statuses. */
  public static final String FIELD_MANAGER = "fairlead-status";

  private static final PatchContext APPLY = ChildApplier.forced(FIELD_MANAGER);
  private static final int NOT_FOUND = 404;
  private static final JsonMapper JSON = new JsonMapper();

  private final KubernetesClient client;
  private final InstantSource clock;
  private final Events events;

  /**
   * @param events where transitions are told
   */
  public StatusApplier(KubernetesClient client, InstantSource clock, Events events) {
    this.client = client;
    this.clock = clock;
    this.events = events;
  }

  /** Makes the model's conditions say this. */
  public void write(InferenceModel model, Map<ConditionType, Verdict> verdicts) {
    if (ConditionList.same(conditions(model), merged(conditions(model), verdicts, model))) {
      return;
    }
    // The informer may lag behind our own last write; times must be merged with what is there.
    InferenceModel live = client.resource(model).get();
    if (gone(live, model)) {
      return;
    }
    List<Condition> wanted = merged(conditions(live), verdicts, model);
    if (!ConditionList.same(conditions(live), wanted)) {
      InferenceModel patch = new InferenceModel();
      patch.setStatus(new InferenceModelStatus(wanted));
      if (send(patch, model)) {
        events.tell(model, conditions(live), wanted);
      }
    }
  }

  /**
   * Makes these conditions of an object say this. Conditions of other types are others': upstream's
   * schemas make some by default.
   */
  public void write(GenericKubernetesResource object, Map<ConditionType, Verdict> verdicts) {
    List<Condition> cached = conditions(object, verdicts);
    if (ConditionList.same(cached, merged(cached, verdicts, object))) {
      return;
    }
    GenericKubernetesResource live = client.resource(object).get();
    if (gone(live, object)) {
      return;
    }
    List<Condition> before = conditions(live, verdicts);
    List<Condition> wanted = merged(before, verdicts, object);
    if (!ConditionList.same(before, wanted)) {
      GenericKubernetesResource patch = new GenericKubernetesResource();
      patch.setApiVersion(object.getApiVersion());
      patch.setKind(object.getKind());
      patch.setAdditionalProperty("status", Map.of("conditions", wanted));
      if (send(patch, object)) {
        events.tell(object, before, wanted);
      }
    }
  }

  /** Whether conditions of ours are in it. */
  public static boolean told(HasMetadata object) {
    return object.getMetadata().getManagedFields().stream()
        .anyMatch(fields -> FIELD_MANAGER.equals(fields.getManager()));
  }

  /**
   * Makes the picker's status say this.
   *
   * @param status makes the status around the conditions
   */
  public void write(
      EndpointPicker picker,
      Map<ConditionType, Verdict> verdicts,
      Function<List<Condition>, EndpointPickerStatus> status) {
    if (same(picker.getStatus(), status.apply(merged(conditions(picker), verdicts, picker)))) {
      return;
    }
    EndpointPicker live = client.resource(picker).get();
    if (gone(live, picker)) {
      return;
    }
    EndpointPickerStatus wanted = status.apply(merged(conditions(live), verdicts, picker));
    if (!same(live.getStatus(), wanted)) {
      EndpointPicker patch = new EndpointPicker();
      patch.setStatus(wanted);
      if (send(patch, picker)) {
        events.tell(picker, conditions(live), wanted.conditions());
      }
    }
  }

  /**
   * @return whether the object is still there
   */
  private boolean send(HasMetadata patch, HasMetadata object) {
    patch.setMetadata(
        new ObjectMetaBuilder()
            .withName(object.getMetadata().getName())
            .withNamespace(object.getMetadata().getNamespace())
            .withUid(object.getMetadata().getUid())
            .build());
    try {
      client.resource(patch).subresource("status").patch(APPLY);
      return true;
    } catch (KubernetesClientException e) {
      if (e.getCode() != NOT_FOUND) {
        throw e;
      }
      return false;
    }
  }

  private static boolean gone(@Nullable HasMetadata live, HasMetadata object) {
    return live == null || !live.getMetadata().getUid().equals(object.getMetadata().getUid());
  }

  private List<Condition> merged(
      List<Condition> previous, Map<ConditionType, Verdict> verdicts, HasMetadata object) {
    return ConditionList.merge(
        previous, verdicts, object.getMetadata().getGeneration(), clock.instant());
  }

  private static boolean same(@Nullable EndpointPickerStatus before, EndpointPickerStatus after) {
    return before != null
        && ConditionList.same(before.conditions(), after.conditions())
        && withoutConditions(before).equals(withoutConditions(after));
  }

  private static EndpointPickerStatus withoutConditions(EndpointPickerStatus status) {
    return new EndpointPickerStatus(
        status.observedGeneration(),
        status.replicas(),
        status.readyReplicas(),
        status.selector(),
        status.configHash(),
        status.models(),
        status.endpoints(),
        status.image(),
        List.of());
  }

  private static List<Condition> conditions(InferenceModel model) {
    return model.getStatus() == null ? List.of() : model.getStatus().conditions();
  }

  /** Those of the types that {@code verdicts} are about. */
  private static List<Condition> conditions(
      GenericKubernetesResource object, Map<ConditionType, Verdict> verdicts) {
    return object.get("status", "conditions") instanceof List<?> list
        ? list.stream()
            .map(condition -> JSON.convertValue(condition, Condition.class))
            .filter(
                condition ->
                    verdicts.keySet().stream()
                        .anyMatch(type -> type.wireName().equals(condition.getType())))
            .toList()
        : List.of();
  }

  private static List<Condition> conditions(EndpointPicker picker) {
    return picker.getStatus() == null ? List.of() : picker.getStatus().conditions();
  }
}
