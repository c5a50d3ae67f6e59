package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.plugin.Completion;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A request that asks for several answers is as many sequences at its endpoint. */
class SeveralAnswersTest {

  private static final long SECOND = 1_000_000_000;

  private final Pool pool = new Pool();
  private final Witness witness = new Witness();

  SeveralAnswersTest() {
    pool.core.configure(
        0,
        new ConfigCompiler(List.of(witness))
            .compile(
                Pool.config(
                    Pool.atOnce(
                        List.of(new PluginConfig("w", Witness.TYPE, Map.of())), List.of()))));
    pool.endpoints("a");
  }

  @Test
  void theyAreCountedAsTheEngineCountsThem() {
    long several = arrive(8);
    long one = arrive(1);
    assertThat(there().sequences()).isEqualTo(9);
    assertThat(there().inFlight()).isEqualTo(2);
    assertThat(there().decodingSequences()).isZero();

    pool.core.firstByte(0, several);
    assertThat(there().decodingSequences()).isEqualTo(8);
    pool.core.firstByte(0, one);
    pool.core.scraped(0, Pool.endpoint("a"), 0, new EndpointMetrics(1, 10, 0.1, -1, -1));
    assertThat(there().foreignInFlight()).isEqualTo(2);

    pool.core.ended(SECOND, one, Outcome.COMPLETED, new Usage(100, 50, 0, 52));
    assertThat(witness.told).containsExactly("1 answers of 50 tokens in 52 events");
    assertThat(witness.meanDecoding).isCloseTo(9, within(0.01));
    pool.core.ended(SECOND, several, Outcome.COMPLETED, new Usage(100, 800, 0, 816));
    assertThat(witness.told).contains("8 answers of 100 tokens in 102 events");
    assertThat(there().sequences()).isZero();
    assertThat(there().decodingSequences()).isZero();
  }

  @Test
  void thoseThatAreLeftAreWatchedNoMore() {
    long several = arrive(8);
    long one = arrive(1);
    pool.core.left(0, several, ticket -> {});
    assertThat(there().watchedSequences()).isEqualTo(1);
    pool.core.ended(0, one, Outcome.DISCONNECTED, Usage.UNKNOWN);
    assertThat(there().watchedSequences()).isZero();
    pool.now = 1_000 * SECOND;
    pool.core.tick(pool.now);
    assertThat(there().sequences()).isZero();
    assertThat(there().decodingSequences()).isZero();
  }

  @Test
  void thoseUnderWayDoNotHideThatOneThatWasLeftIsOver() {
    arrive(8);
    long one = arrive(1);
    pool.core.left(0, one, ticket -> {});
    pool.now = 3 * SECOND;
    pool.core.scraped(
        pool.now, Pool.endpoint("a"), pool.now, new EndpointMetrics(0, 8, 0.1, -1, -1));
    assertThat(there().sequences()).isEqualTo(8);
  }

  @Test
  void oneThatWasLeftIsOverWithAllItsAnswers() {
    long several = arrive(8);
    pool.core.left(0, several, ticket -> {});
    pool.now = 3 * SECOND;
    pool.core.scraped(
        pool.now, Pool.endpoint("a"), pool.now, new EndpointMetrics(0, 1, 0.1, -1, -1));
    assertThat(there().sequences()).isEqualTo(8);
    pool.core.scraped(
        pool.now, Pool.endpoint("a"), pool.now, new EndpointMetrics(0, 0, 0.1, -1, -1));
    assertThat(there().sequences()).isZero();
  }

  private long arrive(int answers) {
    return pool.core.arrive(
        0, RequestFactsBuilder.of("", 1).answers(answers).tokens(100).build(), pool);
  }

  private Endpoint there() {
    Endpoint endpoint = witness.joined;
    assertThat(endpoint).isNotNull();
    return endpoint;
  }

  private static final class Witness implements PluginFactory, Observer {

    static final String TYPE = "answers-witness";

    private final List<String> told = new ArrayList<>();
    private double meanDecoding;
    private @Nullable Endpoint joined;

    @Override
    public String type() {
      return TYPE;
    }

    @Override
    public Plugin create(Parameters parameters) {
      return this;
    }

    @Override
    public void joined(Endpoint endpoint) {
      joined = endpoint;
    }

    @Override
    public void completed(Completion completion) {
      told.add(
          "%d answers of %d tokens in %d events"
              .formatted(
                  completion.answers(), completion.outputTokens(), completion.streamedEvents()));
      meanDecoding = completion.meanDecoding();
    }
  }
}
