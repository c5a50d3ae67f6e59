package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaderElectionRecord;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.Lock;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.http.StandardHttpRequest;
import io.fairlead.operator.apply.NotLeadingException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Who may write, and whose Lease is over, whatever the clocks of machines say. */
class FenceTest {
  private static final Duration TERM = Duration.ofSeconds(15);

  /** More than goes by between two statements, also on a machine that stands still. */
  private static final Duration MOMENT = Duration.ofMinutes(1);

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000);
  private final AtomicReference<Instant> time = new AtomicReference<>(Instant.EPOCH);
  private final Fence fence =
      new Fence(URI.create("https://api.test"), TERM, nanos::get, time::get);
  private final Written there = new Written();
  private final ObservedLock lock = new ObservedLock(there, fence, nanos::get);

  @Test
  void nobodyWritesBeforeTheLeaseIsTheirs() {
    assertThatThrownBy(() -> ask("PATCH", "/api/v1/namespaces/a/configmaps/b"))
        .isInstanceOf(NotLeadingException.class)
        .hasMessageContaining("PATCH /api/v1/namespaces/a/configmaps/b is not sent");
    assertThatCode(() -> ask("GET", "/api/v1/namespaces/a/configmaps/b"))
        .doesNotThrowAnyException();
    assertThatCode(() -> ask("PATCH", "/apis/coordination.k8s.io/v1/namespaces/a/leases/b"))
        .doesNotThrowAnyException();
  }

  /** As where a product hands on what clusters are asked: nobody would ever lead there. */
  @Test
  void theLeaseIsKnownBehindAProxysPathToo() {
    Fence behind =
        new Fence(URI.create("https://api.test/clusters/c1/"), TERM, nanos::get, time::get);
    assertThatCode(
            () ->
                ask(
                    behind,
                    "PATCH",
                    "/clusters/c1/apis/coordination.k8s.io/v1/namespaces/a/leases/b"))
        .doesNotThrowAnyException();
    assertThatThrownBy(
            () -> ask(behind, "PATCH", "/clusters/c1/api/v1/namespaces/a/configmaps/leases"))
        .isInstanceOf(NotLeadingException.class);
  }

  /** Names that tenants choose open nothing. */
  @Test
  void aNamespaceOrAnObjectThatIsCalledLeasesIsFenced() {
    for (String path :
        List.of(
            "/apis/apps/v1/namespaces/leases/deployments/a",
            "/apis/x/v1/namespaces/a/inferencepools/leases/status",
            "/apis/x/v1/namespaces/coordination.k8s.io/leases/b",
            "/api/v1/namespaces/a/configmaps/tokenreviews")) {
      assertThatThrownBy(() -> ask("PATCH", path)).as(path).isInstanceOf(NotLeadingException.class);
    }
    for (String path :
        List.of(
            "/apis/authentication.k8s.io/v1/tokenreviews",
            "/apis/authorization.k8s.io/v1/subjectaccessreviews")) {
      assertThatCode(() -> ask("POST", path)).as(path).doesNotThrowAnyException();
    }
  }

  @Test
  void whoHasNotRenewedForATermWritesNothing() throws Exception {
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      lock.update(client, record("me", Instant.now()));
      pass(TERM.minusMillis(1));
      assertThatCode(() -> ask("PUT", "/apis/x/y/status")).doesNotThrowAnyException();
      pass(Duration.ofMillis(1));
      assertThatThrownBy(() -> ask("PUT", "/apis/x/y/status"))
          .isInstanceOf(NotLeadingException.class);
      lock.create(client, record("me", Instant.now()));
      assertThatCode(() -> ask("DELETE", "/apis/x/y")).doesNotThrowAnyException();
    }
  }

  /** The clock that never jumps stands still then, and another may lead by now. */
  @Test
  void whoSleptWithTheMachineForATermWritesNothing() throws Exception {
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      lock.update(client, record("me", Instant.now()));
      time.updateAndGet(now -> now.plus(TERM).minusMillis(1));
      assertThatCode(() -> ask("PUT", "/apis/x/y/status")).doesNotThrowAnyException();
      time.updateAndGet(now -> now.plusMillis(1));
      assertThatThrownBy(() -> ask("PUT", "/apis/x/y/status"))
          .isInstanceOf(NotLeadingException.class);
      lock.update(client, record("me", Instant.now()));
      assertThatCode(() -> ask("PUT", "/apis/x/y/status")).doesNotThrowAnyException();
      time.updateAndGet(now -> now.minus(Duration.ofDays(1)));
      assertThatCode(() -> ask("PUT", "/apis/x/y/status"))
          .as("a clock that is set back")
          .doesNotThrowAnyException();
      pass(TERM);
      assertThatThrownBy(() -> ask("PUT", "/apis/x/y/status"))
          .isInstanceOf(NotLeadingException.class);
    }
  }

  /** A term is counted from when the renewal was sent: the API server may have had it since. */
  @Test
  void aSlowRenewalCountsFromItsBeginning() throws Exception {
    there.takes = TERM;
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      lock.update(client, record("me", Instant.now()));
      assertThatThrownBy(() -> ask("POST", "/api/v1/events"))
          .isInstanceOf(NotLeadingException.class);
    }
  }

  @Test
  void aLeaseThatIsGivenBackOpensNothing() throws Exception {
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      lock.update(client, record(null, Instant.now()));
      assertThatThrownBy(() -> ask("POST", "/api/v1/events"))
          .isInstanceOf(NotLeadingException.class);
    }
  }

  /** Who gets it may write as soon as it is given, while this one's requests are on their way. */
  @Test
  void whoGivesTheLeaseBackWritesNothingMore() throws Exception {
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      lock.update(client, record("me", Instant.now()));
      there.onUpdate =
          () ->
              assertThatThrownBy(() -> ask("POST", "/api/v1/events"))
                  .as("while it is given")
                  .isInstanceOf(NotLeadingException.class);
      lock.update(client, record(null, Instant.now()));
      there.onUpdate = () -> {};
      lock.update(client, record("me", Instant.now()));
      assertThatThrownBy(() -> ask("PUT", "/apis/x/y/status"))
          .as("a renewal that was under way")
          .isInstanceOf(NotLeadingException.class);
    }
  }

  /** Else whoever reconciles would take it for something that nobody thought of. */
  @Test
  void aClientThrowsIt() {
    try (KubernetesClient client =
        new KubernetesClientBuilder()
            .withConfig(new ConfigBuilder().withMasterUrl("https://127.0.0.1:1").build())
            .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("fence", fence))
            .build()) {
      assertThatThrownBy(() -> client.namespaces().withName("a").delete())
          .isInstanceOf(NotLeadingException.class);
    }
  }

  /** A patch leaves null out, and whoever gives the Lease back would go on holding it. */
  @Test
  void aLeaseThatIsGivenBackIsNobodys() {
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      lock.update(client, record(null, Instant.now()));
      assertThat(there.record).isNotNull();
      assertThat(there.record.getHolderIdentity()).isEmpty();
    }
  }

  @Test
  void aRenewalIsAsOldAsItIsSinceItWasSeen() throws Exception {
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      assertThat(lock.get(client)).isNull();
      // The holder's clock is an hour behind ours: to an elector its Lease would be over.
      there.record = record("other", Instant.now().minus(Duration.ofHours(1)));
      assertThat(age(client)).isLessThan(MOMENT);
      pass(Duration.ofSeconds(100));
      assertThat(age(client)).isBetween(Duration.ofSeconds(100), MOMENT.plusSeconds(100));
      there.record = record("other", Instant.now().minus(Duration.ofMinutes(59)));
      assertThat(age(client)).as("renewed").isLessThan(MOMENT);
      there.record = record("third", there.record.getRenewTime().toInstant());
      pass(Duration.ofSeconds(100));
      assertThat(age(client)).as("another holder").isLessThan(MOMENT);
    }
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  private Duration age(KubernetesClient client) {
    LeaderElectionRecord record = lock.get(client);
    assertThat(record).isNotNull();
    return Duration.between(record.getRenewTime().toInstant(), Instant.now());
  }

  private void ask(String method, String path) {
    ask(fence, method, path);
  }

  private static void ask(Fence fenced, String method, String path) {
    fenced.before(
        new StandardHttpRequest.Builder(),
        new StandardHttpRequest.Builder()
            .uri("https://127.0.0.1" + path)
            .method(method, "application/json", "{}")
            .build(),
        new Interceptor.RequestTags() {
          @Override
          public <T> @Nullable T getTag(Class<T> type) {
            return null;
          }
        });
  }

  private static LeaderElectionRecord record(@Nullable String holder, Instant renewed) {
    ZonedDateTime at = renewed.atZone(ZoneOffset.UTC);
    return new LeaderElectionRecord(holder, TERM, at, at, 0);
  }

  /** What is in the API server. */
  private final class Written implements Lock {
    private @Nullable LeaderElectionRecord record;
    private Duration takes = Duration.ZERO;
    private Runnable onUpdate = () -> {};

    @Override
    public @Nullable LeaderElectionRecord get(KubernetesClient client) {
      return record;
    }

    @Override
    public void create(KubernetesClient client, LeaderElectionRecord made) {
      update(client, made);
    }

    @Override
    public void update(KubernetesClient client, LeaderElectionRecord made) {
      onUpdate.run();
      pass(takes);
      record = made;
    }

    @Override
    public String identity() {
      return "me";
    }

    @Override
    public String describe() {
      return "a lock";
    }
  }
}
