package io.fairlead.core.plugins;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.core.scheduling.InvalidConfigException;
import io.fairlead.core.scheduling.InvalidConfigException.Problem;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ProfileConfig.PluginReference;
import io.fairlead.crds.config.SchedulerConfig;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Two endpoints for one request, from the config document to the headers. */
class DisaggregationTest implements RequestListener {

  private final PoolCore core = new PoolCore();
  private final List<Route> routes = new ArrayList<>();
  private final List<Rejection> rejections = new ArrayList<>();

  @Test
  void longPromptIsComputedByAPrefillEndpointAndHandedOver() {
    configure(withDecider(64));
    core.endpoints(
        0,
        List.of(endpoint("p1", 1, "prefill"), endpoint("d1", 2, "decode"), endpoint("d2", 3, "")));
    long request = arrive(1, 10);
    assertThat(routes.getLast().endpoint()).isIn("d1", "d2");
    assertThat(routes.getLast().requestHeaders())
        .containsExactly(new Route.Header("x-prefiller-host-port", "10.0.0.1:8000"));
    assertThat(inFlight("p1")).isOne();
    core.firstByte(5, request);
    assertThat(inFlight("p1")).isZero();
    core.ended(9, request, Outcome.COMPLETED, Usage.UNKNOWN);
    assertThat(core.snapshot()).allMatch(endpoint -> endpoint.inFlight() == 0);
  }

  @Test
  void shortPromptStaysWhereItIsDecoded() {
    configure(withDecider(64));
    core.endpoints(0, List.of(endpoint("p1", 1, "prefill"), endpoint("d1", 2, "decode")));
    arrive(1, 3);
    assertThat(routes.getLast().endpoint()).isEqualTo("d1");
    assertThat(routes.getLast().requestHeaders()).isEmpty();
    assertThat(rejections).isEmpty();
  }

  @Test
  void withoutPrefillEndpointsTheDecoderServesAndWithoutDecodersNobody() {
    configure(withDecider(64));
    core.endpoints(0, List.of(endpoint("d1", 2, "decode")));
    arrive(1, 10);
    assertThat(routes.getLast().requestHeaders()).isEmpty();
    core.endpoints(1, List.of(endpoint("p1", 1, "prefill")));
    arrive(2, 10);
    assertThat(rejections).hasSize(1);
  }

  @Test
  void endpointForBothIsNotToldToHandOverToItself() {
    configure(withDecider(64));
    core.endpoints(0, List.of(endpoint("b1", 1, "both")));
    arrive(1, 10);
    assertThat(routes.getLast().endpoint()).isEqualTo("b1");
    assertThat(routes.getLast().requestHeaders()).isEmpty();
    assertThat(inFlight("b1")).isOne();
  }

  /** Whoever prefills may be anyone when nobody says what they are for: filters may tell. */
  @Test
  void unlabelledPoolIsLeftToTheFilters() {
    Map<String, Object> byTier = Map.of("label", "tier", "validValues", List.of("p"));
    List<PluginConfig> plugins = new ArrayList<>(withDecider(64));
    plugins.add(new PluginConfig("p-only", "by-label", byTier));
    core.configure(0, compile(plugins, profile("decode"), profile("prefill", "p-only")));
    core.endpoints(
        0,
        List.of(
            new EndpointSpec("p", "1", "10.0.0.1", 8000, Map.of("tier", "p")),
            new EndpointSpec("d", "1", "10.0.0.2", 8000, Map.of())));
    for (int i = 0; i < 20; i++) {
      arrive(i, 10);
      if (routes.getLast().endpoint().equals("d")) {
        assertThat(routes.getLast().requestHeaders())
            .containsExactly(new Route.Header("x-prefiller-host-port", "10.0.0.1:8000"));
      } else {
        assertThat(routes.getLast().requestHeaders()).isEmpty();
      }
    }
    assertThat(routes).extracting(Route::endpoint).contains("p", "d");
  }

  @Test
  void listedAssignerTakesTheHandlersPlace() {
    Map<String, Object> settings =
        Map.of(
            "label",
            "tier",
            "rules",
            List.of(
                Map.of("profile", "prefill", "values", List.of("p")),
                Map.of("profile", "decode", "values", List.of("d"))));
    List<PluginConfig> plugins = new ArrayList<>(withDecider(64));
    plugins.add(new PluginConfig("a", "attribute-assigner", settings));
    configure(plugins);
    core.endpoints(
        0,
        List.of(
            new EndpointSpec("p", "1", "10.0.0.1", 8000, Map.of("tier", "p")),
            new EndpointSpec("d", "1", "10.0.0.2", 8000, Map.of("tier", "d"))));
    arrive(1, 10);
    assertThat(routes.getLast().endpoint()).isEqualTo("d");
    assertThat(routes.getLast().requestHeaders()).hasSize(1);
  }

  @Test
  void problemsAreFoundWhenTheConfigIsCompiled() {
    assertThat(problems(handler("gone")))
        .containsExactly(
            "scheduler.plugins[0].parameters.deciders.prefill is \"gone\"; set the name of a listed"
                + " plugin that is a Decider");
    assertThat(problems(handler("q"), new PluginConfig("q", "queue-scorer", Map.of())))
        .containsExactly(
            "scheduler.plugins[0].parameters.deciders.prefill is \"q\"; set the name of a listed"
                + " plugin that is a Decider");
    assertThat(problems(handler("h"))).hasSize(1);
    // What is wrong with the decider is told once, where it stands.
    assertThat(problems(handler("d"), decider(-1)))
        .singleElement()
        .asString()
        .startsWith("scheduler.plugins[1].parameters.nonCachedTokens is -1");
    InvalidConfigException e =
        catchThrowableOfType(
            InvalidConfigException.class,
            () -> compile(withDecider(1), profile("serve"), profile("prefill")));
    assertThat(e.problems())
        .extracting(Problem::toString)
        .containsExactly(
            "scheduler.plugins[0].parameters.profiles.decode \"decode\" is no profile; set one of"
                + " serve, prefill");
  }

  private void configure(List<PluginConfig> plugins) {
    core.configure(0, compile(plugins, profile("decode"), profile("prefill")));
  }

  private static CompiledConfig compile(List<PluginConfig> plugins, ProfileConfig... profiles) {
    return new ConfigCompiler(List.of())
        .compile(
            new PoolConfig(
                "default",
                "pool",
                Map.of("app", "vllm"),
                List.of(8000),
                "http",
                List.of(),
                new SchedulerConfig(plugins, List.of(profiles), null)));
  }

  private static List<String> problems(PluginConfig... plugins) {
    InvalidConfigException e =
        catchThrowableOfType(
            InvalidConfigException.class,
            () -> compile(List.of(plugins), profile("decode"), profile("prefill")));
    return e.problems().stream()
        .map(Problem::toString)
        .filter(problem -> !problem.startsWith("scheduler.profiles"))
        .toList();
  }

  /** The handler before the decider that it names. */
  private static List<PluginConfig> withDecider(long nonCachedTokens) {
    return List.of(handler("d"), decider(nonCachedTokens));
  }

  private static PluginConfig handler(String decider) {
    return new PluginConfig(
        "h", "disagg-profile-handler", Map.of("deciders", Map.of("prefill", decider)));
  }

  private static PluginConfig decider(long nonCachedTokens) {
    return new PluginConfig(
        "d", "prefix-based-pd-decider", Map.of("nonCachedTokens", nonCachedTokens));
  }

  private static ProfileConfig profile(String name, String... plugins) {
    return new ProfileConfig(
        name, Stream.of(plugins).map(plugin -> new PluginReference(plugin, 1)).toList());
  }

  private static EndpointSpec endpoint(String name, int host, String role) {
    Map<String, String> labels = role.isEmpty() ? Map.of() : Map.of("llm-d.ai/role", role);
    return new EndpointSpec(name, "1", "10.0.0." + host, 8000, labels);
  }

  private long arrive(long seed, int blocks) {
    long[] hashes = new long[blocks];
    Arrays.setAll(hashes, i -> seed * 1000 + i + 1);
    return core.arrive(
        seed, new RequestFacts("", seed, hashes, blocks * 16, -1, blocks * 64L), this);
  }

  private int inFlight(String endpoint) {
    return core.snapshot().stream()
        .filter(snapshot -> snapshot.name().equals(endpoint))
        .findFirst()
        .orElseThrow()
        .inFlight();
  }

  @Override
  public void send(long request, Route route) {
    routes.add(route);
  }

  @Override
  public void pass(long request) {}

  @Override
  public void reject(long request, Rejection rejection) {
    rejections.add(rejection);
  }
}
