package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fairlead.core.Rejection.Reason;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.FlowControlConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.SaturationDetector;
import io.fairlead.plugin.Scorer;
import io.fairlead.plugin.UsageLimitPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a plugin throws, its request is answered and leaves nothing behind. */
class PluginFailureTest {

  private final Pool pool = new Pool();
  private final List<String> joined = new ArrayList<>();
  private @Nullable Throwable failure;

  static Stream<Arguments> failures() {
    return Stream.of("filter", "scorer", "detector")
        .flatMap(
            role ->
                Stream.of(
                        new IllegalStateException("broken"),
                        new StackOverflowError("deep"),
                        new NoClassDefFoundError("gone"),
                        new AssertionError("wrong"),
                        new OutOfMemoryError("full"))
                    .map(thrown -> Arguments.of(role, thrown)));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void aRequestOfABrokenPluginIsRejectedAndReleased(String role, Throwable thrown) {
    configure(role);
    failure = thrown;
    pool.core.tick(pool.now); // detectors are asked when something changes, and now and then

    assertThat(catchThrowable(() -> pool.arrive("sheddable", 1, 2))).isSameAs(thrown);

    assertThat(pool.rejections)
        .containsExactly(
            new Rejection(
                Reason.PLUGIN_FAILED, Criticality.SHEDDABLE, Reason.PLUGIN_FAILED.message()));
    assertNothingIsLeftBehind();
  }

  @ParameterizedTest
  @MethodSource("failures")
  void aRetryOfABrokenPluginIsRejectedAndReleased(String role, Throwable thrown) {
    // Where requests wait, a retry goes also where all is full, and no detector is asked.
    configure(role, false);
    long ticket = pool.arrive("sheddable", 1, 2);
    failure = thrown;
    pool.core.tick(pool.now);

    assertThat(catchThrowable(() -> pool.core.attemptFailed(0, ticket, Failure.DIED)))
        .isSameAs(thrown);

    assertThat(pool.rejections).extracting(Rejection::reason).containsExactly(Reason.PLUGIN_FAILED);
    assertNothingIsLeftBehind();
  }

  @ParameterizedTest
  @ValueSource(classes = {IllegalStateException.class, StackOverflowError.class})
  void endpointsAreInForceAlthoughAPluginThatIsToldOfThemThrows(Class<? extends Throwable> kind)
      throws ReflectiveOperationException {
    configure("observer");
    failure = kind.getConstructor(String.class).newInstance("thrown");

    assertThat(catchThrowable(() -> pool.endpoints("b", "c", "d")))
        .isInstanceOf(PluginFailedException.class)
        .hasCause(failure);

    assertThat(pool.core.snapshot())
        .extracting(EndpointSnapshot::name)
        .containsExactly("b", "c", "d");
    assertThat(joined).as("told of all newcomers").containsExactly("a", "b", "c", "d");
    assertNothingIsLeftBehind();
  }

  /** One that is told nothing of must not make the pool look empty, nor keep its state unknown. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theMeanIsOfThoseOfWhichTheDetectorSaysSomething(boolean thrown) {
    SaturationDetector ofSome =
        endpoint -> {
          if (endpoint.name().equals("b")) {
            if (thrown) {
              throw new IllegalStateException("unknown");
            }
            return Double.NaN;
          }
          return 0.5;
        };
    pool.core.configure(
        0,
        new ConfigCompiler(List.of(new Factory("own", ofSome)))
            .compile(
                Pool.config(
                    new SchedulerConfig(
                        List.of(new PluginConfig("own", "own", Map.of())), List.of(), null),
                    Pool.model("sheddable", Criticality.SHEDDABLE))));
    pool.endpoints("a", "b");

    assertThat(pool.core.queues(pool.now).saturation()).isEqualTo(0.5);
    pool.endpoints("b");
    assertThat(pool.core.queues(pool.now))
        .satisfies(
            queues -> {
              assertThat(queues.saturation()).as("nothing is known").isNaN();
              assertThat(queues.full()).isFalse();
            });
  }

  /** Its band goes as if there were no policy. */
  @Test
  void aUsageLimitThatFailsKeepsNobodyWaiting() {
    UsageLimitPolicy broken =
        (band, bands, priority, range, saturation) -> {
          if (band > 0) {
            throw new IllegalStateException("broken");
          }
          return 1;
        };
    SchedulerConfig scheduler =
        new SchedulerConfig(
            List.of(
                new PluginConfig("room", "concurrency-detector", Map.of("maxConcurrency", 1L)),
                new PluginConfig("limit", "limit", Map.of()),
                new PluginConfig("queue", "queue-scorer", Map.of())),
            List.of(),
            "room",
            Map.of(),
            new FlowControlConfig(
                null, null, null, null, null, null, "limit", null, null, List.of()),
            null,
            List.of());
    pool.core.configure(
        0,
        new ConfigCompiler(List.of(new Factory("limit", broken)))
            .compile(
                Pool.config(
                    scheduler,
                    Pool.model("high", Criticality.CRITICAL),
                    Pool.model("middle", Criticality.STANDARD))));
    pool.endpoints("a");
    long first = pool.arrive("high");
    long second = pool.arrive("high");
    assertThat(catchThrowable(() -> pool.arrive("middle")))
        .isInstanceOf(PluginFailedException.class)
        .hasRootCauseMessage("broken");
    assertThat(pool.routes).hasSize(1);
    for (long ticket : List.of(first, second)) {
      var _ =
          catchThrowable(() -> pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN));
    }
    assertThat(pool.routes)
        .extracting(Route::targetModel)
        .containsExactly("high", "high", "middle");
    assertThat(pool.rejections).isEmpty();
  }

  private void assertNothingIsLeftBehind() {
    assertThat(pool.core.active()).isZero();
    assertThat(pool.core.snapshot())
        .allMatch(s -> s.inFlight() == 0 && s.awaitingFirstToken() == 0);

    failure = null;
    int routes = pool.routes.size();
    pool.arrive("sheddable");
    assertThat(pool.routes).as("the next request is sent").hasSize(routes + 1);
  }

  private void configure(String role) {
    configure(role, true);
  }

  private void configure(String role, boolean waits) {
    List<PluginConfig> plugins = List.of(new PluginConfig("own", role, Map.of()));
    SchedulerConfig scheduler =
        waits ? new SchedulerConfig(plugins, List.of(), null) : Pool.atOnce(plugins, List.of());
    pool.core.configure(
        0,
        new ConfigCompiler(List.of(new Factory(role)))
            .compile(Pool.config(scheduler, Pool.model("sheddable", Criticality.SHEDDABLE))));
    pool.endpoints("a", "b");
  }

  private final class Factory implements PluginFactory {

    private final String role;
    private final @Nullable Plugin made;

    Factory(String role) {
      this(role, null);
    }

    Factory(String role, @Nullable Plugin made) {
      this.role = role;
      this.made = made;
    }

    @Override
    public String type() {
      return role;
    }

    @Override
    public Plugin create(Parameters parameters) {
      if (made != null) {
        return made;
      }
      return switch (role) {
        case "filter" -> (Filter) (request, candidates, keep) -> fail();
        case "scorer" -> (Scorer) (request, candidates, scores) -> fail();
        case "observer" ->
            new Observer() {
              @Override
              public void joined(Endpoint endpoint) {
                joined.add(endpoint.name());
                fail();
              }
            };
        default ->
            (SaturationDetector)
                endpoint -> {
                  fail();
                  return 0;
                };
      };
    }

    private void fail() {
      switch (failure) {
        case RuntimeException e -> throw e;
        case Error e -> throw e;
        case null, default -> {}
      }
    }
  }
}
