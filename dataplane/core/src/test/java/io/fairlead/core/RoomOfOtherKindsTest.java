package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ProfileConfig.PluginReference;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Endpoints that a request can't use have room: that is no room for it. */
class RoomOfOtherKindsTest implements RequestListener {

  private static final long SECOND = 1_000_000_000;

  private final PoolCore core = new PoolCore();
  private final List<String> sent = new ArrayList<>();
  private final List<String> scored = new ArrayList<>();
  private final List<Rejection> rejections = new ArrayList<>();
  private int waiting;
  private long now = SECOND;
  private long seed;

  @Override
  public void send(long request, Route route) {
    sent.add(route.endpoint());
  }

  @Override
  public void waits(long request, Criticality criticality) {
    waiting++;
  }

  @Override
  public void pass(long request) {}

  @Override
  public void reject(long request, Rejection rejection) {
    rejections.add(rejection);
  }

  private static EndpointSpec endpoint(String name, String role) {
    return new EndpointSpec(name, "1", "10.0.0.1", 8000, Map.of("llm-d.ai/role", role));
  }

  private void pairs() {
    configure(
        new SchedulerConfig(
            List.of(
                new PluginConfig(
                    "h", "disagg-profile-handler", Map.of("deciders", Map.of("prefill", "d"))),
                new PluginConfig("d", "prefix-based-pd-decider", Map.of("nonCachedTokens", 64L)),
                new PluginConfig("best", "max-score-picker", Map.of())),
            List.of(profile("decode", "best"), profile("prefill", "best")),
            null));
    core.endpoints(now, List.of(endpoint("p", "prefill"), endpoint("d", "decode")));
  }

  /** The same, with a scorer that notes whom it is asked about. */
  private void pairsThatAreCounted() {
    configure(
        new SchedulerConfig(
            List.of(
                new PluginConfig(
                    "h", "disagg-profile-handler", Map.of("deciders", Map.of("prefill", "d"))),
                new PluginConfig("d", "prefix-based-pd-decider", Map.of("nonCachedTokens", 64L)),
                new PluginConfig("counts", "counts", Map.of()),
                new PluginConfig("best", "max-score-picker", Map.of())),
            List.of(profile("decode", "counts", "best"), profile("prefill", "counts", "best")),
            null));
  }

  private void labels() {
    configure(
        new SchedulerConfig(
            List.of(
                new PluginConfig("only", "decode-filter", Map.of()),
                new PluginConfig("best", "max-score-picker", Map.of())),
            List.of(
                new ProfileConfig(
                    "default",
                    List.of(new PluginReference("only", 1), new PluginReference("best", 1)))),
            null));
    core.endpoints(now, List.of(endpoint("p", "prefill"), endpoint("d", "decode")));
  }

  private static ProfileConfig profile(String name, String... plugins) {
    return new ProfileConfig(
        name, Stream.of(plugins).map(plugin -> new PluginReference(plugin, 1)).toList());
  }

  private void configure(SchedulerConfig scheduler) {
    core.configure(now, new ConfigCompiler(List.of(new Counts())).compile(Pool.config(scheduler)));
  }

  private void scraped(String name, String role, double usage) {
    now += SECOND / 10;
    core.scraped(now, endpoint(name, role), now, new EndpointMetrics(0, 10, usage, 16, 27_000));
  }

  private void arrive(int blocks) {
    long[] prompt = new long[blocks];
    for (int i = 0; i < blocks; i++) {
      prompt[i] = ++seed;
    }
    core.arrive(now, Pool.request("m", seed, prompt), this);
  }

  @Test
  void anIdlePrefillerIsNoRoomForAnAnswer() {
    pairs();
    scraped("p", "prefill", 0.1);
    scraped("d", "decode", 0.97);
    arrive(20);
    assertThat(sent).isEmpty();
    assertThat(waiting).isOne();
    assertThat(core.queues(now).full()).as("there is no room for it").isTrue();
    scraped("d", "decode", 0.5);
    assertThat(sent).containsExactly("d");
    assertThat(core.queues(now).full()).isFalse();
    assertThat(rejections).isEmpty();
  }

  @Test
  void anIdleDecoderIsNoRoomForALongPrompt() {
    pairs();
    scraped("p", "prefill", 0.97);
    scraped("d", "decode", 0.1);
    arrive(2);
    assertThat(sent).as("it computes short prompts itself").containsExactly("d");
    arrive(20);
    assertThat(sent).hasSize(1);
    assertThat(waiting).isOne();
    scraped("p", "prefill", 0.5);
    assertThat(sent).hasSize(2);
    assertThat(rejections).isEmpty();
  }

  /** A server that computes a prompt itself needs no other that does. */
  @Test
  void whoDoesBothIsRoomForAll() {
    pairs();
    core.endpoints(now, List.of(endpoint("x", "both"), endpoint("y", "both")));
    scraped("x", "both", 0.1);
    scraped("y", "both", 0.97);
    for (int i = 1; i <= 5; i++) {
      arrive(20);
      assertThat(sent).hasSize(i);
    }
  }

  @Test
  void whatAFilterTakesOutIsNoRoom() {
    labels();
    scraped("p", "prefill", 0.1);
    scraped("d", "decode", 0.97);
    arrive(20);
    assertThat(sent).isEmpty();
    assertThat(waiting).isOne();
    scraped("d", "decode", 0.5);
    assertThat(sent).containsExactly("d");
    assertThat(rejections).isEmpty();
  }

  @Test
  void nobodyIsScoredTwiceWhereEachKindHasRoom() {
    pairsThatAreCounted();
    core.endpoints(
        now,
        List.of(
            endpoint("p", "prefill"),
            endpoint("q", "prefill"),
            endpoint("d", "decode"),
            endpoint("e", "decode")));
    scraped("p", "prefill", 0.97);
    scraped("q", "prefill", 0.1);
    scraped("d", "decode", 0.97);
    scraped("e", "decode", 0.1);
    arrive(20);
    assertThat(sent).hasSize(1);
    assertThat(scored).containsExactly("d", "e", "p", "q");
  }

  private final class Counts implements PluginFactory {

    @Override
    public String type() {
      return "counts";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return (Scorer)
          (request, candidates, scores) -> {
            for (int i = 0; i < candidates.size(); i++) {
              scored.add(candidates.get(i).name());
              scores[i] = 0;
            }
          };
    }
  }
}
