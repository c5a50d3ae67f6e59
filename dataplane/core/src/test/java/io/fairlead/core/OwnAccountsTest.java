package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Two pools get the same requests; one is scraped as it should be, the other late, never, or with
 * nonsense. Whoever scores by what the pool itself sent sends each request to the same endpoint in
 * both.
 */
class OwnAccountsTest {

  private static final int EVENTS = 20_000;
  private static final int ENDPOINTS = 12;
  private static final List<EndpointSpec> SPECS =
      IntStream.range(0, ENDPOINTS).mapToObj(i -> Pool.endpoint("e" + i)).toList();

  enum Scrapes {
    LATE,
    MISSING,
    WRONG
  }

  @ParameterizedTest
  @EnumSource
  void scrapesChangeNoDecisionByThemselves(Scrapes kind) {
    for (long seed = 1; seed <= 3; seed++) {
      Pool scraped = pool();
      Pool other = pool();
      run(seed, kind, scraped, other);
      assertThat(other.routes).as("seed %d", seed).hasSizeGreaterThan(EVENTS / 4);
      assertThat(other.effects).as("seed %d", seed).isEqualTo(scraped.effects);
    }
  }

  private static void run(long seed, Scrapes kind, Pool scraped, Pool other) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Long> open = new ArrayList<>();
    List<EndpointMetrics> late = new ArrayList<>();
    // Endpoints that have just come wait for their first scrape; these have been there for long.
    scraped.now += 2_000_000_000;
    for (int i = 0; i < EVENTS; i++) {
      scraped.now += random.nextInt(1_000_000);
      other.now = scraped.now;
      int event = random.nextInt(10);
      if (event < 4) {
        long[] blocks = new long[random.nextInt(20)];
        for (int b = 0; b < blocks.length; b++) {
          blocks[b] = (b == 0 ? 1 : blocks[b - 1] * 31) + random.nextInt(2);
        }
        String model = random.nextBoolean() ? "critical" : "";
        long ticket = scraped.arrive(model, blocks);
        other.arrive(model, blocks.clone());
        open.add(ticket);
      } else if (event < 9 && !open.isEmpty()) {
        long ticket = open.get(random.nextInt(open.size()));
        int what = random.nextInt(4);
        for (Pool pool : List.of(scraped, other)) {
          switch (what) {
            case 0 -> pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
            case 1 -> pool.core.ended(pool.now, ticket, Outcome.DISCONNECTED, Usage.UNKNOWN);
            case 2 -> pool.core.attemptFailed(pool.now, ticket, Failure.DIED);
            default -> pool.core.firstByte(pool.now, ticket);
          }
        }
        if (what < 2) {
          open.remove(ticket);
        }
      } else {
        EndpointSpec spec = SPECS.get(random.nextInt(ENDPOINTS));
        EndpointMetrics metrics = scrape(random);
        scraped.core.scraped(scraped.now, spec, scraped.now, metrics);
        switch (kind) {
          case LATE -> {
            late.add(metrics);
            if (late.size() > 50) {
              other.core.scraped(other.now, spec, other.now, late.removeFirst());
            }
          }
          case MISSING -> {}
          case WRONG ->
              other.core.scraped(
                  other.now,
                  spec,
                  other.now,
                  new EndpointMetrics(random.nextInt(), -7, 12, -1, random.nextInt()));
        }
      }
    }
  }

  /** The KV cache is large enough for all prompts: its size is no news, only known or not. */
  private static EndpointMetrics scrape(SplittableRandom random) {
    return new EndpointMetrics(
        random.nextInt(50), random.nextInt(50), random.nextDouble(), 16, 1 << 20);
  }

  private static Pool pool() {
    Pool pool = new Pool();
    // Whether there is room, scrapes tell: so nobody waits.
    SchedulerConfig scheduler =
        Pool.atOnce(List.of(new PluginConfig("own", "own-accounts", Map.of())), List.of());
    pool.core.configure(
        0,
        new ConfigCompiler(List.of(new OwnAccounts()))
            .compile(Pool.config(scheduler, Pool.model("critical", Criticality.CRITICAL))));
    pool.core.endpoints(0, SPECS);
    return pool;
  }

  /** Scores by everything that an endpoint shows of what was sent to it. */
  private static final class OwnAccounts implements PluginFactory {

    @Override
    public String type() {
      return "own-accounts";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return (Scorer) OwnAccounts::score;
    }

    private static void score(InferenceRequest request, Candidates candidates, double[] scores) {
      for (int i = 0; i < candidates.size(); i++) {
        Endpoint endpoint = candidates.get(i);
        double cost =
            endpoint.inFlight()
                + endpoint.awaitingFirstToken()
                + endpoint.decoding()
                + endpoint.criticalInFlight()
                + endpoint.inFlightTokens()
                + endpoint.uncachedInFlightTokens()
                + endpoint.prefills().uncachedTokens()
                + endpoint.prefills().attention()
                + endpoint.prefills().headUncached()
                + request.promptTokens()
                - candidates.cachedTokens(i);
        scores[i] = 1 / (1 + cost);
      }
    }
  }
}
