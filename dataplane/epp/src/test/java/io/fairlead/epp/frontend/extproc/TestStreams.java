package io.fairlead.epp.frontend.extproc;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.openai.RequestReader;
import io.netty.util.concurrent.FastThreadLocal;
import java.time.Duration;

/** What streams of tests share. */
final class TestStreams {

  private TestStreams() {}

  /** Of streams that wait 60 s for a body, and are not left. */
  static StreamContext context(
      TestPool pool, BodyBudget bodies, int maxBodyBytes, StreamCounters counters) {
    return new StreamContext(
        pool.loop,
        bodies,
        maxBodyBytes,
        Duration.ofSeconds(60).toNanos(),
        () -> 7,
        counters,
        new OpenStreams(),
        false,
        new FastThreadLocal<>() {
          @Override
          protected RequestReader initialValue() {
            return new RequestReader();
          }
        },
        new Destinations(),
        null);
  }

  /**
   * After every stream has ended: no timer, no byte, no stream and no request is left, but for
   * requests that were left to their proxy.
   */
  static void assertNothingIsLeft(
      TestLoop loop, TestPool pool, BodyBudget bodies, StreamCounters counters) {
    assertThat(loop.hasTimer()).as("a timer outlived its stream").isFalse();
    assertThat(pool.active()).as("but for those that are left").isEqualTo(pool.left());
    assertThat(counters.active()).isZero();
    assertThat(bodies.used()).isZero();
    assertThat(bodies.waiting()).isZero();
    assertThat(bodies.usedByHeads()).isZero();
  }

  static StreamContext leavingAfterPick(StreamContext context) {
    return new StreamContext(
        context.pool(),
        context.bodies(),
        context.maxBodyBytes(),
        context.bodyTimeout(),
        context.seeds(),
        context.counters(),
        context.streams(),
        true,
        context.readers(),
        context.destinations(),
        context.tracing());
  }

  /** Where each request fails in an error of ours. */
  static StreamContext failing(StreamContext context) {
    return new StreamContext(
        context.pool(),
        context.bodies(),
        context.maxBodyBytes(),
        context.bodyTimeout(),
        () -> {
          throw new IllegalStateException("as the test wants it");
        },
        context.counters(),
        context.streams(),
        context.leaveAfterPick(),
        context.readers(),
        context.destinations(),
        context.tracing());
  }
}
