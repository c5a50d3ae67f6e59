package io.fairlead.epp.external;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.external.Advice;
import io.fairlead.core.external.EndpointLoad;
import io.fairlead.core.external.RequestBrief;
import io.fairlead.core.scheduling.ExternalScheduler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.epp.external.ExternalCounts.Result;
import io.fairlead.scheduler.v1.Decision;
import io.fairlead.scheduler.v1.PickerHello;
import io.fairlead.scheduler.v1.PickerMessage;
import io.fairlead.scheduler.v1.PrefixMatch;
import io.fairlead.scheduler.v1.Request;
import io.fairlead.scheduler.v1.SchedulerMessage;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks one scheduler about one pool's requests. Every request that is asked about is told exactly
 * once where to go, within the timeout: by the scheduler, or by nobody, and then the config's own
 * plugins decide.
 *
 * <p>On the pool's loop, except {@link #problem}.
 */
public final class ExternalScheduling implements AutoCloseable, SchedulerLine.Listener {

  private static final Logger LOG = LoggerFactory.getLogger(ExternalScheduling.class);

  /** The version of the protocol that is spoken. */
  private static final int VERSION = 1;

  /** Requests that wait for an answer at most: some tenths of a second of them. */
  static final int MOST_ASKED = 4_096;

  /** Requests that wait for room and are asked about again, at each look. */
  private static final int MOST_AGAIN = 256;

  /** A scheduler that has nothing to say for so long, though it is asked, gets another stream. */
  static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final String OFTEN_LATE =
      "it has been late " + CircuitBreaker.LATE + " times in a row";

  private static final long RETRY_NANOS = 1_000_000;

  private final ExternalScheduler settings;
  private final String pool;
  private final PoolView view;
  private final EventExecutor loop;
  private final LongSupplier clock;
  private final SchedulerLine line;
  private final ExternalCounts counts;
  private final long timeout;

  private final CircuitBreaker breaker = new CircuitBreaker();
  private final NumberedEndpoints numbers = new NumberedEndpoints();

  /** Those that wait for an answer, by number; the oldest first. */
  private final Map<Long, Asked> asked = new LinkedHashMap<>();

  /** Requests that wait for room, by ticket. */
  private final Map<Long, Waiting> waiting = new HashMap<>();

  private PickerMessage.Builder batch = PickerMessage.newBuilder();
  private boolean flushing;
  private boolean expiring;
  private boolean closed;

  /** Whether the scheduler has said hello in this stream. */
  private boolean greeted;

  private boolean endpointsChanged = true;
  private Set<String> scraped = new HashSet<>();
  private long seen;

  /** When the stream was opened, or something came in it. */
  private long heardAt;

  private long last;

  private volatile @Nullable String problem = "it has not been reached yet";

  /** A request that the scheduler is asked about. */
  public final class Asked {
    private final long number;
    private final long since;
    private final Criticality criticality;

    /** Null for who doesn't wait for the answer. */
    private final @Nullable Consumer<@Nullable Advice> told;

    private Asked(
        long number,
        long since,
        Criticality criticality,
        @Nullable Consumer<@Nullable Advice> told) {
      this.number = number;
      this.since = since;
      this.criticality = criticality;
      this.told = told;
    }

    /** How it fares when the pool is short of capacity. */
    public Criticality criticality() {
      return criticality;
    }

    /** Nobody waits for the answer any more. */
    public void withdraw() {
      if (asked.remove(number) != null) {
        counts.count(Result.WITHDRAWN);
      }
    }
  }

  private static final class Waiting {
    private final RequestFacts facts;
    private long toldAt;

    private Waiting(RequestFacts facts, long toldAt) {
      this.facts = facts;
      this.toldAt = toldAt;
    }
  }

  /**
   * Begins to ask.
   *
   * @param pool namespace and name
   * @param clock monotonic nanoseconds
   * @param counts kept from one config to the next
   */
  public ExternalScheduling(
      ExternalScheduler settings,
      String pool,
      PoolView view,
      EventExecutor loop,
      LongSupplier clock,
      ExternalCounts counts) {
    this(settings, pool, view, loop, clock, counts, new GrpcSchedulerLine(settings, loop));
  }

  ExternalScheduling(
      ExternalScheduler settings,
      String pool,
      PoolView view,
      EventExecutor loop,
      LongSupplier clock,
      ExternalCounts counts,
      SchedulerLine line) {
    this.settings = settings;
    this.pool = pool;
    this.view = view;
    this.loop = loop;
    this.clock = clock;
    this.counts = counts;
    this.line = line;
    timeout = settings.timeout().toNanos();
    line.start(this);
  }

  /** How it is asked. */
  public ExternalScheduler settings() {
    return settings;
  }

  /** Why requests don't wait for it; null while they do. Any thread. */
  public @Nullable String problem() {
    return problem;
  }

  /** Requests that wait for an answer. */
  public int asked() {
    return asked.size();
  }

  /**
   * Asks where a request should go.
   *
   * @param told once, perhaps before this returns; null leaves it to the config's plugins
   * @return null if it has been told
   */
  public @Nullable Asked ask(RequestFacts facts, Consumer<@Nullable Advice> told) {
    long now = clock.getAsLong();
    Result not = whyNot();
    if (not != null) {
      if (greeted && asked.size() < MOST_ASKED && breaker.tries(now)) {
        add(now, facts, null);
      }
      counts.count(not);
      told.accept(null);
      return null;
    }
    Asked added = add(now, facts, told);
    if (added == null) {
      told.accept(null);
    }
    return added;
  }

  private @Nullable Result whyNot() {
    if (closed || !greeted || breaker.open()) {
      return Result.UNAVAILABLE;
    }
    return asked.size() >= MOST_ASKED ? Result.OVERFLOW : null;
  }

  /** Null without a config, which rejects the request anyway. */
  private @Nullable Asked add(
      long now, RequestFacts facts, @Nullable Consumer<@Nullable Advice> told) {
    RequestBrief brief = view.brief(now, facts);
    if (brief == null) {
      return null;
    }
    Asked added = new Asked(++last, now, brief.criticality(), told);
    asked.put(added.number, added);
    batch.addRequests(request(added.number, facts, brief));
    if (batch.getRequestsCount() >= settings.batchRequests()) {
      flush();
    } else {
      flushIn(settings.batchDelay().toNanos());
    }
    expireIn(timeout);
    return added;
  }

  private Request.Builder request(long number, RequestFacts facts, RequestBrief brief) {
    Request.Builder to =
        Request.newBuilder()
            .setId(number)
            .setModel(facts.model())
            .setTargetModel(brief.targetModel())
            .setPromptTokens(brief.promptTokens())
            .setMaxOutputTokens(Math.max(0, facts.maxOutputTokens()))
            .setPriority(brief.priority())
            .setStreamed(facts.delivery().streamed());
    if (settings.prefixMatches()) {
      for (int i = 0; i < brief.holders().length; i++) {
        int endpoint = numbers.number(brief.holders()[i]);
        if (endpoint > 0) {
          to.addPrefixMatches(
              PrefixMatch.newBuilder()
                  .setEndpoint(endpoint)
                  .setCachedTokens(brief.cachedTokens()[i]));
        }
      }
    }
    for (String name : settings.headers()) {
      String value = facts.headers().first(name);
      if (value != null) {
        to.putHeaders(name, value);
      }
    }
    return to;
  }

  private void flushIn(long nanos) {
    if (!flushing) {
      flushing = true;
      var _ =
          loop.schedule(
              () -> {
                flushing = false;
                flush();
              },
              nanos,
              TimeUnit.NANOSECONDS);
    }
  }

  /** Sends what has come together, after what has changed since. */
  private void flush() {
    if (!greeted || closed) {
      return;
    }
    if (!line.isReady()) {
      flushIn(RETRY_NANOS);
      return;
    }
    if (endpointsChanged) {
      List<EndpointLoad> all = new ArrayList<>();
      seen = view.loads(0, all::add);
      numbers.replace(all, batch);
      endpointsChanged = false;
      if (settings.state()) {
        all.forEach(load -> numbers.state(load, batch));
      }
    } else if (settings.state()) {
      Map<String, EndpointLoad> changed = new LinkedHashMap<>();
      seen = view.loads(seen, load -> changed.put(load.spec().name(), load));
      for (String name : scraped) {
        EndpointLoad load = view.load(name);
        if (load != null) {
          changed.put(name, load);
        }
      }
      changed.values().forEach(load -> numbers.state(load, batch));
    }
    scraped.clear();
    PickerMessage message = batch.build();
    batch = PickerMessage.newBuilder();
    if (message.getSerializedSize() > 0) {
      line.send(message);
    }
  }

  private void expireIn(long nanos) {
    if (!expiring) {
      expiring = true;
      var _ =
          loop.schedule(
              () -> {
                expiring = false;
                expire();
              },
              nanos,
              TimeUnit.NANOSECONDS);
    }
  }

  private void expire() {
    long now = clock.getAsLong();
    List<Asked> late = new ArrayList<>();
    Iterator<Asked> oldest = asked.values().iterator();
    while (oldest.hasNext()) {
      Asked one = oldest.next();
      if (now - one.since < timeout) {
        expireIn(timeout - (now - one.since));
        break;
      }
      oldest.remove();
      late.add(one);
    }
    for (Asked one : late) {
      if (breaker.late(now)) {
        problem = OFTEN_LATE;
        LOG.warn("external scheduler {}: {}; requests don't wait for it", address(), problem);
      }
      tell(one, Result.LATE, null);
    }
  }

  private void tell(Asked one, Result result, @Nullable Advice advice) {
    if (one.told != null) {
      if (advice == null) {
        counts.count(result);
      }
      one.told.accept(advice);
    }
  }

  /** A request was sent for the first time that it has named endpoints for. */
  public void sent(Advice advice, String endpoint) {
    boolean named = !Double.isNaN(advice.score(Advice.identity(endpoint)));
    counts.count(named ? Result.FOLLOWED : Result.OVERRULED);
  }

  /** A request waits for room: what was said of it is out of date in a while. */
  public void waits(long ticket, RequestFacts facts) {
    waiting.put(ticket, new Waiting(facts, clock.getAsLong()));
  }

  /** It doesn't wait any more. */
  public void waitsNoMore(long ticket) {
    waiting.remove(ticket);
  }

  /** Time has moved on: asks again about those that wait for long. */
  public void tick(long now) {
    if ((!greeted || breaker.open()) && now - heardAt >= SILENCE_NANOS) {
      heardAt = now;
      line.reset("nothing has come from it for 10 s");
    }
    int again = 0;
    for (Map.Entry<Long, Waiting> entry : List.copyOf(waiting.entrySet())) {
      Waiting one = entry.getValue();
      if (again < MOST_AGAIN && now - one.toldAt >= settings.refresh().toNanos()) {
        one.toldAt = now;
        again++;
        long ticket = entry.getKey();
        var _ =
            ask(
                one.facts,
                advice -> {
                  if (waiting.containsKey(ticket)) {
                    view.advised(ticket, advice);
                  }
                });
      }
    }
    if (greeted && (endpointsChanged || !scraped.isEmpty())) {
      flushIn(0);
    }
  }

  /** Other endpoints are in force. */
  public void endpointsChanged() {
    endpointsChanged = true;
  }

  /** An endpoint was scraped. */
  public void scraped(EndpointSpec endpoint) {
    if (greeted && settings.state()) {
      scraped.add(endpoint.name());
    }
  }

  @Override
  public void opened() {
    greeted = false;
    heardAt = clock.getAsLong();
    endpointsChanged = true;
    batch = PickerMessage.newBuilder();
    numbers.clear();
    line.send(
        PickerMessage.newBuilder()
            .setHello(
                PickerHello.newBuilder()
                    .setVersion(VERSION)
                    .setPool(pool)
                    .setTimeoutMicros((int) (timeout / 1_000)))
            .build());
  }

  @Override
  public void came(SchedulerMessage message) {
    heardAt = clock.getAsLong();
    if (!greeted) {
      greet(message);
      if (!greeted) {
        return;
      }
    }
    long now = clock.getAsLong();
    for (Decision decision : message.getDecisionsList()) {
      decided(now, decision);
    }
  }

  private void greet(SchedulerMessage message) {
    int version = message.getHello().getVersion();
    if (!message.hasHello() || version != VERSION) {
      line.reset(
          message.hasHello()
              ? "it speaks version " + version + " of the protocol, and not " + VERSION
              : "its first message has no hello");
      return;
    }
    greeted = true;
    problem = breaker.open() ? OFTEN_LATE : null;
    LOG.info("external scheduler {} answers: {}", address(), message.getHello().getName());
    flush();
  }

  private void decided(long now, Decision decision) {
    Asked one = asked.remove(decision.getRequest());
    if (one == null) {
      counts.count(Result.UNEXPECTED);
      return;
    }
    boolean inTime = now - one.since < timeout;
    if (inTime) {
      counts.answered(now - one.since);
      boolean wasOpen = breaker.open();
      breaker.inTime();
      if (wasOpen && !breaker.open()) {
        problem = null;
        LOG.info("external scheduler {} is in time again", address());
      }
    } else {
      var _ = breaker.late(now);
    }
    if (decision.getEndpointsCount() == 0) {
      tell(one, Result.LEFT, null);
    } else {
      tell(one, Result.INVALID, advice(decision));
    }
  }

  /** Null where it isn't one that can be followed. */
  private @Nullable Advice advice(Decision decision) {
    int count = decision.getEndpointsCount();
    int given = decision.getScoresCount();
    if (given != 0 && given != count) {
      return null;
    }
    long[] endpoints = new long[count];
    double[] scores = new double[count];
    for (int i = 0; i < count; i++) {
      Long identity = numbers.identity(decision.getEndpoints(i));
      scores[i] = given == 0 ? count - i : decision.getScores(i);
      if (identity == null || !Double.isFinite(scores[i])) {
        return null;
      }
      endpoints[i] = identity;
    }
    return new Advice(endpoints, scores);
  }

  @Override
  public void broken(String why) {
    if (!why.equals(problem)) {
      LOG.warn("external scheduler {} is not there: {}", address(), why);
    }
    problem = why;
    tellAll();
  }

  /** Who waits for an answer gets none. */
  private void tellAll() {
    greeted = false;
    batch = PickerMessage.newBuilder();
    List<Asked> all = List.copyOf(asked.values());
    asked.clear();
    all.forEach(one -> tell(one, Result.UNAVAILABLE, null));
  }

  private String address() {
    return settings.address();
  }

  @Override
  public void close() {
    closed = true;
    line.close();
    waiting.clear();
    tellAll();
  }
}
