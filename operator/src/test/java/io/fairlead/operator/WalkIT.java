package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random edits, deletes and tampering, with restarts among them, end in what an operator makes of
 * the same resources that has seen none of it. {@code -Dfairlead.operator.walk.changes=10000} is
 * the long one, {@code -Dfairlead.operator.walk.seed} another.
 */
@ExtendWith(KubeApi.class)
class WalkIT {
  private static final int CHANGES = Integer.getInteger("fairlead.operator.walk.changes", 150);
  private static final long SEED = Long.getLong("fairlead.operator.walk.seed", 1);
  private static final int SEEDS = Integer.getInteger("fairlead.operator.walk.seeds", 1);

  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);
  private static final int POOLS = 4;
  private static final int MODELS = 12;

  /** Its entry in a pool's status is put back six times at once: more would take minutes. */
  private static final int MOST_REMOVALS = 5;

  private static final List<Class<? extends HasMetadata>> CHILDREN =
      List.of(
          ServiceAccount.class,
          RoleBinding.class,
          ConfigMap.class,
          Service.class,
          Deployment.class,
          PodDisruptionBudget.class);

  /**
   * Longer than anything is held back that may come again at once, such as what an EndpointPicker
   * asked for that was deleted.
   */
  private static final Duration HELD = Duration.ofSeconds(5);

  private final Map<String, Integer> removals = new HashMap<>();
  private int touched;
  private Random random = new Random();
  private Installed cluster;
  private PoolFixture names;

  @BeforeEach
  void prepare(KubeApi.Running server) {
    cluster = Installed.on(server);
    names = new PoolFixture(cluster.admin(), cluster.namespace("walk"));
  }

  static LongStream seeds() {
    return LongStream.range(SEED, SEED + SEEDS);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void endsWhereAnOperatorBeginsThatSawNoneOfIt(long seed) {
    random = new Random(seed);
    Map<String, Integer> done = new TreeMap<>();
    OperatorUnderTest operator = start();
    try {
      for (int i = 0; i < CHANGES; i++) {
        if (random.nextInt(60) == 0) {
          operator.close();
          operator = start();
          done.merge("restart", 1, Integer::sum);
        }
        Change change = Change.values()[random.nextInt(Change.values().length)];
        done.merge(change.name().toLowerCase(Locale.ROOT), make(change) ? 1 : 0, Integer::sum);
      }
      System.out.printf("seed %d, changes that were made: %s%n", seed, done);
      // What is held on to while a picker's settings can't be run is history, and none is in force.
      all(EndpointPicker.class)
          .forEach(picker -> merge(picker, "{\"spec\":{\"scheduling\":null}}"));
      Map<String, Object> walked = settled(operator);
      operator.close();

      Map<String, Integer> numbers = numbers();
      forget();
      operator = start();
      var _ = settled(operator);
      scale(numbers);
      Map<String, Object> fresh = settled(operator);
      assertThat(walked).as("seed %d", seed).containsExactlyInAnyOrderEntriesOf(fresh);
      operator.close();

      operator = start();
      AuditLog.Mark restarted = operator.mark();
      settled(operator);
      assertThat(writes(operator, restarted)).isEmpty();
    } finally {
      operator.close();
    }
  }

  private OperatorUnderTest start() {
    return new OperatorUnderTest(cluster, names, true);
  }

  private enum Change {
    CREATE_POOL,
    EDIT_POOL,
    DELETE_POOL,
    CREATE_MODEL,
    CREATE_ANOTHER_MODEL,
    EDIT_MODEL,
    MOVE_MODEL,
    DELETE_MODEL,
    CREATE_PICKER,
    EDIT_PICKER,
    BREAK_PICKER,
    DELETE_PICKER,
    FOREIGN_SERVICE,
    DELETE_CHILD,
    EDIT_CHILD,
    REMOVE_ENTRY,
    CLEAR_STATUS
  }

  /** Whether it could be made: there may be nothing to edit, or the API server refuses it. */
  private boolean make(Change change) {
    try {
      return switch (change) {
        case CREATE_POOL -> {
          int i = random.nextInt(POOLS);
          names.createPool("p" + i, service(i));
          yield true;
        }
        case EDIT_POOL ->
            edit(
                InferencePool.class,
                pool -> {
                  int i = pool.getMetadata().getName().charAt(1) - '0';
                  return "{\"spec\":{\"selector\":{\"matchLabels\":{\"app\":\"a%d\"}},\"endpointPickerRef\":{\"name\":\"%s\",\"port\":{\"number\":%d}}}}"
                      .formatted(random.nextInt(3), service(i), 9000 + random.nextInt(3));
                });
        case DELETE_POOL -> delete(InferencePool.class);
        case CREATE_MODEL, CREATE_ANOTHER_MODEL -> {
          names.createModel(
              "m" + random.nextInt(MODELS),
              "n" + random.nextInt(MODELS / 2),
              1 + random.nextInt(99),
              "p" + random.nextInt(POOLS + 1));
          yield true;
        }
        case EDIT_MODEL ->
            edit(
                InferenceModel.class,
                model ->
                    "{\"spec\":{\"criticality\":\"%s\",\"targetModels\":[{\"name\":\"t\",\"weight\":%d}]}}"
                        .formatted(
                            random.nextBoolean() ? "Standard" : "Sheddable",
                            1 + random.nextInt(50)));
        case MOVE_MODEL ->
            edit(
                InferenceModel.class,
                model ->
                    "{\"spec\":{\"poolRef\":{\"group\":\"%s\",\"name\":\"p%d\"}}}"
                        .formatted(
                            random.nextInt(4) == 0 ? "other.test" : InferencePool.GROUP,
                            random.nextInt(POOLS + 1)));
        case DELETE_MODEL -> delete(InferenceModel.class);
        case CREATE_PICKER -> {
          names.createPicker(
              "e" + random.nextInt(POOLS), "{name: p%d}".formatted(random.nextInt(POOLS + 1)));
          yield true;
        }
        case EDIT_PICKER ->
            edit(
                EndpointPicker.class,
                picker ->
                    "{\"spec\":{\"replicas\":%d,\"image\":\"example.test/epp:%d\"}}"
                        .formatted(random.nextInt(4), random.nextInt(3)));
        case BREAK_PICKER ->
            edit(
                EndpointPicker.class,
                picker ->
                    random.nextBoolean()
                        ? "{\"spec\":{\"scheduling\":{\"plugins\":[{\"type\":\"no-such-plugin\"}]}}}"
                        : "{\"spec\":{\"scheduling\":null}}");
        case DELETE_PICKER -> delete(EndpointPicker.class);
        case FOREIGN_SERVICE -> foreignService(service(random.nextInt(POOLS)));
        case DELETE_CHILD -> {
          List<HasMetadata> children = children();
          boolean any = !children.isEmpty();
          if (any) {
            cluster.admin().resource(one(children)).delete();
          }
          yield any;
        }
        case EDIT_CHILD -> editChild();
        case REMOVE_ENTRY -> removeEntry();
        case CLEAR_STATUS -> {
          List<InferenceModel> models = all(InferenceModel.class);
          boolean any = !models.isEmpty();
          if (any) {
            status(one(models), "{\"status\":{\"conditions\":null}}");
          }
          yield any;
        }
      };
    } catch (KubernetesClientException e) {
      // There already, gone already, or changed meanwhile.
      assertThat(e.getCode()).isIn(404, 409, 422);
      return false;
    }
  }

  /** A pool's own two: which of two pools gets a Service that both name is nobody's to say. */
  private String service(int pool) {
    return "s" + pool + (random.nextBoolean() ? "a" : "b");
  }

  private boolean foreignService(String name) {
    Service there = names.get(Service.class, name);
    if (there == null) {
      names.create(
          """
          apiVersion: v1
          kind: Service
          metadata: {name: %s}
          spec: {ports: [{port: 80}]}
          """
              .formatted(name));
      return true;
    }
    boolean foreign = there.getMetadata().getOwnerReferences().isEmpty();
    if (foreign) {
      cluster.admin().resource(there).delete();
    }
    return foreign;
  }

  private boolean editChild() {
    List<HasMetadata> children = children();
    if (children.isEmpty()) {
      return false;
    }
    HasMetadata child = one(children);
    merge(
        child,
        switch (child) {
          case ConfigMap map -> "{\"data\":{\"config.yaml\":\"garbage\"}}";
          case Service service ->
              "{\"spec\":{\"ports\":[{\"name\":\"x\",\"port\":%d}]}}"
                  .formatted(1 + random.nextInt(100));
          case Deployment deployment ->
              "{\"spec\":{\"revisionHistoryLimit\":%d}}".formatted(random.nextInt(10));
          case PodDisruptionBudget budget -> "{\"spec\":{\"maxUnavailable\":2}}";
          default -> "{\"metadata\":{\"labels\":{\"app.kubernetes.io/part-of\":\"else\"}}}";
        });
    return true;
  }

  private boolean removeEntry() {
    List<InferencePool> pools = all(InferencePool.class);
    if (pools.isEmpty()) {
      return false;
    }
    InferencePool pool = one(pools);
    if (removals.merge(pool.getMetadata().getUid(), 1, Integer::sum) > MOST_REMOVALS) {
      return false;
    }
    status(pool, "{\"status\":{\"parents\":[]}}");
    return true;
  }

  private interface Edit<T> {
    String of(T object);
  }

  private <T extends HasMetadata> boolean edit(Class<T> kind, Edit<T> edit) {
    List<T> objects = all(kind);
    if (objects.isEmpty()) {
      return false;
    }
    T object = one(objects);
    merge(object, edit.of(object));
    return true;
  }

  private boolean delete(Class<? extends HasMetadata> kind) {
    List<? extends HasMetadata> objects = all(kind);
    if (objects.isEmpty()) {
      return false;
    }
    cluster.admin().resource(one(objects)).delete();
    return true;
  }

  private void merge(HasMetadata object, String patch) {
    cluster.admin().resource(object).patch(MERGE, patch);
  }

  private void status(HasMetadata object, String patch) {
    cluster.admin().resource(object).subresource("status").patch(MERGE, patch);
  }

  private <T> T one(List<T> objects) {
    return objects.get(random.nextInt(objects.size()));
  }

  private <T extends HasMetadata> List<T> all(Class<T> kind) {
    return cluster.admin().resources(kind).inNamespace(names.namespace()).list().getItems();
  }

  private List<HasMetadata> children() {
    List<HasMetadata> children = new ArrayList<>();
    for (Class<? extends HasMetadata> kind : CHILDREN) {
      all(kind).stream()
          .filter(object -> !object.getMetadata().getOwnerReferences().isEmpty())
          .forEach(children::add);
    }
    return children;
  }

  /** What the garbage collector does, which this API server does without. */
  private void collectGarbage() {
    List<String> pools =
        all(InferencePool.class).stream().map(pool -> pool.getMetadata().getUid()).toList();
    children().stream()
        .filter(
            child -> !pools.contains(child.getMetadata().getOwnerReferences().getFirst().getUid()))
        .forEach(child -> cluster.admin().resource(child).delete());
  }

  /** Waits until the operator has looked at everything once more and has nothing to write. */
  private Map<String, Object> settled(OperatorUnderTest operator) {
    await()
        .pollDelay(HELD)
        .atMost(Duration.ofMinutes(3))
        .until(
            () -> {
              collectGarbage();
              AuditLog.Mark since = operator.mark();
              // A look that ends after the first may have begun before it.
              awaitLookedAt(operator);
              awaitLookedAt(operator);
              names.awaitEventsSent();
              return writes(operator, since).isEmpty();
            });
    return state();
  }

  private void awaitLookedAt(OperatorUnderTest operator) {
    List<String> pools = all(InferencePool.class).stream().map(WalkIT::key).toList();
    Map<String, Integer> seen = new HashMap<>();
    pools.forEach(pool -> seen.put(pool, operator.reconciled(pool)));
    names.touchAll(++touched);
    seen.forEach((pool, times) -> operator.awaitReconciled(pool, times + 1));
  }

  /** Without what is said of the model by which it is known that all Events have been sent. */
  private static List<AuditLog.Request> writes(OperatorUnderTest operator, AuditLog.Mark since) {
    return operator.requests(since).stream()
        .filter(AuditLog.Request::writes)
        .filter(request -> !request.resource().equals("events"))
        .filter(request -> !request.name().startsWith("last-"))
        .toList();
  }

  /** Takes away all that operators made and said. */
  private void forget() {
    children().forEach(child -> cluster.admin().resource(child).delete());
    all(InferencePool.class).forEach(pool -> status(pool, "{\"status\":null}"));
    all(InferenceModel.class).forEach(model -> status(model, "{\"status\":null}"));
    all(EndpointPicker.class).forEach(picker -> status(picker, "{\"status\":null}"));
  }

  /** How many pods each Deployment asks for: one that nobody sets any more stays what it was. */
  private Map<String, Integer> numbers() {
    return all(Deployment.class).stream()
        .collect(
            Collectors.toMap(
                deployment -> deployment.getMetadata().getName(),
                deployment -> deployment.getSpec().getReplicas()));
  }

  private void scale(Map<String, Integer> numbers) {
    for (Deployment deployment : all(Deployment.class)) {
      int number = numbers.getOrDefault(deployment.getMetadata().getName(), 1);
      if (number != deployment.getSpec().getReplicas()) {
        merge(deployment, "{\"spec\":{\"replicas\":%d}}".formatted(number));
      }
    }
  }

  /** All that operators made and said, without what differs between two that say the same. */
  private Map<String, Object> state() {
    Map<String, Object> state = new TreeMap<>();
    for (HasMetadata child : children()) {
      state.put(key(child), essence(child));
    }
    for (InferencePool pool : all(InferencePool.class)) {
      state.put(
          key(pool),
          pool.getStatus() == null
              ? List.of()
              : pool.getStatus().parents().stream()
                  .flatMap(
                      parent ->
                          Stream.concat(Stream.of(parent.parentRef()), said(parent.conditions())))
                  .toList());
    }
    for (InferenceModel model : all(InferenceModel.class)) {
      state.put(
          key(model),
          model.getStatus() == null ? List.of() : said(model.getStatus().conditions()).toList());
    }
    for (EndpointPicker picker : all(EndpointPicker.class)) {
      state.put(
          key(picker),
          picker.getStatus() == null
              ? List.of()
              : Stream.concat(
                      Stream.of(String.valueOf(picker.getStatus().models())),
                      said(picker.getStatus().conditions()))
                  .toList());
    }
    return state;
  }

  private static String key(HasMetadata object) {
    return object.getKind() + "/" + object.getMetadata().getName();
  }

  private static Stream<String> said(List<Condition> conditions) {
    return conditions.stream()
        .map(
            c ->
                "%s %s %s %s %s"
                    .formatted(
                        c.getType(),
                        c.getStatus(),
                        c.getReason(),
                        c.getObservedGeneration(),
                        c.getMessage()))
        .sorted();
  }

  private static Object essence(HasMetadata child) {
    Map<String, String> labels = new TreeMap<>(child.getMetadata().getLabels());
    labels.remove("example.test/touched");
    Object spec =
        switch (child) {
          case ConfigMap map ->
              List.of(map.getData(), String.valueOf(map.getMetadata().getAnnotations()));
          case Service service ->
              List.of(service.getSpec().getPorts(), service.getSpec().getSelector());
          case Deployment deployment -> deployment.getSpec();
          case PodDisruptionBudget budget -> budget.getSpec();
          case RoleBinding binding -> List.of(binding.getRoleRef(), binding.getSubjects());
          default -> "";
        };
    return labels
        + " "
        + child.getMetadata().getOwnerReferences().stream()
            .map(owner -> owner.getUid())
            .collect(Collectors.joining())
        + " "
        + spec;
  }
}
