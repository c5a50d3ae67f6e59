package io.fairlead.epp.external;

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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks one external scheduler about one pool's requests. Each time that a request is asked about
 * there is exactly one {@link Word}, within the timeout: with the scheduler's advice, or without,
 * and then the config's own plugins decide.
 *
 * <p>Runs on one loop, except {@link #report} and {@link #hangUp}.
 */
public final class ExternalScheduling implements AutoCloseable, SchedulerLine.Listener {

  private static final Logger LOG = LoggerFactory.getLogger(ExternalScheduling.class);

  /** The version of the protocol that is spoken. */
  public static final int VERSION = 1;

  /** Requests that wait for an answer at most: some tenths of a second of them. */
  static final int MOST_ASKED = 4_096;

  /** Answers of one message at most; there can't be more that somebody waits for. */
  static final int MOST_DECISIONS = 2 * MOST_ASKED;

  /** Endpoints that an answer may name beyond those there are: they have gone meanwhile. */
  private static final int MOST_GONE = 1_024;

  /** Requests that wait for room and are asked about again, at each look. */
  private static final int MOST_AGAIN = 256;

  /** Of those, in one turn of the loop: others' requests go in between. */
  static final int MOST_AGAIN_AT_ONCE = 16;

  /**
   * A scheduler that has nothing to say for so long, though it is asked, gets another stream; so
   * does one that takes nothing of what it is to be told.
   */
  static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final String OFTEN_LATE = "it is late more often than not";
  private static final String NO_SENSE =
      "more often than not its answers are late or make no sense";

  /** Line ends, and whatever else would not be seen as it is. */
  private static final Pattern NOT_PLAIN = Pattern.compile("[\\p{C}\\p{Zl}\\p{Zp}]");

  /** Characters of what it says of itself that people read. */
  private static final int LONGEST_TEXT = 300;

  private final ExternalScheduler settings;
  private final String pool;
  private final @Nullable String shadow;
  private final PoolView view;
  private final SchedulerLoop loop;
  private final LongSupplier clock;
  private final SchedulerLine line;
  private final ExternalCounts counts;
  private final long timeout;

  private final CircuitBreaker breaker = new CircuitBreaker();
  private final NumberedEndpoints numbers = new NumberedEndpoints();

  /** Those that wait for an answer, by number; the oldest first. */
  private final SequencedMap<Long, Asked> asked = new LinkedHashMap<>();

  /** Those of them that were not sent yet, and some that don't wait any more. */
  private final List<Asked> batch = new ArrayList<>();

  /** Requests that wait for room, by ticket; who was asked about last is last. */
  private final SequencedMap<Long, Waiting> waiting = new LinkedHashMap<>();

  /** Requests of this stream that nobody waits for any more, and that may still be answered. */
  private int overdue;

  /** Requests up to this number were asked about before this stream. */
  private long lastBefore;

  private boolean flushing;
  private boolean expiring;

  /** Whether it is under way to ask about those that wait for room. */
  private boolean asksAgain;

  private boolean closed;

  /** Whether the scheduler has said hello in this stream. */
  private boolean greeted;

  private boolean endpointsChanged = true;
  private final Set<String> changed = new HashSet<>();
  private long seen;

  /** Whether something was sent that is to be answered, and nothing has come since. */
  private boolean owes;

  private long owesSince;

  /** Whether there is something to send that the stream does not take. */
  private boolean stuck;

  private long stuckSince;
  private long last;

  private volatile @Nullable String problem = "it has not been reached yet";

  /** A request that the scheduler is asked about. */
  public final class Asked {
    private final long number;
    private final long since;
    private final RequestFacts facts;
    private final RequestBrief brief;

    /** Null for who doesn't wait for the answer. */
    private final @Nullable Consumer<Word> told;

    private Asked(
        long number,
        long since,
        RequestFacts facts,
        RequestBrief brief,
        @Nullable Consumer<Word> told) {
      this.number = number;
      this.since = since;
      this.facts = facts;
      this.brief = brief;
      this.told = told;
    }

    /** How it fares when the pool is short of capacity. */
    public Criticality criticality() {
      return brief.criticality();
    }

    /** Nobody waits for the answer any more. */
    public void withdraw() {
      if (asked.remove(number) != null) {
        passOver();
        counts.count(Result.WITHDRAWN);
      }
    }

    private boolean isOver() {
      return !asked.containsKey(number);
    }
  }

  /** A request that waits for room, and what was last said of it. */
  private static final class Waiting {
    private final RequestFacts facts;
    private final Consumer<Word> newest;
    private long askedAt;
    private boolean hasAdvice;

    private Waiting(RequestFacts facts, Word said, long askedAt, Consumer<Word> newest) {
      this.facts = facts;
      this.hasAdvice = said.advice() != null;
      this.askedAt = askedAt;
      this.newest = newest;
    }

    private void tell(Word word) {
      hasAdvice = word.advice() != null;
      newest.accept(word);
    }
  }

  /**
   * Begins to ask.
   *
   * @param pool namespace and name
   * @param shadow which shadow of the pool asks; null for what is in force
   * @param loop where everything else is called, and what is told is told
   * @param clock monotonic nanoseconds
   * @param counts kept from one config to the next
   */
  public ExternalScheduling(
      ExternalScheduler settings,
      String pool,
      @Nullable String shadow,
      PoolView view,
      SchedulerLoop loop,
      LongSupplier clock,
      ExternalCounts counts) {
    this(settings, pool, shadow, view, loop, clock, counts, new GrpcSchedulerLine(settings, loop));
  }

  ExternalScheduling(
      ExternalScheduler settings,
      String pool,
      @Nullable String shadow,
      PoolView view,
      SchedulerLoop loop,
      LongSupplier clock,
      ExternalCounts counts,
      SchedulerLine line) {
    this.settings = settings;
    this.pool = pool;
    this.shadow = shadow;
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

  /** How it does. Any thread. */
  public ExternalReport report() {
    String now = problem;
    return new ExternalReport(shadow, counts, now, OFTEN_LATE.equals(now));
  }

  /** Requests that wait for an answer. */
  public int asked() {
    return asked.size();
  }

  /**
   * Asks where a request should go.
   *
   * @param told once, perhaps before this returns
   * @return null if it has been told
   */
  public @Nullable Asked ask(RequestFacts facts, Consumer<Word> told) {
    long now = clock.getAsLong();
    Result not = whyNot();
    if (not != null) {
      if (greeted && asked.size() < MOST_ASKED && breaker.tries(now)) {
        add(now, facts, null);
      }
      told.accept(Word.none(counts, not));
      return null;
    }
    Asked added = add(now, facts, told);
    if (added == null) {
      told.accept(Word.none(counts, Result.UNAVAILABLE));
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
  private @Nullable Asked add(long now, RequestFacts facts, @Nullable Consumer<Word> told) {
    RequestBrief brief = view.brief(now, facts);
    if (brief == null) {
      return null;
    }
    Asked added = new Asked(++last, now, facts, brief, told);
    asked.put(added.number, added);
    if (batch.size() >= MOST_ASKED) {
      batch.removeIf(Asked::isOver); // the stream has not taken any for long
    }
    batch.add(added);
    if (batch.size() >= settings.batchRequests() || nothingIsUnderWay()) {
      flush();
    } else {
      flushIn(settings.batchDelay().toNanos());
    }
    expireIn(timeout);
    return added;
  }

  /**
   * Whether the scheduler has answered all that it was sent. Then a batch has nothing to gain by
   * waiting; while it answers, the next batch grows at the pace at which it can answer.
   */
  private boolean nothingIsUnderWay() {
    return asked.size() <= batch.size();
  }

  /** With the numbers that endpoints have when it is sent. */
  private Request request(Asked one) {
    RequestFacts facts = one.facts;
    RequestBrief brief = one.brief;
    Request.Builder to =
        Request.newBuilder()
            .setId(one.number)
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
    for (long allowed : brief.allowed()) {
      int endpoint = numbers.number(allowed);
      if (endpoint > 0) {
        to.addAllowed(endpoint);
      }
    }
    return to.build();
  }

  private void flushIn(long nanos) {
    if (!flushing) {
      flushing = true;
      loop.schedule(
          () -> {
            flushing = false;
            flush();
          },
          nanos);
    }
  }

  /** Sends what has come together, after what has changed since. */
  private void flush() {
    if (!greeted || closed) {
      return;
    }
    if (!line.isReady()) { // when it is, this is called again
      if (!stuck) {
        stuck = true;
        stuckSince = clock.getAsLong();
      }
      return;
    }
    stuck = false;
    OutgoingMessages to = new OutgoingMessages(settings.batchRequests(), line::send);
    if (endpointsChanged) {
      List<EndpointLoad> all = new ArrayList<>();
      seen = view.loads(0, all::add);
      numbers.replace(all, to);
      endpointsChanged = false;
      if (settings.state()) {
        all.forEach(load -> numbers.state(load, to));
      }
    } else if (settings.state()) {
      Map<String, EndpointLoad> states = new LinkedHashMap<>();
      seen = view.loads(seen, load -> states.put(load.spec().name(), load));
      for (String name : changed) {
        EndpointLoad load = view.load(name);
        if (load != null) {
          states.put(name, load);
        }
      }
      states.values().forEach(load -> numbers.state(load, to));
    }
    changed.clear();
    boolean asks = false;
    for (Asked one : batch) {
      if (!one.isOver()) {
        to.add(request(one));
        asks = true;
      }
    }
    batch.clear();
    to.send();
    if (asks && !owes) {
      owes = true;
      owesSince = clock.getAsLong();
    }
  }

  private void expireIn(long nanos) {
    if (!expiring) {
      expiring = true;
      loop.schedule(
          () -> {
            expiring = false;
            expire();
          },
          nanos);
    }
  }

  private @Nullable Asked oldest() {
    Map.Entry<Long, Asked> first = asked.firstEntry();
    return first == null ? null : first.getValue();
  }

  private void expire() {
    long now = clock.getAsLong();
    try {
      for (Asked one = oldest(); one != null && now - one.since >= timeout; one = oldest()) {
        asked.remove(one.number);
        passOver();
        late(now);
        tell(one, Result.LATE);
      }
    } finally {
      Asked next = oldest();
      if (next != null) {
        expireIn(Math.max(0, timeout - (now - next.since)));
      }
    }
  }

  private void passOver() {
    overdue = Math.min(overdue + 1, MOST_DECISIONS);
  }

  private void late(long now) {
    if (breaker.late(now)) {
      giveUp();
    }
  }

  private void invalid(long now, Asked one) {
    if (breaker.senseless(now)) { // waiting for it was of no more use
      giveUp();
    }
    tell(one, Result.INVALID);
  }

  private void giveUp() {
    String why = whyOpen();
    problem = why;
    LOG.warn("external scheduler {}: {}; requests don't wait for it", address(), why);
  }

  /** Why requests don't wait for it while the breaker is open. */
  private String whyOpen() {
    return breaker.openedForNoSense() ? NO_SENSE : OFTEN_LATE;
  }

  private void inTime(long now) {
    boolean wasOpen = breaker.open();
    breaker.inTime(now);
    if (wasOpen && !breaker.open()) {
      problem = null;
      LOG.info("external scheduler {} answers in time again", address());
    }
  }

  private void tell(Asked one, Result why) {
    tell(one, Word.none(counts, why));
  }

  private static void tell(Asked one, Word word) {
    if (one.told != null) {
      one.told.accept(word);
    }
  }

  /**
   * A request waits for room: what was said of it is out of date in a while.
   *
   * @param said what was last said of it
   * @param newest told what is said of it then
   */
  public void waits(long ticket, RequestFacts facts, Word said, Consumer<Word> newest) {
    waiting.put(ticket, new Waiting(facts, said, clock.getAsLong(), newest));
  }

  /** It doesn't wait any more. */
  public void waitsNoMore(long ticket) {
    waiting.remove(ticket);
  }

  /** Who waits for room and was asked about elsewhere so far is asked about here from now on. */
  public void takeWaiting(ExternalScheduling before) {
    waiting.putAll(before.waiting);
    before.waiting.clear();
  }

  /** Time has moved on: asks again about those that wait for long. */
  public void tick(long now) {
    if (owes && now - owesSince >= SILENCE_NANOS) {
      owes = false;
      line.reset("nothing has come from it for 10 s");
    } else if (stuck && now - stuckSince >= SILENCE_NANOS) {
      stuck = false;
      line.reset("it has taken nothing for 10 s");
    }
    if (breaker.open()) {
      takeBack();
    }
    if (!asksAgain) {
      asksAgain = true;
      askAgain(MOST_AGAIN);
    }
    if (greeted && (endpointsChanged || !changed.isEmpty())) {
      flushIn(0);
    }
  }

  /** Asks about some of those whose word is old, and goes on in another turn of the loop. */
  private void askAgain(int left) {
    long now = clock.getAsLong();
    for (int i = 0; i < MOST_AGAIN_AT_ONCE; i++) {
      Map.Entry<Long, Waiting> first = waiting.firstEntry();
      if (whyNot() != null
          || first == null
          || now - first.getValue().askedAt < settings.refresh().toNanos()) {
        asksAgain = false;
        return;
      }
      askAgain(now, first.getKey(), first.getValue());
    }
    int more = left - MOST_AGAIN_AT_ONCE;
    asksAgain = more > 0;
    if (asksAgain) {
      loop.execute(() -> askAgain(more));
    }
  }

  private void askAgain(long now, long ticket, Waiting one) {
    one.askedAt = now;
    waiting.putLast(ticket, one);
    var _ =
        ask(
            one.facts,
            word -> {
              if (waiting.containsKey(ticket)) {
                one.tell(word);
              }
            });
  }

  /** Who waits for room goes no longer by what was said: nobody would say it anew. */
  private void takeBack() {
    for (Waiting one : waiting.values()) {
      if (one.hasAdvice) {
        one.tell(Word.none(counts, Result.UNAVAILABLE));
      }
    }
  }

  /** Other endpoints are in force. */
  public void endpointsChanged() {
    endpointsChanged = true;
  }

  /** An endpoint was scraped, or is in use or out of use from now on. */
  public void changed(String endpoint) {
    if (greeted && settings.state()) {
      changed.add(endpoint);
    }
  }

  @Override
  public void opened() {
    greeted = false;
    stuck = false;
    overdue = 0;
    lastBefore = last;
    endpointsChanged = true;
    numbers.clear();
    owes = true;
    owesSince = clock.getAsLong();
    line.send(
        PickerMessage.newBuilder()
            .setHello(
                PickerHello.newBuilder()
                    .setVersion(VERSION)
                    .setPool(pool)
                    .setShadow(shadow == null ? "" : shadow)
                    .setTimeoutMicros((int) (timeout / 1_000)))
            .build());
  }

  @Override
  public void ready() {
    flush();
  }

  @Override
  public int came(SchedulerMessage message) {
    long now = clock.getAsLong();
    int gain = 0;
    if (!greeted) {
      if (!greet(message)) {
        return -1;
      }
      gain++;
    } else if (message.getDecisionsCount() == 0) {
      gain--; // reading it costs something, too
    }
    for (Decision decision : message.getDecisionsList()) {
      gain += decided(now, decision) ? 1 : -1;
    }
    owes = !asked.isEmpty();
    owesSince = now;
    if (!batch.isEmpty() && nothingIsUnderWay()) {
      flush();
    }
    return gain;
  }

  private boolean greet(SchedulerMessage message) {
    int version = message.getHello().getVersion();
    if (!message.hasHello() || version != VERSION) {
      line.reset(
          message.hasHello()
              ? "it speaks version " + version + " of the protocol, and not " + VERSION
              : "its first message has no hello");
      return false;
    }
    greeted = true;
    problem = breaker.open() ? whyOpen() : null;
    LOG.info("external scheduler {} answers: {}", address(), oneLine(message.getHello().getName()));
    flush();
    return true;
  }

  /** Whether it was asked for. */
  private boolean decided(long now, Decision decision) {
    Asked one = asked.remove(decision.getRequest());
    if (one == null) {
      counts.count(Result.UNEXPECTED);
      return isOverdue(decision.getRequest());
    }
    if (now - one.since >= timeout) { // and its timer is as late
      late(now);
      tell(one, Result.LATE);
      return true;
    }
    counts.answered(now - one.since);
    answered(now, one, decision);
    return true;
  }

  /**
   * Whether it may be the answer to a request that nobody waits for any more: that is too late, but
   * no flood. Were it read slowly for that, the next answers would be late, too.
   */
  private boolean isOverdue(long number) {
    if (overdue == 0 || number <= lastBefore || number > last) {
      return false;
    }
    overdue--;
    return true;
  }

  private void answered(long now, Asked one, Decision decision) {
    int count = decision.getEndpointsCount();
    int given = decision.getScoresCount();
    if ((given != 0 && given != count) || count > numbers.size() + MOST_GONE) {
      invalid(now, one);
      return;
    }
    if (count == 0) {
      inTime(now);
      tell(one, Result.LEFT);
      return;
    }
    long[] endpoints = new long[count];
    double[] scores = new double[count];
    int named = 0;
    for (int i = 0; i < count; i++) {
      int number = decision.getEndpoints(i);
      double score = given == 0 ? count - i : decision.getScores(i);
      Long identity = numbers.identity(number, one.number);
      if ((identity == null && !numbers.isGone(number)) || !Double.isFinite(score)) {
        invalid(now, one);
        return;
      }
      if (identity != null) {
        endpoints[named] = identity;
        scores[named++] = score;
      }
    }
    inTime(now);
    tell(
        one,
        named == 0
            ? Word.none(counts, Result.OVERRULED)
            : Word.of(
                counts, new Advice(Arrays.copyOf(endpoints, named), Arrays.copyOf(scores, named))));
  }

  @Override
  public void broken(String said) {
    String why = oneLine(said);
    if (!why.equals(problem)) {
      LOG.warn("external scheduler {} is not there: {}", address(), why);
    }
    problem = why;
    tellAll();
    takeBack();
  }

  /** Who waits for an answer gets none. */
  private void tellAll() {
    greeted = false;
    owes = false;
    stuck = false;
    batch.clear();
    for (Asked one = oldest(); one != null; one = oldest()) {
      asked.remove(one.number);
      tell(one, Result.UNAVAILABLE);
    }
  }

  /** What may be logged and told of it, of a text that is of its own making. */
  private static String oneLine(String text) {
    return NOT_PLAIN
        .matcher(text.substring(0, Math.min(text.length(), LONGEST_TEXT)))
        .replaceAll("?");
  }

  private String address() {
    return settings.address();
  }

  /** Ends the stream, where the loop may never come to {@link #close}. Any thread. */
  public void hangUp() {
    line.close();
  }

  @Override
  public void close() {
    closed = true;
    line.close();
    tellAll();
    takeBack();
    waiting.clear();
  }
}
