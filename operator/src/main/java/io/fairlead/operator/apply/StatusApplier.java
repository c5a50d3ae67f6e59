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
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Writes statuses by forced server-side apply; sends nothing that is there. */
public final class StatusApplier {
  /** Field manager of statuses. */
  public static final String FIELD_MANAGER = "fairlead-status";

  private static final PatchContext APPLY = ChildApplier.forced(FIELD_MANAGER);
  private static final int NOT_FOUND = 404;
  private static final int CONFLICT = 409;
  private static final JsonMapper JSON = new JsonMapper();

  private final KubernetesClient client;
  private final InstantSource clock;
  private final Events events;
  private final OwnWrites own = new OwnWrites(System::nanoTime);

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
    write(
        model,
        seen -> {
          List<Condition> before = conditions(seen);
          List<Condition> wanted = merged(before, verdicts, model);
          if (ConditionList.same(before, wanted)) {
            return Optional.empty();
          }
          InferenceModel patch = new InferenceModel();
          patch.setStatus(new InferenceModelStatus(wanted));
          return Optional.of(new Change(patch, before, wanted));
        });
  }

  /**
   * Makes these conditions of an object say this. Conditions of other types are others': upstream's
   * schemas make some by default.
   */
  public void write(GenericKubernetesResource object, Map<ConditionType, Verdict> verdicts) {
    write(
        object,
        seen -> {
          List<Condition> before = conditions(seen, verdicts);
          List<Condition> wanted = merged(before, verdicts, object);
          if (ConditionList.same(before, wanted)) {
            return Optional.empty();
          }
          GenericKubernetesResource patch = new GenericKubernetesResource();
          patch.setApiVersion(object.getApiVersion());
          patch.setKind(object.getKind());
          patch.setAdditionalProperty("status", Map.of("conditions", wanted));
          return Optional.of(new Change(patch, before, wanted));
        });
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
    write(
        picker,
        seen -> {
          List<Condition> before = conditions(seen);
          EndpointPickerStatus wanted = status.apply(merged(before, verdicts, picker));
          if (same(seen.getStatus(), wanted)) {
            return Optional.empty();
          }
          EndpointPicker patch = new EndpointPicker();
          patch.setStatus(wanted);
          return Optional.of(new Change(patch, before, wanted.conditions()));
        });
  }

  /** What a write would change; the patch has no metadata yet. */
  private record Change(HasMetadata patch, List<Condition> before, List<Condition> after) {}

  private <R extends HasMetadata> void write(R cached, Function<R, Optional<Change>> change) {
    R seen = own.newest(cached);
    Optional<Change> wanted = change.apply(seen);
    if (wanted.isEmpty() || send(wanted.get(), seen, seen.getMetadata().getResourceVersion())) {
      return;
    }
    // The informer lagged behind what others wrote; times must be merged with what is there.
    R live = client.resource(seen).get();
    if (!gone(live, seen)) {
      change.apply(live).ifPresent(now -> send(now, seen, null));
    }
  }

  /**
   * @param version that the object must still have; null for any
   * @return false when it has another, and nothing was written
   */
  private boolean send(Change change, HasMetadata object, @Nullable String version) {
    change
        .patch()
        .setMetadata(
            new ObjectMetaBuilder()
                .withName(object.getMetadata().getName())
                .withNamespace(object.getMetadata().getNamespace())
                .withUid(object.getMetadata().getUid())
                .withResourceVersion(version)
                .build());
    try {
      own.wrote(client.resource(change.patch()).subresource("status").patch(APPLY));
    } catch (KubernetesClientException e) {
      if (e.getCode() == CONFLICT && version != null) {
        return false;
      }
      if (e.getCode() != NOT_FOUND) {
        throw e;
      }
      return true;
    }
    events.tell(object, change.before(), change.after());
    return true;
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
