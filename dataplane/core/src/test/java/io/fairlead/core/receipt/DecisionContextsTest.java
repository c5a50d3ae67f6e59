package io.fairlead.core.receipt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.scheduling.SchedulerOutline;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.ShadowConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DecisionContextsTest {

  private static final long ROOM = 1 << 20;
  private static final PoolConfig CONFIG = config();

  private final DecisionContexts contexts = new DecisionContexts(ROOM);

  private static PoolConfig config() {
    return config(SchedulerConfig.DEFAULT);
  }

  private static PoolConfig config(SchedulerConfig scheduler, ShadowConfig... shadows) {
    return new PoolConfig(
        "default",
        "pool",
        Map.of("app", "vllm"),
        List.of(8000),
        "http",
        List.of(),
        List.of(),
        RequestsConfig.DEFAULT,
        scheduler,
        List.of(shadows));
  }

  private static SchedulerConfig withParameters(Map<String, Object> parameters) {
    return new SchedulerConfig(
        List.of(new PluginConfig("large", "by-label", parameters)), List.of(), null);
  }

  private static EndpointSpec[] specs(int count) {
    EndpointSpec[] specs = new EndpointSpec[count];
    for (int i = 0; i < count; i++) {
      specs[i] = new EndpointSpec("e" + i, "1", "10.0.0.1", 8000, Map.of());
    }
    return specs;
  }

  private static DecisionContext context(PoolConfig config, EndpointSpec... specs) {
    return new DecisionContext(config, new SchedulerOutline(List.of()), specs, Provenance.SOURCES);
  }

  @Test
  void eachIsFoundByItsNumberUntilNobodyNeedsIt() {
    List<DecisionContext> all = new ArrayList<>();
    assertThat(contexts.newest()).isNull();
    for (int i = 0; i < 300; i++) {
      DecisionContext next = context(CONFIG);
      contexts.add(next);
      all.add(next);
      assertThat(contexts.newest()).isSameAs(next);
      assertThat(contexts.current()).isEqualTo(i);
      long oldest = i / 2;
      contexts.release(oldest);
      assertThat(contexts.holds(oldest - 1)).isFalse();
      for (long number = oldest; number <= i; number++) {
        assertThat(contexts.holds(number)).isTrue();
        assertThat(contexts.get(number)).isSameAs(all.get((int) number));
      }
    }
    assertThatThrownBy(() -> contexts.get(5)).hasMessageContaining("number 5");
    contexts.release(Long.MAX_VALUE);
    assertThat(contexts.newest()).isNull();
    assertThat(contexts.bytes()).isZero();
    assertThat(contexts.current()).as("the next").isEqualTo(300);
    assertThat(contexts.holds(contexts.current())).isTrue();
  }

  @Test
  void whatIsInUseCountsOnlyOnceItIsReplaced() {
    EndpointSpec[] many = specs(1_000);
    contexts.add(context(CONFIG, many));
    assertThat(contexts.bytes()).isZero();
    EndpointSpec[] same = many.clone();
    contexts.add(context(CONFIG, same));
    assertThat(contexts.bytes()).as("a list of the same endpoints").isBetween(4_000L, 6_000L);
    contexts.add(context(config(), same));
    assertThat(contexts.bytes()).as("another config").isBetween(6_000L, 9_000L);
    contexts.add(context(CONFIG, specs(1_000)));
    assertThat(contexts.bytes()).as("other endpoints").isBetween(200_000L, 400_000L);
    contexts.release(3);
    assertThat(contexts.bytes()).isZero();
  }

  @Test
  void theOldestGoWhereTheyTakeTooMuch() {
    for (int i = 0; i < 100; i++) {
      contexts.add(context(CONFIG, specs(1_000)));
      assertThat(contexts.bytes()).isLessThanOrEqualTo(ROOM);
    }
    assertThat(contexts.holds(98)).isTrue();
    assertThat(contexts.holds(90)).isFalse();
    contexts.add(context(CONFIG, specs(10_000)));
    assertThat(contexts.newest()).as("in use, whatever it takes").isNotNull();
    contexts.add(context(CONFIG));
    assertThat(contexts.holds(100)).isFalse();
    assertThat(contexts.get(101).pool()).isEmpty();
  }

  @Test
  void parametersOfPluginsCountToo() {
    List<String> values = IntStream.range(0, 10_000).mapToObj(i -> "value-" + i).toList();
    SchedulerConfig nested = withParameters(Map.of("rules", List.of(Map.of("values", values))));
    SchedulerConfig flat = withParameters(Map.of("label", "x".repeat(100_000)));
    contexts.add(context(config(nested)));
    contexts.add(context(config(flat)));
    assertThat(contexts.bytes()).as("a long list").isBetween(100_000L, 1_000_000L);
    long before = contexts.bytes();
    contexts.add(context(config(SchedulerConfig.DEFAULT, new ShadowConfig("tried", flat))));
    assertThat(contexts.bytes() - before).as("a long text").isBetween(100_000L, 250_000L);
    before = contexts.bytes();
    contexts.add(context(CONFIG));
    assertThat(contexts.bytes() - before).as("a shadow's").isBetween(100_000L, 250_000L);
  }
}
