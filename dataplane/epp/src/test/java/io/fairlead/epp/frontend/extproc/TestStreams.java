package io.fairlead.epp.frontend.extproc;

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
        null);
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
        context.tracing());
  }
}
