package io.fairlead.core.scheduling;

import static io.fairlead.core.scheduling.Documents.plugin;
import static io.fairlead.core.scheduling.Documents.pool;
import static io.fairlead.core.scheduling.Documents.profile;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.PoolCore;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.ProfileHandler;
import io.fairlead.plugin.ProfileResults;
import io.fairlead.plugin.Setting;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a plugin has learned outlives a reload that leaves it as it was. */
class ReloadTest {

  private static final PluginConfig LEARNER = plugin("l", "learner", Map.of("rate", 1L));

  private static final List<PluginFactory> FACTORIES =
      List.of(
          new Factory("learner", parameters -> Learner.of(parameters)),
          new Factory("watcher", parameters -> new Watcher(parameters.plugin("of", Learner.class))),
          new Factory("counting-handler", parameters -> new Handler()));

  private final ConfigCompiler compiler = new ConfigCompiler(FACTORIES);

  /** The observers of a config, without those that it has of itself. */
  private static List<Observer> learners(CompiledConfig config) {
    return config.observers().stream()
        .filter(observer -> observer.getClass().getEnclosingClass() == ReloadTest.class)
        .toList();
  }

  @Test
  void anUnchangedPluginKeepsItsInstance() {
    CompiledConfig first = compiler.compile(config(LEARNER));

    List<PoolConfig> unrelated =
        List.of(
            config(LEARNER),
            config(plugin("queue-scorer"), LEARNER),
            pool(List.of(LEARNER), List.of(profile("other")), null),
            pool(
                List.of(new ModelConfig("m", Criticality.CRITICAL, List.of())),
                new SchedulerConfig(List.of(LEARNER), List.of(), null)));
    CompiledConfig running = first;
    for (PoolConfig config : unrelated) {
      running = compiler.compile(config, running);
      assertThat(learners(running).getFirst()).isSameAs(learners(first).getFirst());
    }
  }

  @Test
  void aChangedPluginStartsAfresh() {
    CompiledConfig first = compiler.compile(config(LEARNER));
    List<PluginConfig> changed =
        List.of(
            plugin("l", "learner", Map.of("rate", 2L)),
            plugin("l", "learner", Map.of()),
            plugin("m", "learner", Map.of("rate", 1L)));
    for (PluginConfig plugin : changed) {
      assertThat(learners(compiler.compile(config(plugin), first)))
          .hasSize(1)
          .doesNotContainAnyElementsOf(learners(first));
    }
    CompiledConfig without = compiler.compile(config(), first);
    assertThat(learners(without)).isEmpty();
    assertThat(learners(compiler.compile(config(LEARNER), without)))
        .as("it was gone in between")
        .doesNotContainAnyElementsOf(learners(first));
  }

  @Test
  void whatIsLeftOutKeepsItsInstanceToo() {
    CompiledConfig first = compiler.compile(config());
    CompiledConfig second = compiler.compile(config(plugin("openai-parser")), first);
    assertThat(second.saturation()).isSameAs(first.saturation());
    assertThat(compiler.compile(config(), null).saturation()).isNotSameAs(first.saturation());
  }

  @Test
  void aPluginThatNamesAChangedOneIsMadeAfreshToo() {
    PluginConfig watcher = plugin("w", "watcher", Map.of("of", "l"));
    CompiledConfig first = compiler.compile(config(watcher, LEARNER));
    CompiledConfig same = compiler.compile(config(LEARNER, watcher), first);
    assertThat(learners(same)).containsExactlyInAnyOrderElementsOf(learners(first));

    CompiledConfig changed =
        compiler.compile(config(watcher, plugin("l", "learner", Map.of("rate", 2L))), same);
    assertThat(learners(changed)).doesNotContainAnyElementsOf(learners(first));
    Watcher fresh = (Watcher) learners(changed).getFirst();
    assertThat(fresh.of).isSameAs(learners(changed).getLast());
  }

  @Test
  void aProfileHandlerStaysWhileTheProfilesDo() {
    PluginConfig handler = plugin("counting-handler");
    PoolConfig two = pool(List.of(handler, LEARNER), List.of(profile("a"), profile("b")), null);
    CompiledConfig first = compiler.compile(two);
    CompiledConfig same =
        compiler.compile(pool(List.of(handler), List.of(profile("a"), profile("b")), null), first);
    assertThat(Handler.of(same)).isSameAs(Handler.of(first));
    assertThat(Handler.of(same).told).containsExactly(List.of("a", "b"));

    CompiledConfig other =
        compiler.compile(pool(List.of(handler), List.of(profile("a"), profile("c")), null), same);
    assertThat(Handler.of(other).told).containsExactly(List.of("a", "c"));
    assertThat(Handler.of(first).told).as("it may still run").containsExactly(List.of("a", "b"));
  }

  @Test
  void anotherCompilersInstancesAreNotTakenOver() {
    CompiledConfig other = new ConfigCompiler(FACTORIES).compile(config(LEARNER));
    assertThat(learners(compiler.compile(config(LEARNER), other)))
        .doesNotContainAnyElementsOf(learners(other));
  }

  @Test
  void theIndexSettingsOfAnUnchangedPluginStay() {
    PluginConfig scorer = plugin("s", "prefix-cache-scorer", Map.of("maxPrefixBlocksToMatch", 7L));
    CompiledConfig first = compiler.compile(config(scorer));
    assertThat(compiler.compile(config(LEARNER, scorer), first).prefix())
        .isEqualTo(first.prefix())
        .isEqualTo(new PrefixSettings(7, 0, true));
  }

  @Test
  void aRefusedConfigLeavesTheRunningOneAndItsPluginsAsTheyWere() {
    PoolCore core = new PoolCore();
    CompiledConfig running = compiler.compile(config(LEARNER));
    core.configure(0, running);
    core.endpoints(0, List.of(new EndpointSpec("e", "1", "10.0.0.1", 8000, Map.of())));
    Learner learner = (Learner) learners(running).getFirst();
    assertThat(learner.joined).containsExactly("e");

    assertThatThrownBy(() -> compiler.compile(config(LEARNER, plugin("gone-scorer")), running))
        .isInstanceOf(InvalidConfigException.class);
    CompiledConfig mended = compiler.compile(config(LEARNER, plugin("queue-scorer")), running);
    core.configure(1, mended);

    assertThat(learners(mended)).containsExactly(learner);
    assertThat(learner.joined).as("it knows the endpoint already").containsExactly("e");
  }

  /** These and a scorer, so that the default one, which learns too, is not implied. */
  private static PoolConfig config(PluginConfig... plugins) {
    return pool(
        Stream.concat(Stream.of(plugins), Stream.of(plugin("running-requests-size-scorer")))
            .toList(),
        List.of(),
        null);
  }

  private static final class Learner implements Observer {

    private final List<String> joined = new ArrayList<>();

    static Learner of(Parameters parameters) {
      parameters.integer("rate", 1, 1, 9);
      return new Learner();
    }

    @Override
    public void joined(Endpoint endpoint) {
      joined.add(endpoint.name());
    }
  }

  private static final class Watcher implements Observer {

    private final @Nullable Learner of;

    Watcher(@Nullable Learner of) {
      this.of = of;
    }
  }

  /** Also a setting, so that a test can get at it. */
  private static final class Handler implements ProfileHandler, Setting {

    private final List<List<String>> told = new ArrayList<>();

    static Handler of(CompiledConfig config) {
      return config.settings(Handler.class).getFirst();
    }

    @Override
    public void profiles(List<String> names) {
      told.add(names);
    }

    @Override
    public int next(InferenceRequest request, ProfileResults results) {
      return results.ran(0) ? DONE : 0;
    }

    @Override
    public int primary(InferenceRequest request, ProfileResults results) {
      return 0;
    }
  }

  private record Factory(String type, Function<Parameters, Plugin> make) implements PluginFactory {

    @Override
    public Plugin create(Parameters parameters) {
      return make.apply(parameters);
    }
  }
}
