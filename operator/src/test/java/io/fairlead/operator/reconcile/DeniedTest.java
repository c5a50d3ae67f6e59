package io.fairlead.operator.reconcile;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.status.ConditionType;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import io.fairlead.operator.testing.ScriptedApi;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DeniedTest {
  private final AtomicLong nanos = new AtomicLong();
  private final AtomicInteger asked = new AtomicInteger();
  private final Denied denied = new Denied(nanos::get);
  private volatile int code;
  private ScriptedApi api;

  @BeforeEach
  void start() throws IOException {
    api = new ScriptedApi(this::answer);
  }

  @AfterEach
  void stop() {
    api.close();
  }

  /** A conversion webhook that is away, an object that can't be decrypted, a list too long. */
  @Test
  void aKindThatTheApiServerFailsToListIsToldWhenItFailsAgain() {
    code = 500;
    assertThat(ask()).as("once may be chance").isEmpty();
    assertThat(doubt()).hasValue(PoolReconciler.LOOK_AGAIN);
    pass(Denied.IN_DOUBT);
    assertThat(ask()).as("it may fail twice in a moment and mean nothing").isEmpty();
    assertThat(asked).hasValue(1);
    later();
    Verdict first = ask().orElseThrow();
    assertThat(first.reason()).isEqualTo(Reason.API_SERVER_ERROR);
    assertThat(first.message())
        .contains("InferenceModel", "cannot be listed in namespace a", "answers 500")
        .contains("kubectl get inferencemodels.inference.networking.x-k8s.io --namespace a tells")
        .doesNotContain("try 2");
    assertThat(doubt()).isEmpty();
    later();
    assertThat(ask()).as("in the same words, whatever the API server says").hasValue(first);
  }

  @Test
  void aKindWithoutAGroupIsAskedForByItsName() {
    code = 500;
    assertThat(ask(Service.class, api.client())).isEmpty();
    later();
    assertThat(ask(Service.class, api.client()).orElseThrow().message())
        .startsWith("Service of v1 cannot be listed")
        .contains("kubectl get services --namespace a tells");
  }

  @Test
  void whatCanBeListedNowhereIsAskedForEverywhere() {
    code = 500;
    assertThat(denied.verdicts(List.of(InferenceModel.class), null, api.client())).isEmpty();
    later();
    assertThat(denied.verdicts(List.of(InferenceModel.class), null, api.client()).orElseThrow())
        .extractingByKey(ConditionType.READY)
        .extracting(Verdict::message)
        .asString()
        .contains("kubectl get inferencemodels.inference.networking.x-k8s.io -A tells");
  }

  /** Nobody asks while all is well. */
  @Test
  void whatFailedLongAgoDoesNotFailAgain() {
    code = 500;
    assertThat(ask()).isEmpty();
    pass(Duration.ofHours(1));
    assertThat(ask()).as("once more may be chance").isEmpty();
    assertThat(doubt()).isPresent();
    later();
    assertThat(ask()).hasValueSatisfying(is(Reason.API_SERVER_ERROR));
  }

  @Test
  void whatIsForbiddenIsToldAtOnce() {
    code = 500;
    assertThat(ask()).isEmpty();
    later();
    code = 403;
    assertThat(ask()).hasValueSatisfying(is(Reason.PERMISSION_DENIED));
  }

  /** An API server that starts says so of kinds that are there. */
  @Test
  void thatAKindIsMissingIsBelievedWhenItIsSaidAgainAMomentLater() {
    code = 404;
    assertThat(ask()).isEmpty();
    assertThat(doubt()).hasValue(Denied.IN_DOUBT);
    assertThat(ask()).as("the same answer").isEmpty();
    assertThat(asked).hasValue(1);

    pass(Denied.IN_DOUBT);
    assertThat(ask()).hasValueSatisfying(is(Reason.KIND_NOT_FOUND));
    assertThat(doubt()).isEmpty();

    pass(Denied.IN_DOUBT);
    assertThat(ask()).isPresent();
    assertThat(asked).as("what is sure is not asked for all the while").hasValue(2);
  }

  /** An API server that starts fails, and says of kinds that are there that it lacks them. */
  @Test
  void whatIsAnotherFailureThanTheLastIsNotBelievedYet() {
    code = 500;
    assertThat(ask()).isEmpty();
    later();
    code = 404;
    assertThat(ask()).isEmpty();
    later();
    assertThat(ask()).hasValueSatisfying(is(Reason.KIND_NOT_FOUND));
  }

  /** Who can't be reached takes no status either, and what was cut off is seen again after it. */
  @Test
  void anApiServerThatIsAwayDeniesNothing() {
    try (KubernetesClient away =
        new KubernetesClientBuilder()
            .withConfig(
                new ConfigBuilder()
                    .withAutoConfigure(false)
                    .withMasterUrl("http://127.0.0.1:1")
                    .withRequestRetryBackoffLimit(0)
                    .build())
            .build()) {
      assertThat(ask(away)).isEmpty();
      later();
      assertThat(ask(away)).isEmpty();
    }
  }

  private static Consumer<Verdict> is(Reason reason) {
    return verdict -> assertThat(verdict.reason()).isEqualTo(reason);
  }

  private Optional<Verdict> ask() {
    return ask(api.client());
  }

  private Optional<Verdict> ask(KubernetesClient client) {
    return ask(InferenceModel.class, client);
  }

  private Optional<Verdict> ask(Class<? extends HasMetadata> kind, KubernetesClient client) {
    return denied
        .verdicts(List.of(kind), "a", client)
        .map(verdicts -> verdicts.get(ConditionType.READY));
  }

  private Optional<Duration> doubt() {
    return denied.doubt(List.of(InferenceModel.class), "a");
  }

  private void later() {
    pass(PoolReconciler.LOOK_AGAIN);
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  private void answer(HttpExchange exchange) throws IOException {
    byte[] body =
        """
        {"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": %d, "message": "try %d"}
        """
            .formatted(code, asked.incrementAndGet())
            .getBytes(UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(code, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }
}
