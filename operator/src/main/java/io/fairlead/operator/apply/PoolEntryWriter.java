package io.fairlead.operator.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1.ParentReference;
import io.fairlead.crds.v1.ParentStatus;
import io.fairlead.operator.status.ConditionList;
import io.fairlead.operator.status.ConditionType;
import io.fairlead.operator.status.Notice;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes our entry of {@code InferencePool.status.parents}, in the older group {@code
 * status.parent}. The list is atomic and shared with gateways, and server-side apply of it would
 * delete their entries; so ours alone is put in, by a patch for the version that was seen. When
 * somebody was faster the list is read, changed and written back whole at the version that was
 * read, with the entries of others as they came, field by field, known to us or not.
 */
public final class PoolEntryWriter {
  /** What we call ourselves in an entry. */
  public static final String CONTROLLER = ParentStatus.FAIRLEAD;

  private static final PatchContext PATCH =
      new PatchContext.Builder()
          .withPatchType(PatchType.JSON)
          .withFieldManager(StatusApplier.FIELD_MANAGER)
          .build();
  private static final int ATTEMPTS = 20;
  private static final int MAX_ENTRIES = 32;
  private static final int CONFLICT = 409;
  private static final int NOT_FOUND = 404;
  private static final int UNPROCESSABLE = 422;

  private final KubernetesClient client;
  private final InstantSource clock;
  private final Events events;
  private final LostEntries lostEntries;
  private final WriteLanes lanes;
  private final StatusSteps steps;
  private final NewestSeen seenLast = new NewestSeen(System::nanoTime);
  private final Contradictions contradictions;
  private final RefusedStatuses refused;
  private final Budget budget = new Budget(Budget.REPAIRS, Duration.ofMinutes(5), System::nanoTime);

  /** UIDs of pools that have, or had, an entry of ours. */
  private final Set<String> written = ConcurrentHashMap.newKeySet();

  /** UIDs of pools that had no room for an entry of ours, and were told. */
  private final Set<String> full = ConcurrentHashMap.newKeySet();

  /** UIDs of pools whose entry was given up for a while. */
  private final Set<String> lost = ConcurrentHashMap.newKeySet();

  private final JsonMapper json = new JsonMapper();

  /**
   * @param lostEntries told of entries of ours that others removed
   * @param lanes shared with whoever else writes on the same threads
   * @param steps told of what is written
   * @param contradictions shared with whoever else writes statuses
   * @param refused shared like these
   */
  public PoolEntryWriter(
      KubernetesClient client,
      InstantSource clock,
      Events events,
      LostEntries lostEntries,
      WriteLanes lanes,
      StatusSteps steps,
      Contradictions contradictions,
      RefusedStatuses refused) {
    this.refused = refused;
    this.client = client;
    this.clock = clock;
    this.events = events;
    this.lostEntries = lostEntries;
    this.lanes = lanes;
    this.steps = steps;
    this.contradictions = contradictions;
  }

  /**
   * Makes our entry say this; sends nothing when it does already.
   *
   * @return when to try again, since others keep removing or changing it; empty when it is there
   */
  public Optional<Duration> write(
      InferencePool pool, String parent, Map<ConditionType, Verdict> verdicts) {
    ParentReference ref =
        new ParentReference(EndpointPicker.GROUP, EndpointPicker.KIND, null, parent);
    String uid = pool.getMetadata().getUid();
    long generation = pool.getMetadata().getGeneration();
    InferencePool newest = seenLast.newest(pool);
    Optional<ParentStatus> cached = entry(newest);
    List<Condition> ours =
        ConditionList.merge(
            cached.map(ParentStatus::conditions).orElse(List.of()),
            verdicts,
            generation,
            clock.instant());
    // Others may have brought one back that is no longer true; all but one are taken away then.
    // One without its controller is written once after a start: the kind may have the field since.
    boolean isOne = entries(newest).count() <= 1;
    if (isOne
        && cached.isPresent()
        && (cached.get().controllerName() != null || written.contains(uid))
        && ref.equals(cached.get().parentRef())
        && ConditionList.same(cached.get().conditions(), ours)) {
      written.add(uid);
      refused.taken(uid);
      return Optional.empty();
    }
    List<Object> statement = List.of(ref, ConditionList.withoutTimes(ours));
    Optional<Duration> contradicted =
        cached.isPresent() ? contradictions.left(pool, statement) : Optional.empty();
    if (contradicted.isPresent()) {
      return contradicted;
    }
    if (isOne && put(newest, ref, verdicts, generation, cached)) {
      contradictions.said(pool, statement);
      return Optional.empty();
    }
    AtomicReference<@Nullable Duration> wait = new AtomicReference<>();
    AtomicBoolean there = new AtomicBoolean();
    AtomicBoolean missing = new AtomicBoolean();
    AtomicReference<List<Condition>> from = new AtomicReference<>(List.of());
    AtomicReference<List<Condition>> to = new AtomicReference<>(List.of());
    boolean sent =
        update(
            pool,
            (old, live) -> {
              to.set(List.of());
              there.set(old.isPresent());
              missing.set(old.isEmpty() && written.contains(uid));
              wait.set(missing.get() ? leftOut(pool, live).orElse(null) : null);
              if (wait.get() != null) {
                return Optional.empty();
              }
              List<Condition> before = old.map(ParentStatus::conditions).orElse(List.of());
              Instant now = clock.instant();
              List<Condition> merged = ConditionList.merge(before, verdicts, generation, now);
              if (old.isPresent() || !written.contains(uid)) {
                from.set(before);
                to.set(merged);
              }
              return Optional.of(
                  new ParentStatus(ref, CONTROLLER, ConditionList.withForeign(before, merged)));
            });
    // What could not be written was not put back, and would be counted with each attempt.
    if (sent && missing.get()) {
      budget.take(uid);
      lostEntries.removed();
      lost.remove(uid);
    }
    if (sent) {
      contradictions.said(pool, statement);
      // Putting back what others removed is no transition: then there is nothing in "to".
      events.tell(pool, from.get(), to.get());
    }
    if (sent || there.get()) {
      written.add(uid);
    }
    return Optional.ofNullable(wait.get());
  }

  /**
   * Puts our entry into the list as it was seen, where that leaves no question open.
   *
   * @param generation of the pool that the verdicts speak of
   * @return false when nothing was written, and the list has to be read
   */
  private boolean put(
      InferencePool pool,
      ParentReference ref,
      Map<ConditionType, Verdict> verdicts,
      long generation,
      Optional<ParentStatus> cached) {
    String uid = pool.getMetadata().getUid();
    EntryForm form = EntryForm.of(pool);
    List<ParentStatus> parents = pool.getStatus() == null ? List.of() : pool.getStatus().parents();
    if (cached.isEmpty()
        && (written.contains(uid) || parents.size() >= MAX_ENTRIES || form.none().isPresent())) {
      return false;
    }
    List<Condition> before = cached.map(ParentStatus::conditions).orElse(List.of());
    List<Condition> ours = ConditionList.merge(before, verdicts, generation, clock.instant());
    Object entry =
        form.written(new ParentStatus(ref, CONTROLLER, ConditionList.withForeign(before, ours)));
    ArrayNode changes = json.createArrayNode();
    if (cached.isPresent()) {
      String path = "/status/" + form.list() + "/" + parents.indexOf(cached.get());
      changes.add(change("test", path + "/parentRef/kind", EndpointPicker.KIND));
      changes.add(change("replace", path, entry));
    } else if (!parents.isEmpty()) {
      changes.add(change("add", "/status/parents/-", entry));
    } else if (pool.getStatus() == null) {
      changes.add(change("add", "/status", Map.of("parents", List.of(entry))));
    } else {
      changes.add(change("add", "/status/parents", List.of(entry)));
    }
    try {
      send(pool, pool, changes);
    } catch (KubernetesClientException e) {
      if (e.getCode() == CONFLICT || e.getCode() == UNPROCESSABLE || e.getCode() == NOT_FOUND) {
        return false;
      }
      refused.refused(pool, e);
      throw e;
    }
    full.remove(uid);
    written.add(uid);
    events.tell(pool, before, ours);
    return true;
  }

  private ObjectNode change(String op, String path, Object value) {
    return json.createObjectNode()
        .put("op", op)
        .put("path", path)
        .set("value", json.valueToTree(value));
  }

  /**
   * Changes the status if the object still has the version at which it was seen.
   *
   * @param seen the pool itself, or as it was read
   */
  private void send(InferencePool pool, HasMetadata seen, ArrayNode changes) {
    changes.insert(
        0, change("replace", "/metadata/resourceVersion", seen.getMetadata().getResourceVersion()));
    changes.insert(0, change("test", "/metadata/uid", seen.getMetadata().getUid()));
    HasMetadata left =
        lanes.write(
            seen,
            () -> client.resource(seen).subresource("status").patch(PATCH, changes.toString()));
    refused.taken(pool.getMetadata().getUid());
    steps.took(seen.getMetadata().getResourceVersion(), left);
    seenLast.saw(client.getKubernetesSerialization().convertValue(left, pool.getClass()));
  }

  /** How long to leave it at that; empty when it may be put back at once. */
  private Optional<Duration> leftOut(InferencePool pool, HasMetadata live) {
    Optional<Duration> wait = budget.left(pool.getMetadata().getUid());
    if (wait.isPresent()) {
      lostEntries.lost(pool.getMetadata().getUid());
    }
    if (wait.isPresent() && lost.add(pool.getMetadata().getUid())) {
      events.warn(
          pool,
          Notice.STATUS_ENTRY_REMOVED,
          "%s removes the entry of %s from status.%s again and again; it is put back rarely from now on, and the EndpointPicker, if there is one, tells how the pool is"
              .formatted(Contradictions.others(live), CONTROLLER, EntryForm.of(pool).list()));
    }
    return wait;
  }

  /**
   * The pool is gone, or is none of ours any more.
   *
   * @param uid the pool's
   */
  public void forget(String uid) {
    written.remove(uid);
    full.remove(uid);
    lost.remove(uid);
    refused.taken(uid);
    lostEntries.forget(uid);
  }

  /** The informer shows this: what was answered last need be kept no longer. */
  public void shown(InferencePool pool) {
    var _ = seenLast.newest(pool);
  }

  /** Why the API server does not take our entry; empty where it does. */
  public Optional<Verdict> refusal(InferencePool pool) {
    return refused.told(pool).map(message -> Verdict.no(Reason.STATUS_REFUSED, message));
  }

  /** Whether our entry is there. */
  public boolean isThere(InferencePool pool) {
    return entry(pool).isPresent();
  }

  /** Name of the EndpointPicker that our entry speaks for; empty without one. */
  public Optional<String> parent(InferencePool pool) {
    return entry(pool).map(ParentStatus::parentRef).map(ParentReference::name);
  }

  /** What our entry says of the pool itself; nothing without one. */
  public Map<ConditionType, Verdict> judged(InferencePool pool) {
    return entry(pool).map(ParentStatus::conditions).map(ConditionList::judged).orElse(Map.of());
  }

  /** Takes our entry away, if it is there. */
  public void remove(InferencePool pool) {
    forget(pool.getMetadata().getUid());
    if (entry(pool).isPresent()) {
      var _ = update(pool, (old, live) -> Optional.empty());
    }
  }

  private static Optional<ParentStatus> entry(InferencePool pool) {
    return entries(pool).findFirst();
  }

  private static Stream<ParentStatus> entries(InferencePool pool) {
    return pool.getStatus() == null
        ? Stream.empty()
        : pool.getStatus().parents().stream().filter(ParentStatus::isOurs);
  }

  private interface Change {
    Optional<ParentStatus> apply(Optional<ParentStatus> old, HasMetadata live);
  }

  /**
   * @return whether something was written
   */
  private boolean update(InferencePool pool, Change change) {
    EntryForm form = EntryForm.of(pool);
    for (int attempt = 1; ; attempt++) {
      GenericKubernetesResource live =
          client
              .genericKubernetesResources(pool.getApiVersion(), pool.getKind())
              .inNamespace(pool.getMetadata().getNamespace())
              .withName(pool.getMetadata().getName())
              .get();
      if (live == null || !live.getMetadata().getUid().equals(pool.getMetadata().getUid())) {
        return false;
      }
      ArrayNode before = json.createArrayNode();
      if (live.get("status", form.list()) instanceof List<?> parents) {
        before = json.valueToTree(parents);
      }
      ArrayNode after = changed(before, live, form, change);
      if (after.equals(before)) {
        return false;
      }
      if (after.size() > MAX_ENTRIES) {
        if (full.add(pool.getMetadata().getUid())) {
          events.warn(
              pool,
              Notice.NO_ROOM_FOR_STATUS_ENTRY,
              "status.%s has %d entries of others and no room for that of %s; remove those of controllers that are gone, the EndpointPicker, if there is one, tells how the pool is"
                  .formatted(form.list(), MAX_ENTRIES, CONTROLLER));
        }
        return false;
      }
      full.remove(pool.getMetadata().getUid());
      ArrayNode changes = json.createArrayNode();
      changes.add(
          live.get("status") == null
              ? change("add", "/status", Map.of(form.list(), after))
              : change("add", "/status/" + form.list(), after));
      try {
        send(pool, live, changes);
        return true;
      } catch (KubernetesClientException e) {
        if (e.getCode() == NOT_FOUND) {
          return false;
        }
        if (e.getCode() != CONFLICT || attempt == ATTEMPTS) {
          refused.refused(pool, e);
          throw e;
        }
      }
    }
  }

  private ArrayNode changed(ArrayNode before, HasMetadata live, EntryForm form, Change change) {
    ArrayNode after = json.createArrayNode();
    Optional<ParentStatus> ours = Optional.empty();
    Optional<Object> none = form.none();
    for (JsonNode entry : before) {
      ParentStatus read = form.read(entry);
      if (read.isOurs()) {
        ours = Optional.of(read);
      } else if (form.standsForNone(entry)) {
        none = Optional.of(entry);
      } else {
        after.add(entry);
      }
    }
    change
        .apply(ours, live)
        .ifPresent(entry -> after.add(json.<JsonNode>valueToTree(form.written(entry))));
    if (after.isEmpty()) {
      none.ifPresent(entry -> after.add(json.<JsonNode>valueToTree(entry)));
    }
    return sameEntries(before, after) ? before : after;
  }

  /** Our entry moves to the end when it is written; where it stood is no reason to write it. */
  private static boolean sameEntries(ArrayNode before, ArrayNode after) {
    if (before.size() != after.size()) {
      return false;
    }
    for (JsonNode entry : before) {
      boolean found = false;
      for (JsonNode other : after) {
        found |= other.equals(entry);
      }
      if (!found) {
        return false;
      }
    }
    return true;
  }
}
