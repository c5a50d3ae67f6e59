package io.fairlead.operator.apply;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentSpecBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.RequestConfigBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.apply.ChildFailure.Outlook;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.observe.Ownership;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.processing.dependent.kubernetes.SSABasedGenericKubernetesResourceMatcher;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings a pool's children to their desired state by server-side apply. An object that the pool
 * does not control is never touched, also when it takes a child's name between look and apply; what
 * matches already is not sent.
 */
public final class ChildApplier {
  /** Field manager of a number of replicas that was ours and is nobody's yet. */
  private static final String LAST_REPLICAS = "fairlead-last-replicas";

  private static final Logger LOG = LoggerFactory.getLogger(ChildApplier.class);
  private static final PatchContext APPLY = forced(Ownership.FIELD_MANAGER);

  /** The same, and nothing is stored. */
  private static final PatchContext TRY =
      forcing(Ownership.FIELD_MANAGER).withDryRun(List.of("All")).build();

  private static final PatchContext SETTLE =
      new PatchContext.Builder()
          .withPatchType(PatchType.JSON)
          .withFieldManager("fairlead-settles")
          .build();

  /**
   * A version that no object has by now. An apply that carries it makes an object, and is a
   * conflict where one is; unlike a plain create it leaves the fields with {@link
   * Ownership#FIELD_MANAGER} as applied ones, so that a later apply can take them back.
   */
  private static final String NO_OBJECT = "1";

  /** Of what is deleted in the foreground, or leaves what it owns: these go by themselves. */
  private static final Set<String> OF_THE_API_SERVER = Set.of("foregroundDeletion", "orphan");

  private static final Set<Class<?>> PODS_NEED =
      Set.of(ServiceAccount.class, RoleBinding.class, NetworkPolicy.class);

  private static final int ATTEMPTS = 3;

  /** How long an answer that is not enough is taken for the next one, too: less than a retry. */
  private static final Duration ALTERED_COUNTS = Duration.ofSeconds(10);

  /** After that somebody may have deleted it. */
  private static final Duration MADE_COUNTS = Duration.ofMinutes(1);

  /** When other words for what is in a child's way are told once more. */
  private static final Duration TELL_AGAIN = Duration.ofMinutes(1);

  private static final int CONFLICT = 409;
  private static final int UNPROCESSABLE = 422;
  private final SSABasedGenericKubernetesResourceMatcher<HasMetadata> matcher =
      SSABasedGenericKubernetesResourceMatcher.getInstance();

  /** For what may wait for admission webhooks. */
  private final KubernetesClient writes;

  private final WriteLanes lanes;
  private final Duration patience;
  private final Duration answerCounts;

  /** What each child was to be when it was last seen to be so, or made so. */
  private final Map<ChildKey, Wanted> asWanted = new ConcurrentHashMap<>();

  /** Children whose names objects had, when last seen, that are not the pool's. */
  private final Set<ChildKey> foreign = ConcurrentHashMap.newKeySet();

  /** When each child that is made and never changed was seen last. */
  private final Map<ChildKey, Made> made = new ConcurrentHashMap<>();

  private final Repairs repairs;

  /** When each child took long to fail last, by a clock that doesn't jump, until it doesn't. */
  private final Map<ChildKey, Long> slow = new ConcurrentHashMap<>();

  /** Why children are not as they are wanted. */
  private final VaryingMessages<Verdict> failing =
      new VaryingMessages<>(TELL_AGAIN, System::nanoTime);

  /** Deployments whose pods would be replaced, as asked of the API server. */
  private final Map<ChildKey, Wanted> replacing = new ConcurrentHashMap<>();

  /**
   * @param child as it was to be
   * @param version at which it is so: that need not be found out twice, and costs more than all
   *     else of a look
   * @param answer what the API server made of it, which is another thing where admission changes
   *     what is applied; null where it is known to be the same, but for Deployments. As JSON, which
   *     takes a fifth of the memory
   * @param answeredAt when, by a clock that doesn't jump, in nanoseconds
   */
  private record Wanted(
      HasMetadata child, String version, @Nullable String answer, long answeredAt) {
    static Wanted asSent(HasMetadata child, String version) {
      return new Wanted(child, version, null, 0);
    }

    boolean isMetBy(HasMetadata actual, HasMetadata wanted) {
      return actual.getMetadata().getResourceVersion().equals(version) && child.equals(wanted);
    }
  }

  /**
   * @param at when it was there, by a clock that doesn't jump, in nanoseconds
   * @param pods UIDs of those that there were: one that starts later may wait for it
   */
  private record Made(long at, Set<String> pods) {}

  /**
   * @param client by which children are written
   * @param lanes shared with whoever else writes on the same threads
   * @param patience how long the API server may take for a write: longer than it waits itself for
   *     admission webhooks, or it never comes to say which of them does not answer
   * @param oneMore how long until a child is put back once more that somebody undoes all the while
   * @param answerCounts after which time admission may make another thing of the same, as where a
   *     policy was mended
   * @param repaired told of each child that somebody else had changed or deleted and that is as it
   *     should be again: the pool, and what happened
   */
  public ChildApplier(
      KubernetesClient client,
      WriteLanes lanes,
      Duration patience,
      Duration oneMore,
      Duration answerCounts,
      BiConsumer<InferencePool, String> repaired) {
    repairs = new Repairs(oneMore, repaired);
    // Whoever reconciles tries again. A client that does so by itself takes as long each time.
    writes =
        client
            .newClient(
                new RequestConfigBuilder(client.getConfiguration().getRequestConfig())
                    .withRequestTimeout((int) patience.toMillis())
                    .withRequestRetryBackoffLimit(0)
                    .build())
            .adapt(KubernetesClient.class);
    this.lanes = lanes;
    this.patience = patience;
    this.answerCounts = answerCounts;
  }

  /**
   * The pool is gone, or served no more.
   *
   * @param uid the pool's
   */
  public void forget(String uid) {
    asWanted.keySet().removeIf(key -> key.pool().equals(uid));
    foreign.removeIf(key -> key.pool().equals(uid));
    repairs.forget(uid);
    replacing.keySet().removeIf(key -> key.pool().equals(uid));
    made.keySet().removeIf(key -> key.pool().equals(uid));
    slow.keySet().removeIf(key -> key.pool().equals(uid));
  }

  /**
   * Applies in order; one that cannot be applied keeps none of the others back. But pods that only
   * a policy of their own is for wait for it: without it they would be open to anybody. Where one
   * takes long to fail, those after it are left for the next time, and come before it then.
   *
   * @return every child that could not be; empty when all is well
   * @throws KubernetesClientException after all were tried, when the API server is away
   */
  public List<ChildFailure> apply(
      List<HasMetadata> desired, Observation seen, Context<InferencePool> context) {
    List<ChildFailure> failures = new ArrayList<>();
    Attempts attempts = new Attempts();
    List<HasMetadata> policies = new ArrayList<>(desired);
    policies.removeIf(child -> !(child instanceof NetworkPolicy));
    for (HasMetadata child : slowLast(desired, seen.pool())) {
      if (child instanceof Deployment && !policies.isEmpty()) {
        failures.add(ChildFailure.lasting(child, keptBack(child, policies.getFirst())));
        continue;
      }
      attempts.attempt(
          () ->
              told(ChildKey.of(seen.pool(), child), apply(child, seen, context))
                  .ifPresentOrElse(failures::add, () -> policies.remove(child)));
      // What hangs for one may hang for all, and other pools wait for this thread.
      if (failures.stream().anyMatch(failure -> failure.outlook() == Outlook.SLOW)) {
        slow.put(ChildKey.of(seen.pool(), child), System.nanoTime());
        break;
      }
      slow.remove(ChildKey.of(seen.pool(), child));
    }
    attempts.rethrow();
    return List.copyOf(failures);
  }

  /**
   * Those that took long to fail after all others, in turn, and pods not before their policies and
   * the account that they run as: without that, none can be made.
   */
  private List<HasMetadata> slowLast(List<HasMetadata> desired, InferencePool pool) {
    ToLongFunction<HasMetadata> failed =
        child -> slow.getOrDefault(ChildKey.of(pool, child), Long.MIN_VALUE);
    long needed =
        desired.stream()
            .filter(child -> PODS_NEED.contains(child.getClass()))
            .mapToLong(failed)
            .max()
            .orElse(Long.MIN_VALUE);
    return desired.stream()
        .sorted(
            Comparator.comparingLong(
                child ->
                    child instanceof Deployment
                        ? Math.max(needed, failed.applyAsLong(child))
                        : failed.applyAsLong(child)))
        .toList();
  }

  /** The same, told in words that don't change with each try. */
  private Optional<ChildFailure> told(ChildKey key, Optional<ChildFailure> failed) {
    if (failed.isEmpty()) {
      failing.end(key.toString());
    }
    return failed.map(
        failure ->
            new ChildFailure(
                failure.child(),
                failing.of(key.toString(), failure.why().reason(), failure.why()),
                failure.outlook()));
  }

  /**
   * A Deployment as the API server answered when it was applied last. One whose labels or owner
   * somebody took away is in no informer of ours until a moment after it has been put right.
   *
   * @return empty where it was not applied
   */
  public Optional<Deployment> answered(InferencePool pool, Deployment wanted) {
    return Optional.ofNullable(asWanted.get(ChildKey.of(pool, wanted)))
        .map(Wanted::answer)
        .map(answer -> writes.getKubernetesSerialization().unmarshal(answer, Deployment.class));
  }

  /** Server-side apply that takes fields over from whoever has them. */
  static PatchContext forced(String fieldManager) {
    return forcing(fieldManager).build();
  }

  private static PatchContext.Builder forcing(String fieldManager) {
    return new PatchContext.Builder()
        .withPatchType(PatchType.SERVER_SIDE_APPLY)
        .withFieldManager(fieldManager)
        .withForce(true);
  }

  /**
   * What keeps a child that is not wanted any more.
   *
   * @throws KubernetesClientException the same, where it passes by itself
   */
  public ChildFailure stays(HasMetadata child, KubernetesClientException e) {
    ChildFailure stays = Refusals.stays(child, e);
    return Ownership.pool(child)
        .map(owner -> ChildKey.of(owner.getUid(), child))
        .flatMap(key -> told(key, Optional.of(stays)))
        .orElse(stays);
  }

  /**
   * Deletes a child as it was observed.
   *
   * @throws KubernetesClientException also when it has changed since, or another has its name
   */
  public void delete(HasMetadata child, KubernetesClient client) {
    LOG.info("deleting {}", Refusals.describe(child));
    Ownership.pool(child).ifPresent(owner -> asWanted.remove(ChildKey.of(owner.getUid(), child)));
    String version = child.getMetadata().getResourceVersion();
    var _ = lanes.write(child, () -> client.resource(child).lockResourceVersion(version).delete());
  }

  /** Whether applying this Deployment would replace the pods of the one that is there. */
  public boolean replacesPods(
      InferencePool pool, Deployment wanted, Deployment there, Context<InferencePool> context) {
    ChildKey key = ChildKey.of(pool, wanted);
    if (isKnownToBe(key, there, wanted)) {
      return false;
    }
    KubernetesSerialization copies = context.getClient().getKubernetesSerialization();
    Deployment mixed = copies.clone(wanted);
    mixed.getSpec().setTemplate(there.getSpec().getTemplate());
    mixed.setMetadata(
        new ObjectMetaBuilder(there.getMetadata())
            .withLabels(wanted.getMetadata().getLabels())
            .withAnnotations(wanted.getMetadata().getAnnotations())
            .build());
    // Whose it is does not matter, and the matcher fails at an owner that it doesn't find again.
    Deployment asThere = copies.clone(wanted);
    asThere.getMetadata().setOwnerReferences(there.getMetadata().getOwnerReferences());
    return !matcher.matches(mixed, asThere, context)
        && !(answeredWithin(answerCounts, key) && isAsAnswered(key, there, wanted))
        && wouldReplacePods(key, wanted, there);
  }

  /**
   * Asks what would come of it: admission may make what is there of what is wanted. It is asked
   * once, since pods may have to wait long for their turn.
   */
  private boolean wouldReplacePods(ChildKey key, Deployment wanted, Deployment there) {
    Wanted asked = replacing.get(key);
    if (asked != null && asked.isMetBy(there, wanted)) {
      return true;
    }
    try {
      Deployment answer = (Deployment) send(wanted, there, TRY);
      if (answer.getSpec().getTemplate().equals(there.getSpec().getTemplate())) {
        return false;
      }
    } catch (WriteLanes.NoRoomException e) {
      return true;
    } catch (KubernetesClientException e) {
      // Not every webhook can be asked so; what else is wrong the apply will tell.
      LOG.debug("what would come of {} is not known", Refusals.describe(wanted), e);
    }
    replacing.put(key, Wanted.asSent(wanted, there.getMetadata().getResourceVersion()));
    return true;
  }

  /**
   * Whether it is still what the API server made of what is wanted when that was applied. Where
   * admission changes a field of ours, such as an image, nobody else has touched it, and to apply
   * it again would change nothing while policies stay as they are.
   */
  private boolean isAsAnswered(ChildKey key, HasMetadata actual, HasMetadata wanted) {
    Wanted last = asWanted.get(key);
    if (last == null || last.answer() == null || !last.child().equals(wanted)) {
      return false;
    }
    KubernetesSerialization json = writes.getKubernetesSerialization();
    HasMetadata answer = json.unmarshal(last.answer(), actual.getClass());
    return OwnedFields.of(actual, json).equals(OwnedFields.of(answer, json));
  }

  /**
   * Makes a child where there is none, and never changes one that is there: of that it matters only
   * that the pool owns it. What was there within the last minute is not asked for again, unless
   * another pod has begun since.
   *
   * @return why it is not there, or can't be used
   */
  public Optional<ChildFailure> make(HasMetadata child, Observation seen) {
    ChildKey key = ChildKey.of(seen.pool(), child);
    return told(key, make(key, child, seen));
  }

  private Optional<ChildFailure> make(ChildKey key, HasMetadata child, Observation seen) {
    long begun = System.nanoTime();
    Set<String> pods =
        seen.pods().stream()
            .map(pod -> pod.getMetadata().getUid())
            .collect(Collectors.toUnmodifiableSet());
    Made last = made.get(key);
    if (last != null
        && begun - last.at() < MADE_COUNTS.toNanos()
        && last.pods().containsAll(pods)) {
      return Optional.empty();
    }
    try {
      HasMetadata there = writes.resource(child).get();
      if (there == null) {
        there = create(child);
      }
      Optional<Verdict> taken = taken(seen.pool(), there);
      if (taken.isPresent()) {
        return taken.map(why -> ChildFailure.lasting(child, why));
      }
      made.put(key, new Made(begun, pods));
      return Optional.empty();
    } catch (WriteLanes.NoRoomException e) {
      return Optional.of(Refusals.notTried(child, e));
    } catch (KubernetesClientException e) {
      return Optional.of(
          Refusals.refused(child, e, Duration.ofNanos(System.nanoTime() - begun), patience));
    }
  }

  /** Makes it, unless another operator was faster. */
  private HasMetadata create(HasMetadata child) {
    LOG.info("making {}", Refusals.describe(child));
    try {
      return lanes.write(child, () -> writes.resource(child).create());
    } catch (KubernetesClientException e) {
      HasMetadata there = e.getCode() == CONFLICT ? writes.resource(child).get() : null;
      if (there == null) {
        throw e;
      }
      return there;
    }
  }

  private boolean answeredWithin(Duration time, ChildKey key) {
    Wanted last = asWanted.get(key);
    return last != null && System.nanoTime() - last.answeredAt() < time.toNanos();
  }

  private boolean isKnownToBe(ChildKey key, HasMetadata actual, HasMetadata wanted) {
    Wanted last = asWanted.get(key);
    return last != null && last.isMetBy(actual, wanted);
  }

  private Optional<ChildFailure> apply(
      HasMetadata child, Observation seen, Context<InferencePool> context) {
    Optional<HasMetadata> cached =
        seen.child(child.getClass(), child.getMetadata().getName()).map(HasMetadata.class::cast);
    ChildKey key = ChildKey.of(seen.pool(), child);
    // An object without our labels is in no informer of ours, nor is one that was made a moment
    // ago. The first apply finds that out by itself, since it makes an object and changes none.
    boolean look = cached.isEmpty() && (asWanted.containsKey(key) || foreign.contains(key));
    long begun = System.nanoTime();
    for (int attempt = 1; ; attempt++) {
      try {
        HasMetadata actual = look ? context.getClient().resource(child).get() : cached.orElse(null);
        return apply(child, actual, look, seen.pool(), context)
            .map(why -> ChildFailure.lasting(child, why));
      } catch (WriteLanes.NoRoomException e) {
        return Optional.of(Refusals.notTried(child, e));
      } catch (KubernetesClientException e) {
        KubernetesClientException still = attempt == ATTEMPTS ? e : mend(child, seen.pool(), e);
        if (still != null) {
          return Optional.of(
              Refusals.refused(
                  child, still, Duration.ofNanos(System.nanoTime() - begun), patience));
        }
        // What has changed since it was observed is looked at where it is.
        look = true;
      }
    }
  }

  /**
   * Sees to it that another try may succeed.
   *
   * @return null when it may; else what is in its way
   */
  private @Nullable KubernetesClientException mend(
      HasMetadata child, InferencePool pool, KubernetesClientException e) {
    if (e.getCode() == CONFLICT) {
      return null;
    }
    if (e.getCode() != UNPROCESSABLE) {
      return e;
    }
    try {
      HasMetadata there = writes.resource(child).get();
      if (there == null || !Ownership.isLabelled(there) || taken(pool, there).isPresent()) {
        return e;
      }
      return settle(there, child) ? null : e;
    } catch (KubernetesClientException refused) {
      return refused.getCode() == CONFLICT ? null : refused;
    }
  }

  /**
   * Takes away what others put in the place of ours, such as an edited port, which keeps its name.
   *
   * @return false when there is no such thing, or it is no fault of theirs, and nothing was written
   */
  private boolean settle(HasMetadata there, HasMetadata wanted) {
    KubernetesSerialization json = writes.getKubernetesSerialization();
    ObjectNode before = json.convertValue(there, ObjectNode.class);
    ObjectNode after = before.deepCopy();
    ObjectNode ours = json.convertValue(wanted, ObjectNode.class);
    ours.remove("metadata");
    Unions.settle(after, ours);
    if (after.equals(before) || isInvalid(wanted)) {
      return false;
    }
    LOG.info(
        "replacing what was edited of {} and excludes what is wanted", Refusals.describe(wanted));
    ArrayNode changes = before.arrayNode();
    changes.add(
        change(before, "/metadata/resourceVersion", there.getMetadata().getResourceVersion()));
    after
        .properties()
        .forEach(
            field -> {
              if (!field.getValue().equals(before.get(field.getKey()))) {
                changes.add(change(before, "/" + field.getKey(), field.getValue()));
              }
            });
    var _ = lanes.write(there, () -> writes.resource(there).patch(SETTLE, changes.toString()));
    return true;
  }

  /** A webhook that tries nothing, a right that lacks, a quota: asked after what is invalid. */
  private static final Set<Integer> IS_NO_WORD_ON_IT = Set.of(400, 403, 409);

  /**
   * Whether what is wanted is invalid by itself, whatever there is: nobody's edit is in its way
   * then, and half of it is not to take effect.
   */
  private boolean isInvalid(HasMetadata wanted) {
    HasMetadata alone = writes.getKubernetesSerialization().clone(wanted);
    alone.getMetadata().setName(null);
    alone.getMetadata().setGenerateName("try-"); // its own with more might be too long
    try {
      var _ = lanes.write(wanted, () -> writes.resource(alone).dryRun().create());
      return false;
    } catch (KubernetesClientException e) {
      if (e.getCode() == UNPROCESSABLE) {
        return true;
      }
      if (IS_NO_WORD_ON_IT.contains(e.getCode())) {
        return false;
      }
      throw e;
    }
  }

  private static ObjectNode change(ObjectNode nodes, String path, Object value) {
    return nodes.objectNode().put("op", "replace").put("path", path).putPOJO("value", value);
  }

  /**
   * A field that nobody applies any more is reset by the API server: to one replica, of however
   * many. So before ours is given up, another field manager takes the number as it is; an
   * autoscaler takes it from there.
   */
  private void keepReplicas(Deployment there, Deployment wanted) {
    Integer now = there.getSpec().getReplicas();
    if (wanted.getSpec().getReplicas() != null || now == null) {
      return;
    }
    Deployment number = new Deployment();
    number.setMetadata(
        new ObjectMetaBuilder()
            .withName(there.getMetadata().getName())
            .withNamespace(there.getMetadata().getNamespace())
            .withUid(there.getMetadata().getUid())
            .build());
    number.setSpec(new DeploymentSpecBuilder().withReplicas(now).build());
    if (ours(there)) {
      String patch = writes.getKubernetesSerialization().asJson(number);
      var _ = lanes.write(there, () -> writes.resource(there).patch(forced(LAST_REPLICAS), patch));
    }
  }

  private static boolean ours(Deployment there) {
    return there.getMetadata().getManagedFields().stream()
        .filter(fields -> Ownership.FIELD_MANAGER.equals(fields.getManager()))
        .map(fields -> fields.getFieldsV1().getAdditionalProperties().get("f:spec"))
        .anyMatch(spec -> spec instanceof Map<?, ?> map && map.containsKey("f:replicas"));
  }

  /**
   * @param looked whether it was looked up, as informers don't show it as it is
   */
  private Optional<Verdict> apply(
      HasMetadata child,
      @Nullable HasMetadata actual,
      boolean looked,
      InferencePool pool,
      Context<InferencePool> context) {
    ChildKey key = ChildKey.of(pool, child);
    if (actual != null) {
      Optional<Verdict> taken = taken(pool, actual);
      if (taken.isPresent()) {
        foreign.add(key);
        return taken;
      }
      foreign.remove(key);
    }
    Wanted before = asWanted.get(key);
    if (before == null || !before.child().equals(child)) {
      repairs.wantedAnew(key);
    }
    // Also where it is as it should be: in a moment it is not.
    Optional<Verdict> notPutBack = repairs.notPutBack(key, child);
    if (notPutBack.isPresent()) {
      return notPutBack;
    }
    boolean asAnswered = false;
    Optional<Verdict> altered = altered(key, child);
    if (actual != null) {
      if (isKnownToBe(key, actual, child) && altered.isEmpty()) {
        return Optional.empty();
      }
      if (actual instanceof Service service && leadsElsewhere(service)) {
        Service back = leadBack(service);
        repairs.repaired(pool, child, actual);
        return apply(child, back, looked, pool, context);
      }
      String version = actual.getMetadata().getResourceVersion();
      if (matcher.matches(actual, child, context)) {
        asWanted.put(
            key, looked ? answered(child, actual, context) : Wanted.asSent(child, version));
        return Optional.empty();
      }
      asAnswered = isAsAnswered(key, actual, child);
      if (asAnswered && answeredWithin(altered.isEmpty() ? answerCounts : ALTERED_COUNTS, key)) {
        asWanted.computeIfPresent(
            key, (any, last) -> new Wanted(child, version, last.answer(), last.answeredAt()));
        return altered;
      }
    }
    if (actual instanceof Deployment there && child instanceof Deployment desired) {
      keepReplicas(there, desired);
    }
    LOG.info("applying {}", Refusals.describe(child));
    HasMetadata answer = send(child, actual, APPLY);
    foreign.remove(key);
    asWanted.put(key, answered(child, answer, context));
    replacing.remove(key);
    if (before != null && before.child().equals(child) && !asAnswered) {
      repairs.repaired(pool, child, actual);
    }
    return altered(key, child).or(() -> repairs.notPutBack(key, child));
  }

  /** What the API server made of a child, where that is not enough of it. */
  private Optional<Verdict> altered(ChildKey key, HasMetadata child) {
    Wanted last = asWanted.get(key);
    if (last == null || last.answer() == null || !Alteration.matters(child)) {
      return Optional.empty();
    }
    KubernetesSerialization json = writes.getKubernetesSerialization();
    return Alteration.of(
            json.convertValue(child, ObjectNode.class),
            json.unmarshal(last.answer(), ObjectNode.class))
        .map(
            field ->
                Verdict.no(
                    Reason.EPP_UNAVAILABLE,
                    "%s: %s is not what was applied: a mutating admission webhook or policy changes it; have that leave the object alone (kubectl get mutatingwebhookconfigurations lists them), it is applied again all the while"
                        .formatted(Refusals.describe(child), field)));
  }

  /** An answer that is what was asked for need not be kept, unless it may be asked for. */
  private Wanted answered(HasMetadata child, HasMetadata answer, Context<InferencePool> context) {
    boolean isKept = child instanceof Deployment || !matcher.matches(answer, child, context);
    return new Wanted(
        child,
        answer.getMetadata().getResourceVersion(),
        isKept ? writes.getKubernetesSerialization().asJson(answer) : null,
        System.nanoTime());
  }

  /**
   * Applies a child, and leaves it as it was.
   *
   * @param actual as it was observed, and must be still; null for one that must not be there
   * @return what the API server made of it
   */
  private HasMetadata send(HasMetadata child, @Nullable HasMetadata actual, PatchContext how) {
    ObjectMetaBuilder metadata = new ObjectMetaBuilder(child.getMetadata());
    if (actual == null) {
      metadata.withResourceVersion(NO_OBJECT);
    } else {
      metadata
          .withUid(actual.getMetadata().getUid())
          .withResourceVersion(actual.getMetadata().getResourceVersion());
    }
    // A copy with it would be made by way of JSON, which takes longer than all else of a look.
    ObjectMeta own = child.getMetadata();
    child.setMetadata(metadata.build());
    try {
      return lanes.write(child, () -> writes.resource(child).patch(how));
    } finally {
      child.setMetadata(own);
    }
  }

  /** Whether it is an alias of some other name. All other types lead to the selected pods. */
  private static boolean leadsElsewhere(Service service) {
    return "ExternalName".equals(service.getSpec().getType());
  }

  /** The type of a Service is its author's else, so it is not applied. */
  private Service leadBack(Service service) {
    LOG.info("making {} lead to its pods again", Refusals.describe(service));
    String change =
        "{\"metadata\":{\"resourceVersion\":\"%s\"},\"spec\":{\"type\":\"ClusterIP\",\"externalName\":null}}"
            .formatted(service.getMetadata().getResourceVersion());
    return lanes.write(
        service,
        () -> writes.resource(service).patch(PatchContext.of(PatchType.JSON_MERGE), change));
  }

  private static Optional<Verdict> taken(InferencePool pool, HasMetadata actual) {
    if (actual.isMarkedForDeletion() || Ownership.byPredecessor(pool, actual)) {
      return Optional.of(Verdict.pending(leaving(actual)));
    }
    return Ownership.isOrBecomes(pool, actual)
        ? Optional.empty()
        : Optional.of(
            Verdict.no(
                Reason.EPP_UNAVAILABLE,
                "%s is not ours and stays untouched; delete it, its name is needed"
                    .formatted(Refusals.describe(actual))));
  }

  private static String leaving(HasMetadata actual) {
    List<String> keep = new ArrayList<>(actual.getMetadata().getFinalizers());
    keep.removeAll(OF_THE_API_SERVER);
    return "%s is being deleted".formatted(Refusals.describe(actual))
        + (keep.isEmpty()
            ? "; wait until it is gone"
            : ", and metadata.finalizers keep it: %s; it is made anew when it is gone: see to whoever set them, or take them out where nobody will"
                .formatted(String.join(", ", keep)));
  }

  private static Verdict keptBack(HasMetadata child, HasMetadata policy) {
    return Verdict.pending(
        "%s stays as it is until %s can be applied: without it, new pods would be open to anybody"
            .formatted(Refusals.describe(child), Refusals.describe(policy)));
  }
}
