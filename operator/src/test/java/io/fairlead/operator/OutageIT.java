package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.reconcile.Settings;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Outage;
import io.fairlead.operator.testing.PoolFixture;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** An API server that is away for a while, of an operator that serves all namespaces. */
@ExtendWith(KubeApi.class)
class OutageIT {
  private static final int NAMESPACES = 10;

  /** Until it is noticed that kinds are watched no more. */
  private static final Duration AWAY = Duration.ofSeconds(16);

  /** Kinds beside those that a cluster need not have. */
  private static final int KINDS = 13;

  /** The client sends it again where nobody answers. */
  private static final int MOST_REQUESTS_PER_LOOK = 1 + Settings.REQUEST_RETRIES;

  @Test
  void whyKindsAreNotSeenIsAskedOnceForAllNamespaces(KubeApi.Running server) {
    Installed cluster = Installed.on(server);
    List<PoolFixture> pools =
        Stream.generate(() -> new PoolFixture(cluster.admin(), cluster.namespace("outage")))
            .limit(NAMESPACES)
            .toList();
    pools.forEach(PoolFixture::createPool);
    AtomicInteger asked = new AtomicInteger();
    Config account = cluster.account(Installed.NAMESPACE, "fairlead-operator");
    try (Outage way = new Outage(account);
        KubernetesClient client =
            new KubernetesClientBuilder()
                .withConfig(way.through(account))
                .withHttpClientBuilderConsumer(
                    http -> http.addOrReplaceInterceptor("asked", new Asked(asked)))
                .build()) {
      Controllers operator =
          Controllers.on(
              client,
              OperatorUnderTest.settings(true),
              Set.of(),
              Metrics.NOOP,
              InstantSource.system(),
              new SimpleMeterRegistry());
      operator.start();
      try {
        pools.forEach(pool -> pool.awaitPool("Accepted", "True/Accepted"));
        asked.set(0);
        long begun = System.nanoTime();
        way.begin();
        await()
            .during(AWAY)
            .atMost(AWAY.plusSeconds(60))
            .pollInterval(Duration.ofSeconds(1))
            .until(() -> true);
        await().until(() -> asked.get() > 0);
        pools.forEach(pool -> pool.delete(Service.class, "picker-service"));
        way.end();
        pools.forEach(
            pool ->
                await()
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> pool.get(Service.class, "picker-service") != null));
        int times = asked.get();
        long seconds = Duration.ofNanos(System.nanoTime() - begun).toSeconds();
        assertThat(times)
            .isLessThanOrEqualTo(KINDS * (1 + (int) seconds / 5) * MOST_REQUESTS_PER_LOOK);
      } finally {
        operator.stop();
      }
    }
  }

  /** Counts requests for one object of a kind: informers want all. */
  private record Asked(AtomicInteger times) implements Interceptor {
    @Override
    public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
      if (request.uri().toString().contains("limit=1")) {
        times.incrementAndGet();
      }
    }
  }
}
