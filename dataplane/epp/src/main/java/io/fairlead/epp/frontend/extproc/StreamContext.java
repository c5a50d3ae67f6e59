package io.fairlead.epp.frontend.extproc;

import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.openai.RequestReader;
import io.fairlead.epp.tracing.Tracing;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What all streams of a server share.
 *
 * @param bodies what request bodies are charged to
 * @param bodyTimeout longest time without a piece of a request body, in nanoseconds
 * @param leaveAfterPick whether the proxy goes on alone once it has the request
 * @param seeds random bits for each request
 * @param readers one for each loop: a reader is not thread-safe
 * @param destinations how proxies are told of them
 * @param tracing makes spans of requests; null for none
 */
record StreamContext(
    PoolLoop pool,
    BodyBudget bodies,
    int maxBodyBytes,
    long bodyTimeout,
    LongSupplier seeds,
    StreamCounters counters,
    OpenStreams streams,
    boolean leaveAfterPick,
    FastThreadLocal<RequestReader> readers,
    Destinations destinations,
    @Nullable Tracing tracing) {

  RequestReader reader() {
    return readers.get();
  }
}
