package io.fairlead.operator.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.observe.ObservationBuilder;
import io.fairlead.operator.status.Verdict;
import io.fairlead.operator.testing.ScriptedApi;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Models that go with their kind stay until it is back, and they with it. */
class LostModelsTest {
  private static final String MODELS =
      """
      {"name":"inferencemodels","singularName":"inferencemodel","namespaced":true,"kind":"InferenceModel","verbs":["create","list"]}
      """;

  private final AtomicBoolean there = new AtomicBoolean(true);
  private final AtomicLong nanos = new AtomicLong();
  private final LostModels lost = new LostModels(nanos::get, new KindLooks(nanos::get));
  private ScriptedApi api;

  @BeforeEach
  void start() throws IOException {
    api =
        new ScriptedApi(
            exchange -> {
              byte[] kinds =
                  """
              {"kind":"APIResourceList","apiVersion":"v1","groupVersion":"inference.networking.x-k8s.io/v1alpha2",
               "resources":[%s]}
              """
                      .formatted(there.get() ? MODELS : "")
                      .getBytes(StandardCharsets.UTF_8);
              exchange.getResponseHeaders().add("Content-Type", "application/json");
              exchange.sendResponseHeaders(200, kinds.length);
              exchange.getResponseBody().write(kinds);
              exchange.close();
            });
  }

  @AfterEach
  void stop() {
    api.close();
  }

  @Test
  void oneThatIsDeletedAloneGoesAtOnce() {
    assertThat(doubt("chat/1", "sum/2")).isEmpty();
    assertThat(doubt("chat/1")).isPresent();
    pass(Duration.ofMillis(250));
    assertThat(doubt("chat/1")).isEmpty();
  }

  @Test
  void thoseThatAreMadeAnewWithTheirKindAreWaitedFor() {
    goWithTheirKind();
    there.set(true);
    pass(Duration.ofSeconds(1));
    assertThat(doubt()).as("the kind is back before its objects").isPresent();
    pass(Duration.ofSeconds(2));
    assertThat(doubt("chat/3")).as("and these come one after the other").isPresent();
    assertThat(doubt("chat/3", "sum/4")).isEmpty();
    assertThat(doubt("chat/3", "sum/4")).isEmpty();
  }

  @Test
  void thoseThatAreNotMadeAnewAreNotWaitedForWithoutEnd() {
    goWithTheirKind();
    there.set(true);
    pass(Duration.ofSeconds(5));
    Optional<Doubt> first = doubt("chat/3");
    assertThat(first).isPresent();
    pass(first.orElseThrow().left());
    assertThat(doubt("chat/3")).isEmpty();
    assertThat(doubt()).isPresent();
    pass(Duration.ofMillis(250));
    assertThat(doubt()).as("as any other from then on").isEmpty();
  }

  /** The kind may have been made anew meanwhile, or it may be the watch alone that was down. */
  @Test
  void thoseThatGoWhileNobodyWatchesAreNotSaidToHaveGoneWithTheirKind() {
    assertThat(doubt("chat/1", "sum/2")).isEmpty();
    assertThat(doubt(false, "chat/1")).isPresent();
    pass(Duration.ofMillis(250));
    assertThat(doubt(false, "chat/1")).isPresent();
    pass(Duration.ofSeconds(1));
    assertThat(doubt("chat/1"))
        .hasValueSatisfying(
            doubt ->
                assertThat(doubt.why())
                    .isEqualTo(
                        Verdict.pending(
                            "InferenceModels went while changes were not seen, and count for ten seconds more, in case their kind was made anew; wait")));
    pass(Duration.ofSeconds(10));
    assertThat(doubt("chat/1")).isEmpty();
  }

  private void goWithTheirKind() {
    assertThat(doubt("chat/1", "sum/2")).isEmpty();
    there.set(false);
    assertThat(doubt()).isPresent();
    pass(Duration.ofMillis(250));
    assertThat(doubt()).isPresent();
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  /**
   * @param models name and UID of each that is there
   */
  private Optional<Doubt> doubt(String... models) {
    return doubt(true, models);
  }

  private Optional<Doubt> doubt(boolean watched, String... models) {
    InferencePool pool = new InferencePool();
    pool.setMetadata(new ObjectMetaBuilder().withName("pool").withUid("uid").build());
    Observation seen =
        ObservationBuilder.of(pool)
            .models(Stream.of(models).map(LostModelsTest::model).toList())
            .build();
    return lost.doubt(seen, watched, api.client());
  }

  private static InferenceModel model(String nameAndUid) {
    String[] parts = nameAndUid.split("/", -1);
    InferenceModel model = new InferenceModel();
    model.setMetadata(new ObjectMetaBuilder().withName(parts[0]).withUid(parts[1]).build());
    return model;
  }
}
