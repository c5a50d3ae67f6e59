package io.fairlead.operator;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
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
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** The operator in this JVM, with its own permissions only, serving one namespace. */
final class OperatorUnderTest implements AutoCloseable {
  static final String IMAGE = "example.test/epp:1";

  private final Map<String, Integer> reconciled = new ConcurrentHashMap<>();
  private final List<String> writes = new CopyOnWriteArrayList<>();
  private final KubernetesClient client;
  private final Operator operator;

  /** Starts at once. */
  OperatorUnderTest(Installed cluster, PoolFixture pool, boolean adopt) {
    this(cluster, pool, adopt, write -> {});
  }

  /**
   * Starts at once.
   *
   * @param onWrite told of every write just before it is sent, on the thread that waits for it
   */
  OperatorUnderTest(Installed cluster, PoolFixture pool, boolean adopt, Consumer<String> onWrite) {
    client =
        cluster.operator(
            write -> {
              writes.add(write);
              onWrite.accept(write);
            });
    operator = on(client, pool, adopt, new Counting());
    operator.start();
  }

  /** Starts at once; pools without a picker are adopted as these settings say. */
  OperatorUnderTest(Installed cluster, PoolFixture pool, Settings settings) {
    client = cluster.operator(writes::add);
    operator = on(client, pool, settings, new Counting());
    operator.start();
  }

  /** Not yet started. */
  static Operator on(KubernetesClient client, PoolFixture pool, boolean adopt, Metrics metrics) {
    return on(
        client,
        pool,
        new Settings(adopt ? Adoption.ALL : Adoption.NONE, Duration.ZERO, IMAGE),
        metrics);
  }

  private static Operator on(
      KubernetesClient client, PoolFixture pool, Settings settings, Metrics metrics) {
    return Controllers.on(
        client,
        settings,
        Set.of(pool.namespace()),
        metrics,
        InstantSource.system(),
        new SimpleMeterRegistry());
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

  /** What the operator sent to the API server other than reading, so far. */
  List<String> writes() {
    return List.copyOf(writes);
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
