package io.fairlead.operator.apply;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
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
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Writes statuses by forced server-side apply; sends nothing that is there. */
public final class StatusApplier {
  /** Field manager of statuses. */
  public static final String FIELD_MANAGER = "fairlead-status";

  private static final PatchContext APPLY = ChildApplier.forced(FIELD_MANAGER);
  private static final int NOT_FOUND = 404;
  private static final int CONFLICT = 409;

  private static final String STATUS = "status";

  /** By how field managers' fields name it: every type of condition that we may write. */
  private static final Map<String, String> CONDITIONS =
      Arrays.stream(ConditionType.values())
          .map(ConditionType::wireName)
          .collect(Collectors.toUnmodifiableMap("k:{\"type\":\"%s\"}"::formatted, type -> type));

  private static final Set<String> WORDS = Set.of("f:reason", "f:message");

  /** What a condition can't be without, as field managers' fields name it. */
  private static final Set<String> WHOLE =
      Set.of("f:status", "f:reason", "f:message", "f:lastTransitionTime");

  private static final JsonMapper JSON = new JsonMapper();

  private final KubernetesClient client;
  private final InstantSource clock;
  private final Events events;
  private final WriteLanes lanes;
  private final StatusSteps steps;
  private final NewestSeen seenLast = new NewestSeen(System::nanoTime);
  private final Contradictions contradictions;
  private final RefusedStatuses refused;

  /**
   * @param events where transitions are told
   * @param lanes shared with whoever else writes on the same threads
   * @param steps told of what is written
   * @param contradictions shared with whoever else writes statuses
   * @param refused shared like these
   */
  public StatusApplier(
      KubernetesClient client,
      InstantSource clock,
      Events events,
      WriteLanes lanes,
      StatusSteps steps,
      Contradictions contradictions,
      RefusedStatuses refused) {
    this.refused = refused;
    this.client = client;
    this.clock = clock;
    this.events = events;
    this.lanes = lanes;
    this.steps = steps;
    this.contradictions = contradictions;
  }

  /**
   * Makes the model's conditions say this.
   *
   * @return when to say it, since somebody says otherwise again and again; empty when it is said
   */
  public Optional<Duration> write(InferenceModel model, Map<ConditionType, Verdict> verdicts) {
    return write(model, seen -> change(seen, model, verdicts));
  }

  /**
   * Makes these conditions of an object say this. Conditions of other types are others': upstream's
   * schemas make some by default.
   *
   * @return as of {@link #write(InferenceModel, Map)}
   */
  public Optional<Duration> write(
      GenericKubernetesResource object, Map<ConditionType, Verdict> verdicts) {
    return write(object, seen -> change(seen, object, verdicts));
  }

  /**
   * Makes the conditions say this of a model that no pool of ours has. Whoever has it may tell of
   * it: where anybody does, that stays, and what we told before is taken back.
   */
  public Optional<Duration> writeUnlessOthers(
      InferenceModel model, Map<ConditionType, Verdict> verdicts) {
    return write(
        model,
        seen ->
            toldByOthers(seen).isEmpty()
                ? change(seen, model, verdicts)
                : takenBack(seen, conditions(seen), StatusApplier::patch));
  }

  /** The same of one of upstream's objects. */
  public Optional<Duration> writeUnlessOthers(
      GenericKubernetesResource object, Map<ConditionType, Verdict> verdicts) {
    return write(
        object,
        seen ->
            toldByOthers(seen).isEmpty()
                ? change(seen, object, verdicts)
                : takenBack(seen, conditions(seen, verdicts), left -> patch(seen, left)));
  }

  /**
   * @param judged the one that the verdicts are of, which may have been edited since
   */
  private Optional<Change> change(
      InferenceModel seen, InferenceModel judged, Map<ConditionType, Verdict> verdicts) {
    List<Condition> before = conditions(seen);
    List<Condition> wanted = merged(before, ConditionList.besideForeign(before, verdicts), judged);
    if (ConditionList.same(before, wanted)) {
      return Optional.empty();
    }
    return Optional.of(
        new Change(patch(wanted), before, ofTheModel(wanted), ConditionList.withoutTimes(wanted)));
  }

  private static InferenceModel patch(List<Condition> conditions) {
    InferenceModel patch = new InferenceModel();
    patch.setStatus(conditions.isEmpty() ? null : new InferenceModelStatus(conditions));
    return patch;
  }

  private Optional<Change> change(
      GenericKubernetesResource seen,
      GenericKubernetesResource judged,
      Map<ConditionType, Verdict> verdicts) {
    List<Condition> before = conditions(seen, verdicts);
    List<Condition> wanted = merged(before, verdicts, judged);
    if (ConditionList.same(before, wanted)) {
      return Optional.empty();
    }
    return Optional.of(new Change(patch(seen, wanted), before, wanted));
  }

  private static GenericKubernetesResource patch(
      GenericKubernetesResource object, List<Condition> conditions) {
    GenericKubernetesResource patch = new GenericKubernetesResource();
    patch.setApiVersion(object.getApiVersion());
    patch.setKind(object.getKind());
    if (!conditions.isEmpty()) {
      patch.setAdditionalProperty(STATUS, Map.of("conditions", conditions));
    }
    return patch;
  }

  /**
   * Who applies nothing gives up all that nobody else has. A condition of others of which a part is
   * ours is applied as it is: without that part the API server takes it for invalid.
   */
  private static Optional<Change> takenBack(
      HasMetadata seen, List<Condition> before, Function<List<Condition>, HasMetadata> patch) {
    Map<String, Set<Object>> others = toldByOthers(seen);
    List<Condition> shared =
        before.stream()
            .filter(condition -> others.containsKey(condition.getType()))
            .filter(
                condition -> !others.getOrDefault(condition.getType(), Set.of()).containsAll(WHOLE))
            .toList();
    boolean isLeft =
        shared.isEmpty()
            || before.stream()
                .map(Condition::getType)
                .anyMatch(type -> CONDITIONS.containsValue(type) && !others.containsKey(type));
    return told(seen) && isLeft
        ? Optional.of(new Change(patch.apply(shared), before, before))
        : Optional.empty();
  }

  /** The informers show this: what was answered last need be kept no longer. */
  public void shown(HasMetadata object) {
    var _ = seenLast.newest(object);
  }

  /** Whether its conditions are of what it says now, and not of what it said before an edit. */
  public static boolean isOfThisGeneration(InferenceModel model) {
    Long generation = model.getMetadata().getGeneration();
    List<Condition> conditions = conditions(model);
    return !conditions.isEmpty()
        && conditions.stream()
            .allMatch(condition -> Objects.equals(condition.getObservedGeneration(), generation));
  }

  /** Whether conditions of ours are in it. */
  public static boolean told(HasMetadata object) {
    return object.getMetadata().getManagedFields().stream()
        .anyMatch(fields -> FIELD_MANAGER.equals(fields.getManager()));
  }

  /**
   * The types of conditions of ours that are as somebody else said, with the fields that are. One
   * in which others have no words is ours, though they said the same status, or say it no more.
   */
  private static Map<String, Set<Object>> toldByOthers(HasMetadata object) {
    Map<String, Set<Object>> told = new HashMap<>();
    for (ManagedFieldsEntry entry : object.getMetadata().getManagedFields()) {
      boolean others =
          STATUS.equals(entry.getSubresource()) && !FIELD_MANAGER.equals(entry.getManager());
      if (others && conditions(entry) instanceof Map<?, ?> conditions) {
        CONDITIONS.forEach(
            (key, type) -> {
              if (conditions.get(key) instanceof Map<?, ?> fields) {
                told.computeIfAbsent(type, one -> new HashSet<>()).addAll(fields.keySet());
              }
            });
      }
    }
    told.values().removeIf(fields -> Collections.disjoint(fields, WORDS));
    return told;
  }

  private static @Nullable Object conditions(ManagedFieldsEntry entry) {
    return entry.getFieldsV1() != null
            && entry.getFieldsV1().getAdditionalProperties().get("f:status")
                instanceof Map<?, ?> status
        ? status.get("f:conditions")
        : null;
  }

  /**
   * Makes the picker's status say this.
   *
   * @param status makes the status around the conditions
   * @return as of {@link #write(InferenceModel, Map)}
   */
  public Optional<Duration> write(
      EndpointPicker picker,
      Map<ConditionType, Verdict> verdicts,
      Function<List<Condition>, EndpointPickerStatus> status) {
    return write(
        picker,
        seen -> {
          List<Condition> before = conditions(seen);
          EndpointPickerStatus wanted = status.apply(merged(before, verdicts, picker));
          if (same(seen.getStatus(), wanted)) {
            return Optional.empty();
          }
          EndpointPicker patch = new EndpointPicker();
          patch.setStatus(wanted);
          List<Object> statement =
              List.of(withoutConditions(wanted), ConditionList.withoutTimes(wanted.conditions()));
          return Optional.of(new Change(patch, before, wanted.conditions(), statement));
        });
  }

  /**
   * What a write would change.
   *
   * @param patch without metadata yet
   * @param before conditions as they are
   * @param after conditions as they will be, less those whose transitions are not told
   * @param statement all that it says, but for times
   */
  private record Change(
      HasMetadata patch, List<Condition> before, List<Condition> after, Object statement) {
    Change(HasMetadata patch, List<Condition> before, List<Condition> after) {
      this(patch, before, after, ConditionList.withoutTimes(after));
    }
  }

  /** That there is room or none is the pool's, and told there once instead of for each model. */
  private static List<Condition> ofTheModel(List<Condition> conditions) {
    return conditions.stream()
        .filter(condition -> !ConditionType.SATURATED.wireName().equals(condition.getType()))
        .toList();
  }

  private <R extends HasMetadata> Optional<Duration> write(
      R cached, Function<R, Optional<Change>> change) {
    R seen = seenLast.newest(cached);
    if (isOfLaterGeneration(seen, cached)) {
      return Optional.empty();
    }
    Optional<Change> wanted = change.apply(seen);
    if (wanted.isEmpty()) {
      refused.taken(seen.getMetadata().getUid());
    }
    Optional<Duration> left = wanted.flatMap(said -> contradictions.left(seen, said.statement()));
    if (left.isPresent()
        || wanted.isEmpty()
        || send(wanted.get(), seen, seen.getMetadata().getResourceVersion())) {
      return left;
    }
    // The informer lagged behind what others wrote; times must be merged with what is there.
    R live = client.resource(seen).get();
    if (!gone(live, seen)) {
      seenLast.saw(live); // what is newer than the cache need not be asked for at each look
      if (!isOfLaterGeneration(live, cached)) {
        change.apply(live).ifPresent(now -> send(now, seen, null));
      }
    }
    return Optional.empty();
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
      HasMetadata left =
          lanes.write(
              object, () -> client.resource(change.patch()).subresource(STATUS).patch(APPLY));
      seenLast.saw(left);
      refused.taken(object.getMetadata().getUid());
      contradictions.said(object, change.statement());
      if (version != null) {
        steps.took(version, left);
      }
    } catch (KubernetesClientException e) {
      if (e.getCode() == CONFLICT && version != null) {
        return false;
      }
      if (e.getCode() != NOT_FOUND) {
        refused.refused(object, e);
        throw e;
      }
      return true;
    }
    events.tell(object, change.before(), change.after());
    return true;
  }

  /** Whoever looks at what it says since it was edited tells of it: that may be another pool. */
  private static boolean isOfLaterGeneration(HasMetadata there, HasMetadata judged) {
    Long now = there.getMetadata().getGeneration();
    Long then = judged.getMetadata().getGeneration();
    return now != null && then != null && now > then;
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
    return object.get(STATUS, "conditions") instanceof List<?> list
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
