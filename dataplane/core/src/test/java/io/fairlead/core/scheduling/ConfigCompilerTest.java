package io.fairlead.core.scheduling;

import static io.fairlead.core.scheduling.Documents.plugin;
import static io.fairlead.core.scheduling.Documents.pool;
import static io.fairlead.core.scheduling.Documents.profile;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.fairlead.core.Timeouts;
import io.fairlead.core.flow.FlowSettings;
import io.fairlead.core.scheduling.InvalidConfigException.Problem;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.FlowControlConfig;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ProfileConfig.PluginReference;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.ShadowConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.crds.config.TimeoutsConfig;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.ProfileHandler;
import io.fairlead.plugin.ProfileResults;
import io.fairlead.plugin.Scorer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ConfigCompilerTest {

  private final ConfigCompiler compiler = new ConfigCompiler(List.of());

  @Test
  void acceptsWhatIsRight() {
    List<PoolConfig> right =
        List.of(
            pool(List.of(), SchedulerConfig.DEFAULT),
            pool(List.of(plugin("queue-scorer")), List.of(), null),
            pool(List.of(plugin("metrics-data-source"), plugin("openai-parser")), List.of(), null),
            pool(
                List.of(
                    plugin("q", "queue-scorer", Map.of()),
                    plugin("single-profile-handler"),
                    plugin("random-picker", "random-picker", Map.of("maxNumOfEndpoints", 2L)),
                    plugin("full", "utilization-detector", Map.of("queueDepthThreshold", 9L))),
                List.of(profile("p", "full", "q", "random-picker")),
                "full"));
    for (PoolConfig config : right) {
      assertThatCode(() -> compiler.compile(config)).doesNotThrowAnyException();
    }
  }

  @Test
  void namesEveryProblemWithItsPathAndTheFix() {
    PoolConfig broken =
        pool(
            List.of(
                new ModelConfig("", Criticality.STANDARD, List.of()),
                new ModelConfig("m", Criticality.STANDARD, List.of(new TargetModel("", 0))),
                new ModelConfig("m", Criticality.STANDARD, List.of())),
            new SchedulerConfig(
                List.of(
                    plugin("no-such-scorer"),
                    plugin("vertexai-parser"),
                    plugin("q", "queue-scorer", Map.of("wieght", 1L)),
                    plugin("q", "queue-scorer", Map.of()),
                    plugin("d", "utilization-detector", Map.of("queueDepthThreshold", 0L)),
                    plugin("openai-parser", "openai-parser", Map.of("x", 1L)),
                    plugin("single-profile-handler")),
                List.of(
                    new ProfileConfig(
                        "p",
                        List.of(
                            new PluginReference("q", -1),
                            new PluginReference("gone", 1),
                            new PluginReference("single-profile-handler", 1))),
                    profile("p")),
                "q"));

    assertThat(problems(broken))
        .extracting(Problem::toString)
        .containsExactly(
            "models[0].name is empty; set the name that clients ask for",
            "models[1].targets[0].name is empty; set the name that the model servers know",
            "models[1].targets[0].weight is 0; set a whole number from 1 to 1000000",
            "models[2].name \"m\" is there twice; keep one entry per name",
            "scheduler.plugins[0].type \"no-such-scorer\" is not a known plugin type;"
                + " docs/plugins.md lists all; a type of your own needs its jar on the class path",
            "scheduler.plugins[1].type \"vertexai-parser\" is not supported; use openai-parser:"
                + " requests are read as JSON, not gRPC",
            "scheduler.plugins[2].parameters.wieght is not a setting of queue-scorer; remove it",
            "scheduler.plugins[3].name \"q\" is there twice; give each plugin its own name",
            "scheduler.plugins[4].parameters.queueDepthThreshold is 0; set a whole number from 1"
                + " to 1000000",
            "scheduler.plugins[5].parameters.x is not a setting of openai-parser; remove it",
            "scheduler.saturationDetector \"q\" is a queue-scorer; name a saturation detector",
            "scheduler.profiles[0].plugins[0].weight is -1.0; set a number from 0 to 1000000",
            "scheduler.profiles[0].plugins[1].pluginRef \"gone\" is not the name of a plugin; there"
                + " are no-such-scorer, vertexai-parser, q, d, openai-parser,"
                + " single-profile-handler",
            "scheduler.profiles[0].plugins[2].pluginRef \"single-profile-handler\" is no filter,"
                + " scorer or picker; remove it from the profile",
            "scheduler.profiles[1].name \"p\" is there twice; give each its own name",
            "scheduler.profiles has 2 entries, but no plugin says which to run when; list a profile"
                + " handler that can, or keep one profile");
  }

  @Test
  void whatIsSaidOfRequestsIsThereForTheCore() {
    ModelConfig patient =
        new ModelConfig(
            "patient",
            Criticality.CRITICAL,
            List.of(),
            new TimeoutsConfig(null, Duration.ofSeconds(9), null));
    CompiledConfig preset = compiler.compile(requests(RequestsConfig.DEFAULT, patient));
    assertThat(preset.unconfigured()).isEqualTo(Criticality.STANDARD);
    assertThat(preset.model("other").criticality()).isEqualTo(Criticality.STANDARD);
    assertThat(preset.model("other").timeouts()).isEqualTo(Timeouts.UNSET);
    assertThat(preset.poolTimeouts()).isEqualTo(Timeouts.UNSET);
    assertThat(preset.trustTimeoutHeaders()).isFalse();
    assertThat(preset.retryBudget()).isEqualTo(0.2);
    assertThat(preset.model("patient").timeouts())
        .isEqualTo(new Timeouts(null, Duration.ofSeconds(9), null));

    CompiledConfig set =
        compiler.compile(
            requests(
                new RequestsConfig(
                    Criticality.SHEDDABLE,
                    new TimeoutsConfig(Duration.ofSeconds(1), null, Duration.ofMinutes(1)),
                    true,
                    0),
                patient));
    assertThat(set.model("other").criticality()).isEqualTo(Criticality.SHEDDABLE);
    assertThat(set.model("").criticality())
        .as("a call that names no model")
        .isEqualTo(Criticality.STANDARD);
    assertThat(set.poolTimeouts())
        .isEqualTo(new Timeouts(Duration.ofSeconds(1), null, Duration.ofMinutes(1)));
    assertThat(set.trustTimeoutHeaders()).isTrue();
    assertThat(set.retryBudget()).isZero();
  }

  @Test
  void whatIsWrongOfRequestsIsNamed() {
    TimeoutsConfig wrong =
        new TimeoutsConfig(Duration.ZERO, Duration.ofSeconds(-1), Duration.ofDays(366));
    PoolConfig broken =
        requests(
            new RequestsConfig(Criticality.STANDARD, wrong, false, 101),
            new ModelConfig("m", Criticality.STANDARD, List.of(), wrong));
    assertThat(problems(broken))
        .extracting(Problem::toString)
        .containsExactly(
            "models[0].timeouts.firstByte is PT0S; set more than 0 and no more than 8760h",
            "models[0].timeouts.silence is PT-1S; set more than 0 and no more than 8760h",
            "models[0].timeouts.total is PT8784H; set more than 0 and no more than 8760h",
            "requests.timeouts.firstByte is PT0S; set more than 0 and no more than 8760h",
            "requests.timeouts.silence is PT-1S; set more than 0 and no more than 8760h",
            "requests.timeouts.total is PT8784H; set more than 0 and no more than 8760h",
            "requests.retryBudgetPercent is 101; set a whole number from 0 to 100");
  }

  private static PoolConfig requests(RequestsConfig requests, ModelConfig model) {
    return new PoolConfig(
        "default",
        "pool",
        Map.of("app", "vllm"),
        List.of(8000),
        "http",
        List.of(model),
        requests,
        SchedulerConfig.DEFAULT);
  }

  @Test
  void settingsWithoutAnEffectAreWarnedOf() {
    PoolConfig config =
        pool(
            List.of(
                plugin("d", "utilization-detector", Map.of("metricsStalenessThreshold", "200ms")),
                plugin(
                    "s",
                    "session-affinity-scorer",
                    Map.of(
                        "strategy",
                        "session_id",
                        "sessionIdConfig",
                        Map.of("evictionSweepSeconds", 5L)))),
            List.of(),
            null);
    assertThat(compiler.compile(config).warnings())
        .extracting(Problem::toString)
        .containsExactly(
            "scheduler.plugins[0].parameters.metricsStalenessThreshold has no effect: what was sent"
                + " from here counts, so that an old scrape changes no decision by itself",
            "scheduler.plugins[1].parameters.sessionIdConfig.evictionSweepSeconds has no effect:"
                + " sessions that are over are dropped with the next request");
  }

  @Test
  void whatIsChosenByWithoutAWordIsWarnedOf() {
    assertThat(
            compiler
                .compile(pool(List.of(plugin("utilization-detector")), List.of(), null))
                .warnings())
        .containsExactly(
            new Problem(
                "scheduler.profiles",
                "is not set, and no plugin that is listed filters, scores or picks: endpoints are"
                    + " chosen by work-cost; list what they are to be chosen by"));
    assertThat(compiler.compile(pool(List.of(), SchedulerConfig.DEFAULT)).warnings()).isEmpty();
    assertThat(compiler.compile(pool(List.of(plugin("queue-scorer")), List.of(), null)).warnings())
        .isEmpty();
  }

  @Test
  void severalOfWhatThereCanBeOneOfAreRefused() {
    assertThat(
            problems(
                pool(
                    List.of(
                        plugin("max-score-picker"),
                        plugin("random-picker"),
                        plugin("d1", "utilization-detector", Map.of()),
                        plugin("d2", "utilization-detector", Map.of()),
                        plugin("h1", "single-profile-handler", Map.of()),
                        plugin("h2", "single-profile-handler", Map.of())),
                    List.of(profile("p", "max-score-picker", "random-picker")),
                    null)))
        .extracting(Problem::path)
        .containsExactly(
            "scheduler.saturationDetector",
            "scheduler.profiles[0].plugins[1]",
            "scheduler.plugins[5]");
  }

  @Test
  void weightsMustBeNumbers() {
    for (double weight : new double[] {Double.NaN, Double.POSITIVE_INFINITY, -0.1}) {
      ProfileConfig profile =
          new ProfileConfig("p", List.of(new PluginReference("queue-scorer", weight)));
      assertThat(problems(pool(List.of(plugin("queue-scorer")), List.of(profile), null)))
          .extracting(Problem::path)
          .containsExactly("scheduler.profiles[0].plugins[0].weight");
    }
  }

  @Test
  void severalProfilesRunUnderAHandlerOfTheirOwn() {
    ProfileHandler second =
        new ProfileHandler() {
          @Override
          public int next(InferenceRequest request, ProfileResults results) {
            return results.ran(1) ? DONE : 1;
          }

          @Override
          public int primary(InferenceRequest request, ProfileResults results) {
            return 1;
          }
        };
    assertThatCode(
            () ->
                new ConfigCompiler(List.of(factory("mine", second)))
                    .compile(
                        pool(
                            List.of(plugin("mine"), plugin("queue-scorer")),
                            List.of(profile("one"), profile("two", "queue-scorer")),
                            null)))
        .doesNotThrowAnyException();
  }

  @Test
  void aFactoryOfATakenTypeIsAnError() {
    Scorer scorer = (request, candidates, scores) -> {};
    for (String taken : List.of("queue-scorer", "openai-parser")) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> new ConfigCompiler(List.of(factory(taken, scorer))))
          .withMessageContaining("\"" + taken + "\"")
          .withMessageContaining("is taken");
    }
  }

  @Test
  void aPluginThatCannotBeMadeIsNamedWhereverItIsListed() {
    IllegalStateException failure = new IllegalStateException("broken");
    PluginFactory broken =
        new PluginFactory() {
          @Override
          public String type() {
            return "broken";
          }

          @Override
          public Plugin create(Parameters parameters) {
            throw failure;
          }
        };
    PoolConfig scheduled = pool(List.of(plugin("mine", "broken", Map.of())), List.of(), null);
    PoolConfig both =
        new PoolConfig(
            "default",
            "pool",
            Map.of("app", "vllm"),
            List.of(8000),
            "http",
            List.of(),
            List.of(),
            RequestsConfig.DEFAULT,
            scheduled.scheduler(),
            List.of(new ShadowConfig("tried", scheduled.scheduler())));
    InvalidConfigException refused =
        catchThrowableOfType(
            InvalidConfigException.class, () -> new ConfigCompiler(List.of(broken)).compile(both));
    String message =
        "\"mine\" of type broken can't be made: java.lang.IllegalStateException: broken;"
            + " mend the plugin or take it out";
    assertThat(refused.problems())
        .containsExactly(
            new Problem("scheduler.plugins[0]", message),
            new Problem("shadows[0].scheduler.plugins[0]", message));
    assertThat(refused.thrown()).containsExactly(failure, failure);
  }

  @Test
  void aFilterThatCannotSayWhatItKeepsFiltersNevertheless() {
    Filter silent =
        new Filter() {
          @Override
          public void filter(InferenceRequest request, Candidates candidates, boolean[] keep) {}

          @Override
          @SuppressWarnings("NullAway") // a plugin author may have no NullAway
          public String keeps() {
            return null;
          }
        };
    Filter failing =
        new Filter() {
          @Override
          public void filter(InferenceRequest request, Candidates candidates, boolean[] keep) {}

          @Override
          public String keeps() {
            throw new IllegalStateException("no words");
          }
        };
    assertThat(
            new ConfigCompiler(List.of(factory("silent", silent), factory("failing", failing)))
                .compile(pool(List.of(plugin("silent"), plugin("failing")), List.of(), null))
                .scheduler()
                .outline()
                .profiles()
                .getFirst()
                .keeps())
        .containsExactly("", "");
  }

  @Test
  void aHandlerThatFailsAtTheProfilesIsNamed() {
    ProfileHandler failing =
        new ProfileHandler() {
          @Override
          public void profiles(List<String> names) {
            throw new IndexOutOfBoundsException("1");
          }

          @Override
          public int next(InferenceRequest request, ProfileResults results) {
            return DONE;
          }

          @Override
          public int primary(InferenceRequest request, ProfileResults results) {
            return 0;
          }
        };
    PoolConfig config = pool(List.of(plugin("mine")), List.of(profile("one")), null);
    assertThat(
            catchThrowableOfType(
                    InvalidConfigException.class,
                    () -> new ConfigCompiler(List.of(factory("mine", failing))).compile(config))
                .problems())
        .containsExactly(
            new Problem(
                "scheduler.plugins[0]",
                "\"mine\" fails at the profiles [one]: java.lang.IndexOutOfBoundsException: 1;"
                    + " mend the plugin or take it out"));
  }

  /** As for documents of upstream's first group, which have one default for all. */
  @Test
  void prioritiesBelowZeroAreOfTheDefaultBandUnlessTheyHaveTheirOwn() {
    var seven = new FlowControlConfig.Band(null, null, 7L, null, null);
    var nine = new FlowControlConfig.Band(null, null, 9L, null, null);
    FlowSettings one = flow(seven, null);
    assertThat(one.standard().limits().requests()).isEqualTo(7);
    assertThat(one.negative().limits().requests()).isEqualTo(7);
    assertThat(one.negative().ttl()).isEqualTo(Duration.ofSeconds(5).toNanos());
    assertThat(flow(seven, nine).negative().limits().requests()).isEqualTo(9);
  }

  private FlowSettings flow(
      FlowControlConfig.Band all, FlowControlConfig.@Nullable Band belowZero) {
    SchedulerConfig said = SchedulerConfig.DEFAULT;
    FlowSettings settings =
        compiler
            .compile(
                pool(
                    List.of(),
                    new SchedulerConfig(
                        said.plugins(),
                        said.profiles(),
                        said.saturationDetector(),
                        said.featureGates(),
                        new FlowControlConfig(
                            null, null, null, null, null, null, null, all, belowZero, List.of()),
                        said.dataLayer(),
                        said.parsers())))
            .flow();
    return Objects.requireNonNull(settings);
  }

  private List<Problem> problems(PoolConfig config) {
    return catchThrowableOfType(InvalidConfigException.class, () -> compiler.compile(config))
        .problems();
  }

  private static PluginFactory factory(String type, Plugin plugin) {
    return new PluginFactory() {
      @Override
      public String type() {
        return type;
      }

      @Override
      public Plugin create(Parameters parameters) {
        return plugin;
      }
    };
  }
}
