package io.fairlead.epp.shadow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Shadows from one config to the next. */
class ShadowsTest {

  private static final SchedulerConfig BROKEN = plugin("broken");
  private static final SchedulerConfig REAL = plugin("queue-scorer");

  private final Shadows shadows = new Shadows(PoolLimits.DEFAULT);

  @AfterEach
  void stop() {
    shadows.close();
  }

  private static SchedulerConfig plugin(String type) {
    return new SchedulerConfig(List.of(new PluginConfig(type, type, Map.of())), List.of(), null);
  }

  private static CompiledConfig config(
      List<ModelConfig> models, SchedulerConfig real, ShadowConfig... tried) {
    return new ConfigCompiler(List.of(new Broken()))
        .compile(
            new PoolConfig("ns", "pool", Map.of(), List.of(8000), "http", models, real)
                .withShadows(List.of(tried)));
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
    shadows.configured(1, config(List.of(), REAL, tried(BROKEN)));
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
    shadows.configured(3, config(List.of(model), REAL, tried(BROKEN)));
    assertThat(shadows.reports().getFirst().off()).as("another model").isEqualTo(why);
    shadows.configured(4, config(List.of(model), plugin("random-picker"), tried(BROKEN)));
    assertThat(shadows.reports().getFirst().off()).as("not its own scheduling").isEqualTo(why);

    shadows.configured(5, config(List.of(model), REAL, tried(REAL)));
    assertThat(shadows.reports().getFirst().off()).isNull();
    sent();
    await().until(() -> shadows.reports().getFirst().told().requests() == 1);
  }

  @Test
  void oneThatWasSwitchedOffAndTakenOutIsNoMore() {
    oneIsSwitchedOff();
    shadows.configured(3, config(List.of(), REAL));
    assertThat(shadows.reports()).isEmpty();
  }

  /** A type of scorer that throws. */
  private static final class Broken implements PluginFactory {

    @Override
    public String type() {
      return "broken";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return (Scorer)
          (request, candidates, scores) -> {
            throw new IllegalStateException("broken");
          };
    }
  }
}
