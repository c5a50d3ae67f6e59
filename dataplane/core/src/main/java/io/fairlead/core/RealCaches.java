package io.fairlead.core;

import io.fairlead.core.prefix.PrefixIndex;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the choices of another scheduling leave in the endpoints' caches, for a core that decides on
 * the same requests to be compared with it. It is learned from the requests that this core is told
 * of, as the core's own choices are. Whoever really chose knows of more: of requests from before,
 * and of those that this core is not asked about. Compared by that, the same choices would look
 * better on one side.
 */
public final class RealCaches {

  private final PrefixIndex index;
  private final EndpointSet endpoints;
  private final CurrentRequest current;

  /** An endpoint that holds a prompt, and had so many leading blocks of it before. */
  private record Holder(EndpointState at, int before) {}

  /** A request where it was really sent. */
  public static final class Sent {
    private final int cachedTokens;
    private final long salt;
    private final long[] blocks;
    private final int count;
    private final List<Holder> holders;

    /** Blocks of each that it did not have before; null once the prompt is computed, or not. */
    private int @Nullable [] added;

    private Sent(int cachedTokens, long salt, long[] blocks, int count, List<Holder> holders) {
      this.cachedTokens = cachedTokens;
      this.salt = salt;
      this.blocks = blocks;
      this.count = count;
      this.holders = holders;
    }

    /** Tokens of its prompt that are believed to be cached by whoever computes that. */
    public int cachedTokens() {
      return cachedTokens;
    }
  }

  RealCaches(PrefixIndex index, EndpointSet endpoints, CurrentRequest current) {
    this.index = index;
    this.endpoints = endpoints;
    this.current = current;
  }

  /** A request was really sent there. */
  public Sent sent(long now, RequestFacts facts, Route route) {
    current.start(now, now, facts, route.criticality(), endpoints);
    try {
      current.target(route.targetModel());
      int count = current.cacheableBlocks();
      index.lookUp(current.salt(), facts.blocks(), count);
      EndpointState decoding = endpoints.named(route.endpoint());
      EndpointState prefiller = prefiller(route);
      EndpointState computing = prefiller == null ? decoding : prefiller;
      int cached = computing == null ? 0 : current.cachedTokensOf(index.held(computing.slot()));
      List<Holder> holders =
          Stream.of(decoding, prefiller)
              .flatMap(Stream::ofNullable)
              .map(at -> new Holder(at, index.held(at.slot())))
              .toList();
      Sent sent = new Sent(cached, current.salt(), facts.blocks(), count, holders);
      sent.added =
          holders.stream()
              .mapToInt(to -> index.expect(to.at().slot(), sent.salt, sent.blocks, sent.count))
              .toArray();
      return sent;
    } finally {
      current.done();
    }
  }

  private @Nullable EndpointState prefiller(Route route) {
    for (Route.Header header : route.requestHeaders()) {
      if (header.name().equals(Route.PREFILLER_HEADER)) {
        return endpoints.at(header.value());
      }
    }
    return null;
  }

  /** Its prompt was computed, or used once more. */
  public void computed(Sent sent) {
    each(sent, to -> index.learn(to.at().slot(), sent.salt, sent.blocks, sent.count));
    noMoreExpected(sent);
  }

  /** Its prompt was not computed after all. */
  public void withdraw(Sent sent) {
    each(
        sent,
        to -> index.withdraw(to.at().slot(), sent.salt, sent.blocks, sent.count, to.before()));
    noMoreExpected(sent);
  }

  private void noMoreExpected(Sent sent) {
    int[] added = sent.added;
    sent.added = null;
    for (int i = 0; added != null && i < added.length; i++) {
      EndpointState at = sent.holders.get(i).at();
      if (isThere(at)) {
        index.noMoreExpected(at.slot(), added[i]);
      }
    }
  }

  /** One that has left since has no slot of its own any more. */
  private boolean isThere(EndpointState endpoint) {
    return endpoints.named(endpoint.name()) == endpoint;
  }

  private void each(Sent sent, Consumer<Holder> what) {
    for (Holder holder : sent.holders) {
      if (isThere(holder.at())) {
        what.accept(holder);
      }
    }
  }
}
