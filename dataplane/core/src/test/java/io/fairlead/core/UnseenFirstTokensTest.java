package io.fairlead.core;

import static io.fairlead.core.VirtualPool.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.plugin.Completion;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Requests of which nobody sees when their prompts are computed. Servers may take them at once, and
 * say so: nobody is held back for it. Others wait behind them: it is not their own prefills that
 * take so long.
 */
class UnseenFirstTokensTest {

  private static final long ANSWER = 400 * VirtualPool.MILLI;

  @ParameterizedTest
  @CsvSource({"50, STANDARD", "300, STANDARD", "300, SHEDDABLE", "1000, CRITICAL"})
  void answersInOnePieceDontWaitForServersThatTakeThem(double perSecond, Criticality criticality) {
    for (long seed = 1; seed <= 3; seed++) {
      VirtualPool pool = new VirtualPool(seed, 2, "cost", criticality);
      pool.streamed = 0;
      pool.traffic(2 * perSecond, 20 * SECOND);
      pool.runUntil(30 * SECOND);
      assertThat(pool.failures).as("seed " + seed).isEmpty();
      assertThat(pool.waited).as("who waited, seed " + seed).isZero();
      assertThat(pool.longestWait).isEqualTo(ANSWER);
    }
  }

  @ParameterizedTest
  @CsvSource({"50, STANDARD", "300, STANDARD", "300, SHEDDABLE", "1000, CRITICAL"})
  void requestsThatAreLeftDontEither(double perSecond, Criticality criticality) {
    for (long seed = 1; seed <= 3; seed++) {
      VirtualPool pool = new VirtualPool(seed, 2, "cost", criticality);
      pool.leaves = true;
      pool.traffic(2 * perSecond, 20 * SECOND);
      pool.runUntil(40 * SECOND);
      assertThat(pool.failures).as("seed " + seed).isEmpty();
      assertThat(pool.waited).as("who waited, seed " + seed).isZero();
      assertThat(pool.core.active()).isZero();
    }
  }

  /** A server that computes one prompt after the other; nine of ten have no first token. */
  @ParameterizedTest
  @CsvSource({"1, 40, 0.7", "2, 40, 0.9", "3, 120, 0.7", "4, 10, 0.7"})
  void thePromptsBeforeItAreNoPartOfAPrefill(long seed, long millis, double busy) {
    long took = millis * VirtualPool.MILLI;
    Pool pool = new Pool();
    List<Long> told = new ArrayList<>();
    pool.core.configure(
        0,
        new ConfigCompiler(List.of(new Witness(told)))
            .compile(
                Pool.config(
                    Pool.atOnce(
                        List.of(new PluginConfig("w", Witness.TYPE, Map.of())), List.of()))));
    pool.endpoints("a");
    EventQueue events = new EventQueue();
    long end = 3_000 * took;
    SplittableRandom random = new SplittableRandom(seed);
    long free = 0;
    for (long at = 0; at < end; at += (long) (-Math.log1p(-random.nextDouble()) * took / busy)) {
      free = Math.max(at, free) + took;
      long computed = free;
      boolean streamed = random.nextInt(10) == 0;
      RequestFacts facts =
          RequestFactsBuilder.of("", random.nextLong())
              .prompt(PromptSize.ofTokens(1_000))
              .delivery(new RequestFacts.Delivery(streamed, true))
              .build();
      long[] ticket = new long[1];
      events.add(at, () -> ticket[0] = pool.core.arrive(pool.now, facts, pool));
      events.add(
          computed,
          () -> {
            if (streamed) {
              pool.core.firstByte(pool.now, ticket[0]);
            }
            pool.core.ended(pool.now, ticket[0], Outcome.COMPLETED, Usage.UNKNOWN);
          });
    }
    for (long at = 0; at < end; at += 100 * VirtualPool.MILLI) {
      events.add(at, () -> pool.core.tick(pool.now));
    }
    events.run(end, time -> pool.now = time);

    assertThat(told).hasSizeGreaterThan(20);
    double mean = told.stream().mapToLong(Long::longValue).average().orElseThrow();
    assertThat(mean).isBetween(0.8 * took, 1.25 * took);
  }

  /** Writes down how long prefills took. */
  private record Witness(List<Long> told) implements PluginFactory, Observer {

    static final String TYPE = "prefill-witness";

    @Override
    public String type() {
      return TYPE;
    }

    @Override
    public Plugin create(Parameters parameters) {
      return this;
    }

    @Override
    public void completed(Completion completion) {
      if (completion.prefillTime() >= 0) {
        told.add(completion.prefillTime());
      }
    }
  }
}
