package io.fairlead.operator;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.children.PickerImage;
import io.fairlead.operator.observe.Adoption;
import io.fairlead.operator.reconcile.Settings;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.source.controller.ResourceAction;
import io.javaoperatorsdk.operator.processing.event.source.controller.ResourceEvent;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** The operator in this JVM, with its own permissions only, serving one namespace. */
final class OperatorUnderTest implements AutoCloseable {
  static final String IMAGE = "example.test/epp:1";

  /** That, from a registry that asks for nothing. */
  static final PickerImage PICKER = new PickerImage(IMAGE);

  static final Settings.Pace FAST = Paces.usualBut(pace -> pace.turns = Duration.ofMillis(500));

  /** Models say at once whether their pool is full. */
  static final Settings.Pace UNSTEADY = Paces.usualBut(pace -> pace.saturation = Duration.ZERO);

  /** Pickers have as long to read another config as they take on a machine that is busy. */
  static final Settings.Pace PATIENT = Paces.usualBut(pace -> pace.reloads = Duration.ofMinutes(1));

  private static final Set<String> NEED_NOT_BE =
      Set.of("inferenceobjectives", "inferencemodelrewrites", "podmonitors");

  private static final String OLD_GROUP = "inference.networking.x-k8s.io";

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final Map<String, Integer> reconciled = new ConcurrentHashMap<>();
  private final Set<String> heardOf = ConcurrentHashMap.newKeySet();
  private final Installed cluster;
  private final PoolFixture pool;
  private final AuditLog.Mark started;
  private final KubernetesClient client;
  private final Controllers operator;

  /** Starts at once. */
  OperatorUnderTest(Installed cluster, PoolFixture pool, boolean adopt) {
    this(cluster, pool, settings(adopt), InstantSource.system());
  }

  /**
   * Starts at once.
   *
   * @param onWrite told of every write just before it is sent, on the thread that waits for it
   */
  OperatorUnderTest(Installed cluster, PoolFixture pool, boolean adopt, Consumer<String> onWrite) {
    this(cluster, pool, settings(adopt), InstantSource.system(), cluster.operator(onWrite));
  }

  /** Starts at once; pools without a picker are adopted as these settings say. */
  OperatorUnderTest(Installed cluster, PoolFixture pool, Settings settings) {
    this(cluster, pool, settings, InstantSource.system());
  }

  /** Starts at once, and adopts all pools at this pace. */
  static OperatorUnderTest paced(Installed cluster, PoolFixture pool, Settings.Pace pace) {
    return new OperatorUnderTest(
        cluster,
        pool,
        new Settings(Adoption.ALL, Duration.ZERO, PICKER, Settings.USUAL_ROLLOUTS, pace));
  }

  /** The same by another clock. */
  OperatorUnderTest(Installed cluster, PoolFixture pool, Settings settings, InstantSource clock) {
    this(cluster, pool, settings, clock, cluster.operator());
  }

  /** Starts at once, with this client, which it closes. */
  OperatorUnderTest(
      Installed cluster,
      PoolFixture pool,
      Settings settings,
      InstantSource clock,
      KubernetesClient client) {
    this.cluster = cluster;
    this.pool = pool;
    this.client = client;
    started = cluster.audit().mark();
    operator = on(client, pool, settings, clock, new Counting(), meters);
    operator.start();
  }

  /** Not yet started. */
  static Controllers on(KubernetesClient client, PoolFixture pool, boolean adopt, Metrics metrics) {
    return on(
        client, pool, settings(adopt), InstantSource.system(), metrics, new SimpleMeterRegistry());
  }

  /** Not yet started, for the namespaces of these, where it adopts all pools. */
  static Controllers on(KubernetesClient client, PoolFixture... pools) {
    return Controllers.on(
        client,
        settings(true),
        Arrays.stream(pools).map(PoolFixture::namespace).collect(Collectors.toSet()),
        Metrics.NOOP,
        InstantSource.system(),
        new SimpleMeterRegistry());
  }

  static Settings settings(boolean adopt) {
    return new Settings(adopt ? Adoption.ALL : Adoption.NONE, Duration.ZERO, PICKER);
  }

  private static Controllers on(
      KubernetesClient client,
      PoolFixture pool,
      Settings settings,
      InstantSource clock,
      Metrics metrics,
      MeterRegistry meters) {
    return Controllers.on(client, settings, Set.of(pool.namespace()), metrics, clock, meters);
  }

  /**
   * Waits until this object, given as {@code Kind/name}, has been reconciled this often without a
   * failure. What a reconcile had to write is written by then.
   */
  void awaitReconciled(String object, int times) {
    await().atMost(Duration.ofSeconds(30)).until(() -> reconciled(object) >= times);
  }

  int reconciled(String object) {
    return reconciled.getOrDefault(object, 0);
  }

  /** Waits until it has heard that this pool was created, whatever it does of others meanwhile. */
  void awaitHeardOf(InferencePool created) {
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> heardOf.contains(created.getMetadata().getUid()));
  }

  /** How often others removed our entry of a pool. */
  double removals() {
    return meters.get("fairlead.operator.status.entry.removals").counter().count();
  }

  /** Pools whose entry of ours others keep removing. */
  double lostEntries() {
    return meters.get("fairlead.operator.status.entries.lost").gauge().value();
  }

  /** Watches that are not open. */
  double unwatched() {
    return meters.get("fairlead.operator.informers.unwatched").gauge().value();
  }

  /** What the API server was asked by operators since this one's start that concerns its pool. */
  List<AuditLog.Request> requests() {
    return requests(started);
  }

  /** Now, for {@link #requests(AuditLog.Mark)}. */
  AuditLog.Mark mark() {
    return cluster.audit().mark();
  }

  /** The same since a mark. */
  List<AuditLog.Request> requests(AuditLog.Mark since) {
    return cluster.audit().since(since).stream()
        .filter(request -> request.user().equals(Installed.OPERATOR))
        .filter(request -> request.namespace().equals(pool.namespace()))
        .toList();
  }

  /**
   * A kind that the cluster need not have is looked for every 20 s, whatever else happens, unless
   * there is an object of it. Which of them it has is a matter of the tests before.
   */
  static boolean looksForAKind(AuditLog.Request request) {
    boolean oldPools =
        request.resource().equals("inferencepools") && request.group().equals(OLD_GROUP);
    return request.verb().equals("list") && (oldPools || NEED_NOT_BE.contains(request.resource()));
  }

  /** What of it was meant to change something. */
  List<AuditLog.Request> writes() {
    return requests().stream().filter(AuditLog.Request::writes).toList();
  }

  @Override
  public void close() {
    operator.stop();
    client.close();
  }

  private final class Counting implements Metrics {
    @Override
    public void receivedEvent(Event event, Map<String, Object> metadata) {
      if (event instanceof ResourceEvent of && of.getAction() == ResourceAction.ADDED) {
        of.getResource()
            .filter(InferencePool.class::isInstance)
            .ifPresent(added -> heardOf.add(added.getMetadata().getUid()));
      }
    }

    @Override
    public void finishedReconciliation(HasMetadata object, Map<String, Object> metadata) {
      reconciled.merge(object.getKind() + "/" + object.getMetadata().getName(), 1, Integer::sum);
    }
  }
}
