package io.fairlead.epp.shadow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.Route;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.ShadowConfig;
import io.fairlead.epp.status.ShadowPage;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Shadows from one config to the next. */
class ShadowsTest {

  private static final SchedulerConfig BROKEN = plugin("broken");
  private static final SchedulerConfig REAL = plugin("queue-scorer");

  private final Shadows shadows = new Shadows(PoolLimits.DEFAULT);
  private final Broken broken = new Broken();
  private final ConfigCompiler compiler = new ConfigCompiler(List.of(broken));

  /** What the next config is compiled after. */
  private @Nullable CompiledConfig before;

  @AfterEach
  void stop() {
    shadows.close();
  }

  private static SchedulerConfig plugin(String type) {
    return new SchedulerConfig(List.of(new PluginConfig(type, type, Map.of())), List.of(), null);
  }

  private CompiledConfig config(
      List<ModelConfig> models, SchedulerConfig real, ShadowConfig... tried) {
    return compiler.compile(
        new PoolConfig("ns", "pool", Map.of(), List.of(8000), "http", models, real)
            .withShadows(List.of(tried)),
        before);
  }

  private void configured(CompiledConfig config) {
    before = config;
    shadows.configured(1, config, List.of());
  }

  private static ShadowConfig tried(SchedulerConfig scheduler) {
    return new ShadowConfig("tried", scheduler);
  }

  private void sent() {
    var _ =
        shadows.sent(
            2,
            new RequestFacts("m", 1, new long[0], 100, -1, 400),
            new Route("m", Criticality.STANDARD, "a", "10.0.0.1", 8000, 0, 1));
  }

  private void oneIsSwitchedOff() {
    configured(config(List.of(), REAL, tried(BROKEN)));
    shadows.endpoints(
        1,
        List.of(
            new EndpointSpec("a", "1", "10.0.0.1", 8000, Map.of()),
            new EndpointSpec("b", "1", "10.0.0.2", 8000, Map.of())));
    sent();
    await().until(() -> shadows.reports().getFirst().off() != null);
  }

  @Test
  void oneThatWasSwitchedOffStaysSoUntilItsSchedulingIsEdited() {
    oneIsSwitchedOff();
    String why = shadows.reports().getFirst().off();

    ModelConfig model = new ModelConfig("chat", Criticality.CRITICAL, List.of());
    configured(config(List.of(model), REAL, tried(BROKEN)));
    assertThat(shadows.reports().getFirst().off()).as("another model").isEqualTo(why);
    configured(config(List.of(model), plugin("random-picker"), tried(BROKEN)));
    assertThat(shadows.reports().getFirst().off()).as("not its own scheduling").isEqualTo(why);

    configured(config(List.of(model), REAL, tried(REAL)));
    assertThat(shadows.reports().getFirst().off()).isNull();
    sent();
    await().until(() -> shadows.reports().getFirst().told().requests() == 1);
  }

  /** A thread that hangs may be in a plugin for good, and one that threw may be broken. */
  @Test
  void oneThatFollowsOneThatWasSwitchedOffSharesNoPluginWithIt() {
    oneIsSwitchedOff();
    SchedulerConfig more =
        new SchedulerConfig(
            List.of(
                new PluginConfig("broken", "broken", Map.of()),
                new PluginConfig("queue-scorer", "queue-scorer", Map.of())),
            List.of(),
            null);
    int made = broken.made;

    configured(config(List.of(), REAL, tried(more)));
    assertThat(broken.made).isEqualTo(made + 1);
    assertThat(shadows.reports().getFirst().off()).as("tried again").isNull();
    configured(config(List.of(), REAL, tried(BROKEN)));
    assertThat(broken.made).as("one that runs goes on with what it knows").isEqualTo(made + 1);
  }

  /** Engines tell what the real choices have left in their caches, and nobody tells a shadow. */
  @Test
  void oneWhoseSchedulingAsksForEventsSaysThatItInfers() throws IOException {
    for (String type : List.of("precise-prefix-cache-scorer", "precise-prefix-cache-producer")) {
      configured(config(List.of(), REAL, tried(plugin(type))));
      assertThat(shadows.reports().getFirst().infersCaches()).as(type).isTrue();
      assertThat(page().path("infersCaches").asBoolean()).as(type).isTrue();
      configured(config(List.of(), plugin(type), tried(REAL)));
      assertThat(page().has("infersCaches")).as("the real one does not").isFalse();
    }
  }

  private JsonNode page() throws IOException {
    return new ObjectMapper().readTree(ShadowPage.of(shadows.reports())).path("shadows").path(0);
  }

  @Test
  void whatIsLeftOutIsCountedAnewWithEverythingElse() {
    configured(config(List.of(), REAL, tried(REAL)));
    RequestFacts huge = new RequestFacts("m", 1, new long[4 << 20], 100, -1, 400);
    Route route = new Route("m", Criticality.STANDARD, "a", "10.0.0.1", 8000, 0, 1);
    while (shadows.reports().getFirst().leftOut() == 0) {
      var _ = shadows.sent(2, huge, route);
    }
    configured(config(List.of(), REAL, tried(plugin("random-picker"))));
    assertThat(shadows.reports().getFirst().leftOut()).isZero();
  }

  @Test
  void oneThatWasSwitchedOffAndTakenOutIsNoMore() {
    oneIsSwitchedOff();
    shadows.configured(3, config(List.of(), REAL), List.of());
    assertThat(shadows.reports()).isEmpty();
  }

  /** Each would take a processor, until none is left for requests. */
  @Test
  void oneWhoseThreadCannotBeEndedIsNotTriedAgainBesideIt() {
    CountDownLatch end = new CountDownLatch(1);
    broken.instead = () -> spinUntil(end);
    try {
      configured(config(List.of(), REAL, tried(BROKEN)));
      shadows.endpoints(1, List.of(new EndpointSpec("a", "1", "10.0.0.1", 8000, Map.of())));
      sent();
      await()
          .atMost(Duration.ofMinutes(1))
          .until(
              () -> {
                shadows.tick(3);
                return shadows.reports().getFirst().off() != null;
              });
      String stays = "it has been at one event for more than 5 s, and its thread still is";
      assertThat(shadows.reports().getFirst().off()).startsWith(stays);

      configured(config(List.of(), REAL, tried(REAL)));
      assertThat(shadows.reports().getFirst().off()).as("edited").startsWith(stays);
      configured(config(List.of(), REAL));
      assertThat(shadows.reports()).isEmpty();
      configured(config(List.of(), REAL, tried(plugin("random-picker"))));
      assertThat(shadows.reports().getFirst().off()).as("made anew").startsWith(stays);
    } finally {
      end.countDown();
    }
    await().until(() -> !String.valueOf(shadows.reports().getFirst().off()).contains("still is"));
    configured(config(List.of(), REAL, tried(REAL)));
    assertThat(shadows.reports().getFirst().off()).as("its thread has ended").isNull();
  }

  private static void spinUntil(CountDownLatch latch) {
    while (latch.getCount() > 0) {
      Thread.onSpinWait();
    }
  }

  /** A type of scorer that throws, or does something else. */
  private static final class Broken implements PluginFactory {

    private int made;
    private Runnable instead =
        () -> {
          throw new IllegalStateException("broken");
        };

    @Override
    public String type() {
      return "broken";
    }

    @Override
    public Plugin create(Parameters parameters) {
      made++;
      return (Scorer) (request, candidates, scores) -> instead.run();
    }
  }
}
