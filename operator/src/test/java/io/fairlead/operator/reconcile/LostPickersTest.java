package io.fairlead.operator.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.children.Labels;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.observe.ObservationBuilder;
import io.fairlead.operator.observe.Ownership;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import io.fairlead.operator.testing.ScriptedApi;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What an EndpointPicker asked for stays when it goes with its kind. */
class LostPickersTest {
  private static final String KINDS =
      """
      {"kind":"APIResourceList","apiVersion":"v1","groupVersion":"fairlead.io/v1alpha1",
       "resources":[{"name":"endpointpickers","singularName":"endpointpicker","namespaced":true,"kind":"EndpointPicker","verbs":["create","list"]}]}
      """;
  private static final String NO_KINDS =
      """
      {"kind":"APIResourceList","apiVersion":"v1","groupVersion":"fairlead.io/v1alpha1","resources":[]}
      """;
  private static final String NONE =
      """
      {"kind":"EndpointPickerList","apiVersion":"fairlead.io/v1alpha1","metadata":{},"items":[]}
      """;

  private final AtomicLong nanos = new AtomicLong();
  private final LostPickers lost = new LostPickers(nanos::get, new KindLooks(nanos::get));
  private volatile String kinds = KINDS;
  private List<HasMetadata> children = List.of();
  private Optional<Verdict> denied = Optional.empty();
  private ScriptedApi api;

  @BeforeEach
  void start() throws IOException {
    api =
        new ScriptedApi(
            exchange -> {
              boolean objects = exchange.getRequestURI().getPath().contains("/namespaces/");
              byte[] answer = (objects ? NONE : kinds).getBytes(StandardCharsets.UTF_8);
              exchange.getResponseHeaders().add("Content-Type", "application/json");
              exchange.sendResponseHeaders(200, answer.length);
              exchange.getResponseBody().write(answer);
              exchange.close();
            });
  }

  @AfterEach
  void stop() {
    api.close();
  }

  @Test
  void oneThatIsDeletedAloneGoesAfterAMoment() {
    assertThat(doubt(true, "mine")).isEmpty();
    assertThat(doubt(true)).isPresent();
    pass(Duration.ofSeconds(3));
    assertThat(doubt(true)).isEmpty();
  }

  /** A watch is closed with its kind; that the kind is there may be what was so a moment ago. */
  @Test
  void aKindThatNobodyWatchesIsNotBelievedToBeThere() {
    assertThat(doubt(true, "mine")).isEmpty();
    assertThat(doubt(false)).isPresent();
    pass(Duration.ofSeconds(10));
    assertThat(doubt(false)).isPresent();
    pass(Duration.ofSeconds(1));
    assertThat(doubt(true)).isEmpty();
  }

  /** Else its pool would say for ever what was so before. */
  @Test
  void whyAKindCannotBeWatchedIsTold() {
    assertThat(doubt(true, "mine")).isEmpty();
    denied = Optional.of(Verdict.no(Reason.PERMISSION_DENIED, "cannot watch"));
    assertThat(doubt(false)).hasValueSatisfying(doubt -> assertThat(doubt.why()).isNull());
    pass(Duration.ofSeconds(3));
    assertThat(doubt(false))
        .hasValueSatisfying(doubt -> assertThat(doubt.why()).isEqualTo(denied.orElseThrow()));
    denied = Optional.empty();
    assertThat(doubt(true)).isEmpty();
  }

  /** Whoever makes a kind anew makes its objects after it. */
  @Test
  void oneThatWentWithItsKindIsWaitedForWhenThatIsBack() {
    goesWithItsKindThatComesBack();
    assertThat(doubt(true)).hasValueSatisfying(LostPickersTest::isAwaited);
    pass(Duration.ofSeconds(9));
    assertThat(doubt(true)).hasValueSatisfying(LostPickersTest::isAwaited);
    pass(Duration.ofSeconds(1));
    assertThat(doubt(true)).isEmpty();
  }

  @Test
  void whoseKindGoesAgainIsWaitedForAnew() {
    goesWithItsKindThatComesBack();
    assertThat(doubt(true)).isPresent();
    kinds = NO_KINDS;
    pass(Duration.ofSeconds(9));
    assertThat(doubt(false)).isPresent();
    kinds = KINDS;
    pass(Duration.ofSeconds(1));
    assertThat(doubt(true)).isPresent();
    pass(Duration.ofSeconds(10));
    assertThat(doubt(true)).isEmpty();
  }

  /** As an operator finds it that may list EndpointPickers and not watch them. */
  @Test
  void aPoolThatHadNoneGoesOnThoughNobodyWatchesTheKind() {
    children =
        List.of(
            new ConfigMapBuilder()
                .withNewMetadata()
                .withName("pool-epp")
                .withNamespace("a")
                .addToLabels(Labels.MANAGED_BY, Labels.MANAGER)
                .addNewOwnerReference()
                .withApiVersion(HasMetadata.getApiVersion(InferencePool.class))
                .withKind("InferencePool")
                .withName("pool")
                .withUid("uid")
                .withController(true)
                .endOwnerReference()
                .addNewManagedField()
                .withManager(Ownership.FIELD_MANAGER)
                .withOperation("Apply")
                .endManagedField()
                .endMetadata()
                .build());
    assertThat(doubt(false)).isEmpty();
  }

  private void goesWithItsKindThatComesBack() {
    assertThat(doubt(true, "mine")).isEmpty();
    assertThat(doubt(true)).isPresent();
    kinds = NO_KINDS;
    pass(Duration.ofSeconds(3));
    assertThat(doubt(false)).isPresent();
    kinds = KINDS;
    pass(Duration.ofSeconds(1));
  }

  private static void isAwaited(Doubt doubt) {
    assertThat(doubt.why()).isNotNull();
    assertThat(doubt.why().message()).contains("went with its kind", "ten seconds at most");
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  private Optional<Doubt> doubt(boolean watched, String... pickers) {
    InferencePool pool = new InferencePool();
    pool.setMetadata(
        new ObjectMetaBuilder().withName("pool").withNamespace("a").withUid("uid").build());
    Observation seen =
        ObservationBuilder.of(pool)
            .pickers(Stream.of(pickers).map(LostPickersTest::picker).toList())
            .children(children)
            .build();
    return lost.doubt(seen, null, watched, () -> denied, api.client());
  }

  private static EndpointPicker picker(String name) {
    EndpointPicker picker = new EndpointPicker();
    picker.setMetadata(new ObjectMetaBuilder().withName(name).withUid(name).build());
    return picker;
  }
}
