package io.fairlead.core.shadow;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.Learned;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.RealCaches;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.core.external.Advice;
import io.fairlead.core.external.EndpointLoad;
import io.fairlead.core.external.RequestBrief;
import io.fairlead.core.handover.News;
import io.fairlead.core.scheduling.CompiledConfig;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A scheduling that decides, without effect, what the real one has decided, so that the two can be
 * compared. It is told of every request when that is sent for the first time. It has a core of its
 * own, so its index and its accounts follow from its own choices.
 *
 * <p>A request goes on in it as one would expect: its first token comes when the tokens before it
 * are computed, by the pace of the real ones, and the rest takes as long as it really did. A shadow
 * knows an endpoint's health by scrapes, and by what the endpoint says of requests that both
 * schedulings sent there; whatever else becomes of a request is the real choice's doing.
 *
 * <p>A scheduling that would bring a server down leaves more and more to imagine, so there is a
 * bound: requests that would not get a first token for long, or that come while too many go on in
 * imagination alone, are left out and counted.
 *
 * <p>Not thread-safe. As with the core, events carry the time, which never goes back.
 */
public final class Shadow {

  private static final Comparator<Due> SOONEST =
      Comparator.comparingLong(Due::at).thenComparingLong(Due::order);

  /** An endpoint with so much before it has come to a standstill. */
  private static final long MOST_AHEAD = 30_000_000_000L;

  /** Requests that are over and go on in imagination. */
  private static final int MOST_LAGGING = 8_192;

  private final PoolCore core;
  private final FirstTokenLine streamedLine = new FirstTokenLine();

  /** Of answers in one piece: nothing is seen of them before their end. */
  private final FirstTokenLine wholeLine = new FirstTokenLine();

  private final Ledger own = new Ledger();

  /**
   * The real choices, served as the own ones are imagined to be, and with what is known of caches
   * from the same requests: what these are compared with.
   */
  private final Ledger control = new Ledger();

  /** The real choices, served as they were: where the pace comes from. */
  private final Ledger measured = new Ledger();

  private final Map<Long, Tracked> tracked = new HashMap<>();
  private final PriorityQueue<Due> due = new PriorityQueue<>(SOONEST);
  private long order;
  private int endpoints;
  private long requests;
  private long agreed;
  private long notPlaced;
  private long promptTokens;
  private long leftOut;
  private int lagging;

  /** Something imagined that is going to happen to a request. */
  private sealed interface Due {
    long at();

    /** What was planned first happens first. */
    long order();

    Tracked request();

    Imagined side();
  }

  private record FirstToken(long at, long order, Tracked request, Imagined side) implements Due {}

  private record End(
      long at, long order, Tracked request, Imagined side, Outcome outcome, Usage usage)
      implements Due {}

  /** A request where one of the two chose, as it is imagined to go there. */
  private static final class Imagined {
    private final Ledger ledger;
    private final String endpoint;
    private final long uncached;
    private final long cached;
    private final double expectedNanos;
    private final long firstAt;
    private boolean computed;
    private boolean over;

    Imagined(
        Ledger ledger, long now, String endpoint, int prompt, int cached, FirstTokenLine line) {
      this.ledger = ledger;
      this.endpoint = endpoint;
      this.cached = cached;
      uncached = uncached(prompt, cached);
      expectedNanos = line.nanos((double) ledger.ahead(endpoint) + uncached);
      firstAt = now + Math.round(expectedNanos);
    }

    void sent() {
      ledger.sent(endpoint, uncached, cached, expectedNanos);
    }

    void computed() {
      if (!computed) {
        computed = true;
        ledger.computed(endpoint, uncached);
      }
    }

    void over() {
      if (!over) {
        over = true;
        computed();
        ledger.over(endpoint);
      }
    }
  }

  /** A request that is under way in one of the accounts. */
  private static final class Tracked implements RequestListener {
    private final long sentAt;
    private final String endpoint;
    private final long uncached;
    private final double ahead;
    private final boolean streamed;
    private @Nullable Route ownRoute;
    private long ticket;
    private @Nullable Imagined own;
    private @Nullable Imagined control;

    /** What it leaves in caches where it really is. */
    private RealCaches.@Nullable Sent really;

    /** When the first token was really there; -1 before. */
    private long firstAt = -1;

    private boolean computed;

    /** Of the two that are imagined, those that go on though the real one is over. */
    private int lagging;

    /** Nobody tells of the answer. */
    private boolean left;

    Tracked(long sentAt, RequestFacts facts, Route route, Ledger measured) {
      this.sentAt = sentAt;
      endpoint = route.endpoint();
      streamed = facts.delivery().streamed();
      uncached = uncached(route.promptTokens(), route.expectedCachedTokens());
      ahead = (double) measured.ahead(endpoint) + uncached;
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
      return ownRoute != null && ownRoute.endpoint().equals(endpoint);
    }
  }

  /** A shadow without config and endpoints. */
  public Shadow(PoolLimits limits) {
    core = PoolCore.ofAdmitted(limits);
  }

  /** Applies a config of whose plugins nothing is known. */
  public void configure(long now, CompiledConfig config, boolean otherChoices) {
    configure(now, config, otherChoices, List.of());
  }

  /**
   * Applies a config.
   *
   * @param otherChoices whether from here on others are made, or they are compared with others:
   *     what was counted before is of no use then, what is known of prompts and speeds is
   * @param learned what plugins that are new begin with, see {@link PoolCore#configure(long,
   *     CompiledConfig, List)}
   */
  public void configure(
      long now, CompiledConfig config, boolean otherChoices, List<Learned> learned) {
    advance(now);
    var _ = core.configure(now, config, learned);
    if (otherChoices) {
      requests = 0;
      agreed = 0;
      notPlaced = 0;
      promptTokens = 0;
      leftOut = 0;
      own.countAnew();
      control.countAnew();
    }
  }

  /** See {@link PoolCore#learned}: of the service that is imagined. */
  public List<Learned> learned(long now) {
    return core.learned(now);
  }

  /** Sets which endpoints there are. */
  public void endpoints(long now, List<EndpointSpec> all) {
    advance(now);
    endpoints = all.size();
    core.endpoints(now, all);
  }

  /** See {@link PoolCore#tells}. */
  public void tells(long picker) {
    core.tells(picker);
  }

  /** See {@link PoolCore#silent}. */
  public void silent(long now, long picker) {
    advance(now);
    core.silent(now, picker);
  }

  /** Another picker tells: its requests are where they are for this one, too. */
  public void heard(long now, long picker, News news) {
    advance(now);
    core.heard(now, picker, news);
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
        core.isServed(now, request.ticket);
      }
    }
    core.tick(now);
    own.look(endpoints);
    control.look(endpoints);
  }

  /**
   * A request was sent: decides on it, too.
   *
   * @param key of the request, never used before
   * @param facts as the real scheduling got them; not changed here
   * @param route where it was sent
   */
  public void sent(long now, long key, RequestFacts facts, Route route) {
    var _ = sent(now, now, key, facts, null, route);
  }

  /**
   * Decides on a request that was sent, after asking an external scheduler.
   *
   * @param sentAt when it was sent
   * @param advice where that scheduler wants it; null where it has not said
   * @return where it chose to send it; null for nowhere
   */
  public @Nullable String sent(
      long now, long sentAt, long key, RequestFacts facts, @Nullable Advice advice, Route route) {
    advance(now);
    if (lagging >= MOST_LAGGING) {
      leftOut++;
      return null;
    }
    Tracked request = new Tracked(sentAt, facts, route, measured);
    core.arrive(now, facts, advice, request);
    Route chosen = request.ownRoute;
    if (chosen == null) {
      requests++;
      notPlaced++;
      return null;
    }
    FirstTokenLine line = line(request);
    RealCaches.Sent really = core.real().sent(now, facts, route);
    int prompt = chosen.promptTokens();
    Imagined ownSide =
        new Imagined(own, now, chosen.endpoint(), prompt, chosen.expectedCachedTokens(), line);
    Imagined realSide =
        new Imagined(control, now, route.endpoint(), prompt, really.cachedTokens(), line);
    if (Math.max(ownSide.firstAt, realSide.firstAt) - now > MOST_AHEAD) {
      leftOut++;
      core.real().withdraw(really);
      core.endedUnjudged(now, request.ticket, Usage.UNKNOWN);
      return null;
    }
    requests++;
    if (request.isSameChoice()) {
      agreed++;
    }
    promptTokens += prompt;
    measured.sent(request.endpoint, request.uncached, 0, 0);
    request.really = really;
    request.own = ownSide;
    request.control = realSide;
    imagine(request, ownSide);
    imagine(request, realSide);
    tracked.put(key, request);
    return chosen.endpoint();
  }

  /** See {@link PoolCore#brief}. */
  public @Nullable RequestBrief brief(long now, RequestFacts facts) {
    return core.brief(now, facts);
  }

  /** See {@link PoolCore#loads}. */
  public long loads(long since, Consumer<EndpointLoad> to) {
    return core.loads(since, to);
  }

  /** See {@link PoolCore#load}. */
  public @Nullable EndpointLoad load(String name) {
    return core.load(name);
  }

  private void imagine(Tracked request, Imagined side) {
    side.sent();
    due.add(new FirstToken(side.firstAt, order++, request, side));
  }

  private FirstTokenLine line(Tracked request) {
    return request.streamed ? streamedLine : wholeLine;
  }

  private static long uncached(int prompt, int cached) {
    return Math.max(0, prompt - cached);
  }

  /**
   * The first token of the real answer came, or all of one that is not streamed.
   *
   * @param now when it came; may be before what was told last
   */
  public void firstByte(long now, long key) {
    advance(now);
    Tracked request = tracked.get(key);
    if (request == null || request.firstAt >= 0) {
      return;
    }
    request.firstAt = now;
    computed(request);
    line(request).add(request.ahead, (double) (now - request.sentAt));
  }

  /** The real request is over. */
  public void ended(long now, long key, Outcome outcome, Usage usage) {
    advance(now);
    Tracked request = tracked.remove(key);
    if (request == null) {
      return;
    }
    computed(request);
    measured.over(request.endpoint);
    // What was cached there says nothing of another endpoint; a failure was not this one's.
    Usage told =
        request.isSameChoice()
            ? usage
            : new Usage(usage.promptTokens(), usage.completionTokens(), -1, usage.streamedEvents());
    lagging++;
    request.lagging = 2;
    end(now, request, Objects.requireNonNull(request.own), outcome, told);
    end(now, request, Objects.requireNonNull(request.control), outcome, told);
    advance(now);
  }

  /** An answer that was given in full takes as long as it did from its first token on. */
  private void end(long now, Tracked request, Imagined side, Outcome outcome, Usage usage) {
    boolean whole = outcome == Outcome.COMPLETED;
    long began = request.streamed && request.firstAt >= 0 ? request.firstAt : now;
    long at = whole ? Math.max(now, side.firstAt + (now - began)) : now;
    due.add(new End(at, order++, request, side, outcome, usage));
  }

  /** Nobody will tell what becomes of the real request: both go by the core's estimate. */
  public void left(long now, long key) {
    advance(now);
    Tracked request = tracked.get(key);
    if (request != null) {
      request.left = true;
      if (!core.left(now, request.ticket, ticket -> presumeOver(key, request))) {
        presumeOver(key, request);
      }
    }
  }

  private void presumeOver(long key, Tracked request) {
    if (tracked.remove(key) != null) {
      computed(request);
      measured.over(request.endpoint);
    }
    lagging -= request.lagging > 0 ? 1 : 0;
    request.lagging = 0;
    Objects.requireNonNull(request.own).over();
    Objects.requireNonNull(request.control).over();
  }

  /** How it has done. */
  public ShadowSnapshot snapshot() {
    return new ShadowSnapshot(
        requests,
        agreed,
        notPlaced,
        leftOut,
        core.active(),
        promptTokens,
        own.choices(),
        control.choices());
  }

  private void computed(Tracked request) {
    if (!request.computed) {
      request.computed = true;
      measured.computed(request.endpoint, request.uncached);
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
    Imagined side = what.side();
    if (side.over) {
      return;
    }
    boolean isOwn = side == request.own;
    switch (what) {
      case FirstToken first -> {
        side.computed();
        if (!isOwn) {
          core.real().computed(really(request));
        } else if (!request.left) {
          core.firstByte(first.at(), request.ticket);
        }
      }
      case End end -> {
        if (!isOwn) {
          endReal(end);
        }
        side.over();
        if (--request.lagging == 0) {
          lagging--;
        }
        if (isOwn) {
          endOwn(end);
        }
      }
    }
  }

  /** What is imagined to happen later. */
  int planned() {
    return due.size();
  }

  private static RealCaches.Sent really(Tracked request) {
    return Objects.requireNonNull(request.really);
  }

  /** An engine frees a request's blocks when it ends: that is when they were last used. */
  private void endReal(End end) {
    RealCaches.Sent really = really(end.request());
    if (end.outcome() == Outcome.COMPLETED || end.side().computed) {
      core.real().computed(really);
    } else {
      core.real().withdraw(really);
    }
  }

  /** What was said of the request where it really was is true of the endpoint that said it. */
  private void endOwn(End end) {
    Tracked request = end.request();
    boolean said = end.outcome() == Outcome.REFUSED || end.outcome() == Outcome.INVALID;
    if (end.outcome() == Outcome.COMPLETED || (said && request.isSameChoice())) {
      core.ended(end.at(), request.ticket, end.outcome(), end.usage());
    } else {
      core.endedUnjudged(end.at(), request.ticket, end.usage());
    }
  }

  /** Real requests that are not over, as far as it was told. */
  public int open() {
    return tracked.size();
  }
}
