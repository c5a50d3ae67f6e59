package io.fairlead.operator;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.operator.observe.Adoption;
import io.fairlead.operator.reconcile.Settings;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** The operator in this JVM, with its own permissions only, serving one namespace. */
final class OperatorUnderTest implements AutoCloseable {
  static final String IMAGE = "example.test/epp:1";

  private final Map<String, Integer> reconciled = new ConcurrentHashMap<>();
  private final Installed cluster;
  private final PoolFixture pool;
  private final AuditLog.Mark started;
  private final KubernetesClient client;
  private final Operator operator;

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
    operator = on(client, pool, settings, clock, new Counting());
    operator.start();
  }

  /** Not yet started. */
  static Operator on(KubernetesClient client, PoolFixture pool, boolean adopt, Metrics metrics) {
    return on(client, pool, settings(adopt), InstantSource.system(), metrics);
  }

  static Settings settings(boolean adopt) {
    return new Settings(adopt ? Adoption.ALL : Adoption.NONE, Duration.ZERO, IMAGE);
  }

  private static Operator on(
      KubernetesClient client,
      PoolFixture pool,
      Settings settings,
      InstantSource clock,
      Metrics metrics) {
    return Controllers.on(
        client, settings, Set.of(pool.namespace()), metrics, clock, new SimpleMeterRegistry());
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

  /** A kind that the cluster lacks is looked for every 20 s, whatever else happens. */
  static boolean looksForAKind(AuditLog.Request request) {
    return request.verb().equals("list") && request.code() == 404;
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
    public void finishedReconciliation(HasMetadata object, Map<String, Object> metadata) {
      reconciled.merge(object.getKind() + "/" + object.getMetadata().getName(), 1, Integer::sum);
    }
  }
}
