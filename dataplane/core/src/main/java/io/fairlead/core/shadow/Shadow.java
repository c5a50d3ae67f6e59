package io.fairlead.core.shadow;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.core.scheduling.CompiledConfig;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * A scheduling that decides on what another one has decided. It is told of every request when that
 * is sent for the first time, and has a core of its own, so its index and its accounts follow from
 * its own choices. Its requests go as one would expect: the first token comes when the tokens
 * before it are computed, by the pace of the real ones, and the rest takes as long as it really
 * did. An endpoint's health is known to it by scrapes alone: its choices fail nobody.
 *
 * <p>Not thread-safe. Like the core's, its events carry the time, which never goes back.
 */
public final class Shadow {

  private static final Comparator<Due> SOONEST =
      Comparator.comparingLong(Due::at).thenComparingLong(Due::order);

  private final PoolCore core;
  private final FirstTokenLine line = new FirstTokenLine();
  private final Ledger own = new Ledger();
  private final Ledger real = new Ledger();
  private final Map<Long, Tracked> tracked = new HashMap<>();
  private final PriorityQueue<Due> due = new PriorityQueue<>(SOONEST);
  private long order;
  private int endpoints;
  private long requests;
  private long agreed;
  private long notPlaced;
  private long promptTokens;

  /** Something imagined that is going to happen to a request. */
  private sealed interface Due {
    long at();

    /** What was planned first happens first. */
    long order();

    Tracked request();
  }

  private record FirstToken(long at, long order, Tracked request) implements Due {}

  private record End(long at, long order, Tracked request, Outcome outcome, Usage usage)
      implements Due {}

  /** A request that is under way in either account. */
  private static final class Tracked implements RequestListener {
    private final long sentAt;
    private final Route realRoute;
    private final long realUncached;
    private final double realAhead;
    private final boolean streamed;
    private @Nullable Route ownRoute;
    private long ownUncached;
    private long ticket;
    private long ownFirstAt;
    private boolean ownComputed;
    private boolean realComputed;
    private long realFirstAt = -1;

    /** Nobody tells of the answer. */
    private boolean left;

    /** The real and the imagined one are over. */
    private boolean over;

    Tracked(long sentAt, RequestFacts facts, Route route, Ledger real) {
      this.sentAt = sentAt;
      realRoute = route;
      streamed = facts.delivery().streamed();
      realUncached = Math.max(0, route.promptTokens() - route.expectedCachedTokens());
      realAhead = (double) real.ahead(route.endpoint()) + realUncached;
    }

    @Override
    public void send(long request, Route route) {
      if (ownRoute == null) {
        ticket = request;
        ownRoute = route;
      }
    }

    @Override
    public void pass(long request) {}

    /** Before it is sent, nobody was found for it; later on, the core does without it. */
    @Override
    public void reject(long request, Rejection rejection) {}

    boolean isSameChoice() {
      return ownRoute != null && ownRoute.endpoint().equals(realRoute.endpoint());
    }
  }

  /** A shadow without config and endpoints. */
  public Shadow(PoolLimits limits) {
    core = new PoolCore(limits);
  }

  /** Applies a config. */
  public void configure(long now, CompiledConfig config) {
    advance(now);
    core.configure(now, config);
  }

  /** Sets which endpoints there are. */
  public void endpoints(long now, List<EndpointSpec> all) {
    advance(now);
    endpoints = all.size();
    core.endpoints(now, all);
  }

  /** Sets how many pickers share the pool. */
  public void replicas(int count) {
    core.replicas(count);
  }

  /**
   * Takes a scrape in, see {@link PoolCore#scraped}. What the server tells of its queue and batch
   * are the real choices, so those of the shadow take their place; how full the KV cache is stays.
   */
  public void scraped(long now, EndpointSpec endpoint, long begunAt, EndpointMetrics metrics) {
    advance(now);
    boolean told = metrics.waiting() >= 0 && metrics.running() >= 0;
    core.scraped(now, endpoint, begunAt, told ? own.asScraped(endpoint.name(), metrics) : metrics);
  }

  /** A scrape failed, see {@link PoolCore#unreachable}. */
  public void unreachable(long now, EndpointSpec endpoint, long begunAt, Failure failure) {
    advance(now);
    core.unreachable(now, endpoint, begunAt, failure);
  }

  /** Time has moved on. */
  public void tick(long now) {
    advance(now);
    // Its requests are served as long as the real ones are; of silence they say nothing.
    for (Tracked request : tracked.values()) {
      if (request.ownRoute != null) {
        core.progress(now, request.ticket);
      }
    }
    core.tick(now);
    own.look(endpoints);
    real.look(endpoints);
  }

  /**
   * A request was sent: decides on it, too.
   *
   * @param key of the request, never used before
   * @param facts as the real scheduling got them; not changed here
   * @param route where it was sent
   */
  public void sent(long now, long key, RequestFacts facts, Route route) {
    advance(now);
    requests++;
    Tracked request = new Tracked(now, facts, route, real);
    core.arrive(now, facts, request);
    Route chosen = request.ownRoute;
    if (chosen == null) {
      notPlaced++;
      return;
    }
    if (request.isSameChoice()) {
      agreed++;
    }
    promptTokens += route.promptTokens();
    real.sent(
        route.endpoint(),
        request.realUncached,
        route.expectedCachedTokens(),
        line.nanos(request.realAhead));
    request.ownUncached = Math.max(0, chosen.promptTokens() - chosen.expectedCachedTokens());
    double expected = line.nanos((double) own.ahead(chosen.endpoint()) + request.ownUncached);
    own.sent(chosen.endpoint(), request.ownUncached, chosen.expectedCachedTokens(), expected);
    request.ownFirstAt = now + Math.round(expected);
    tracked.put(key, request);
    due.add(new FirstToken(request.ownFirstAt, order++, request));
  }

  /** The first token of the real answer came, or all of one that is not streamed. */
  public void firstByte(long now, long key) {
    advance(now);
    Tracked request = tracked.get(key);
    if (request == null || request.realFirstAt >= 0) {
      return;
    }
    request.realFirstAt = now;
    realComputed(request);
    if (request.streamed) {
      line.add(request.realAhead, (double) (now - request.sentAt));
    }
  }

  /** The real request is over. */
  public void ended(long now, long key, Outcome outcome, Usage usage) {
    advance(now);
    Tracked request = tracked.remove(key);
    if (request == null) {
      return;
    }
    realComputed(request);
    real.over(request.realRoute.endpoint());
    long began = request.streamed && request.realFirstAt >= 0 ? request.realFirstAt : now;
    boolean whole = outcome == Outcome.COMPLETED;
    long at = whole ? Math.max(now, request.ownFirstAt + (now - began)) : now;
    // What was cached there says nothing of another endpoint; a failure was not this one's.
    Usage told =
        request.isSameChoice()
            ? usage
            : new Usage(usage.promptTokens(), usage.completionTokens(), -1, usage.streamedEvents());
    due.add(new End(at, order++, request, whole ? Outcome.COMPLETED : Outcome.DISCONNECTED, told));
    advance(now);
  }

  /** Nobody will tell what becomes of the real request: both go by the core's estimate. */
  public void left(long now, long key) {
    advance(now);
    Tracked request = tracked.get(key);
    if (request != null) {
      request.left = true;
      core.left(now, request.ticket, ticket -> presumeOver(key, request));
    }
  }

  private void presumeOver(long key, Tracked request) {
    tracked.remove(key);
    realComputed(request);
    real.over(request.realRoute.endpoint());
    ownOver(request);
  }

  /** How it has done. */
  public ShadowSnapshot snapshot() {
    return new ShadowSnapshot(
        requests, agreed, notPlaced, core.active(), promptTokens, own.choices(), real.choices());
  }

  private void realComputed(Tracked request) {
    if (!request.realComputed) {
      request.realComputed = true;
      real.computed(request.realRoute.endpoint(), request.realUncached);
    }
  }

  /** What is imagined to have happened by now. */
  private void advance(long now) {
    for (Due next = due.peek(); next != null && next.at() <= now; next = due.peek()) {
      due.remove();
      happen(next);
    }
  }

  private void happen(Due what) {
    Tracked request = what.request();
    if (request.over) {
      return;
    }
    switch (what) {
      case FirstToken first -> {
        ownComputed(request);
        if (!request.left) {
          core.firstByte(first.at(), request.ticket);
        }
      }
      case End end -> {
        ownOver(request);
        core.ended(end.at(), request.ticket, end.outcome(), end.usage());
      }
    }
  }

  private void ownOver(Tracked request) {
    if (!request.over) {
      request.over = true;
      ownComputed(request);
      own.over(Objects.requireNonNull(request.ownRoute).endpoint());
    }
  }

  private void ownComputed(Tracked request) {
    if (!request.ownComputed) {
      request.ownComputed = true;
      own.computed(Objects.requireNonNull(request.ownRoute).endpoint(), request.ownUncached);
    }
  }

  /** Real requests that are not over, as far as it was told. */
  public int open() {
    return tracked.size();
  }
}
