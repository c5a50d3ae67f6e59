package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.Rejection.Reason;
import io.fairlead.core.receipt.FailedAttempt;
import io.fairlead.core.receipt.KeptRequest;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Where filters leave nobody for a second attempt, the first is all that the client can have. */
class RetryChoiceTest {

  private final Pool pool = new Pool(Pool.PROBES_ARE_NOT_ANSWERED);

  /** Whom the filter lets a request go to. */
  private final Set<String> suitable = new HashSet<>(Set.of("a"));

  RetryChoiceTest() {
    SchedulerConfig scheduler =
        new SchedulerConfig(
            List.of(new PluginConfig("own", "suitable", Map.of())), List.of(), null);
    pool.core.configure(
        0, new ConfigCompiler(List.of(new Factory())).compile(Pool.config(scheduler)));
    pool.endpoints("a", "b");
  }

  @Test
  void theAnswerOfTheFirstIsPassed() {
    long ticket = pool.arrive("m", 1, 2);
    pool.core.attemptFailed(pool.now, ticket, Failure.UNAVAILABLE);

    assertThat(pool.effects.getLast()).isEqualTo(ticket + " passed");
    assertThat(pool.rejections).isEmpty();
    assertThat(pool.snapshot("a").inFlight()).as("until it is passed").isEqualTo(1);
    pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    assertThat(pool.snapshot("a").inFlight()).isZero();
    assertThat(pool.core.active()).isZero();
  }

  @Test
  void oneWithoutAnAnswerIsRejected() {
    pool.core.attemptFailed(pool.now, pool.arrive("m"), Failure.REFUSED);
    assertThat(pool.rejections)
        .extracting(Rejection::reason)
        .containsExactly(Reason.UPSTREAM_FAILED);
    assertThat(pool.core.active()).isZero();
  }

  @Test
  void whatIsNotSentAgainCostsThePoolsBudgetNothing() {
    for (int i = 0; i < 1_000; i++) {
      long ticket = pool.arrive("m");
      pool.core.attemptFailed(pool.now, ticket, Failure.UNAVAILABLE);
      pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    }
    suitable.add("b");
    long ticket = pool.arrive("m");
    pool.core.attemptFailed(pool.now, ticket, Failure.UNAVAILABLE);
    assertThat(pool.lastRoute().attempt()).isEqualTo(2);
  }

  @Test
  void aServerThatIsSilentGetsTheTimeOfOneThatIsAlone() {
    pool.serve("m");
    long ticket = pool.arrive("m");
    EndpointSpec a = Pool.endpoint("a");
    for (int i = 0; i < 150 && pool.rejections.isEmpty(); i++) {
      pool.now += Duration.ofMillis(100).toNanos();
      pool.core.scraped(
          pool.now, Pool.endpoint("b"), pool.now, new EndpointMetrics(0, 0, 0, 16, 100));
      pool.core.unreachable(pool.now, a, pool.now, Failure.FIRST_BYTE_LATE);
      pool.core.tick(pool.now);
      if (i == 70) {
        assertThat(pool.rejections).as("it may answer yet").isEmpty();
      }
    }
    assertThat(pool.rejections)
        .extracting(Rejection::reason)
        .containsExactly(Reason.FIRST_BYTE_TIMEOUT);
    assertThat(pool.routes).as("ticket %s", ticket).hasSize(2);
    assertThat(pool.core.active()).isZero();
  }

  /** It was taken for dead, nobody else could have the request, and it answered. */
  @Test
  void anAnswerThatComesAfterAllIsNoFailedAttempt() {
    pool.serve("m");
    long ticket = pool.arrive("m");
    for (int i = 0; i < 50; i++) {
      pool.now += Duration.ofMillis(100).toNanos();
      pool.core.scraped(
          pool.now, Pool.endpoint("b"), pool.now, new EndpointMetrics(0, 0, 0, 16, 100));
      pool.core.tick(pool.now);
    }
    assertThat(kept(ticket).failed(0))
        .extracting(FailedAttempt::how)
        .isEqualTo(Failure.FIRST_BYTE_LATE);
    assertThat(kept(ticket).notSentAgain()).isEqualTo(NotSentAgain.NOBODY_ELSE);
    pool.core.firstByte(pool.now, ticket);
    assertThat(kept(ticket).failed(0)).isNull();
    assertThat(kept(ticket).notSentAgain()).isNull();
  }

  private KeptRequest kept(long ticket) {
    return Objects.requireNonNull(pool.core.receipts().find("request-" + ticket));
  }

  private final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "suitable";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return (Filter)
          (request, candidates, keep) -> {
            for (int i = 0; i < candidates.size(); i++) {
              keep[i] = suitable.contains(candidates.get(i).name());
            }
          };
    }
  }
}
