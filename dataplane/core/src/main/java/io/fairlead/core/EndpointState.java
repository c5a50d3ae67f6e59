package io.fairlead.core;

import io.fairlead.core.account.PrefillLine;
import io.fairlead.core.account.SharedBlocks;
import io.fairlead.core.external.Advice;
import io.fairlead.core.external.EndpointLoad;
import io.fairlead.core.health.EndpointHealth;
import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.plugin.EndpointAttributes;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One incarnation of an endpoint: what it is, what was scraped of it, and the exact account of what
 * was sent to it. A request in flight refers to its incarnation, so the end of a request that went
 * to an old one never changes the new one.
 */
final class EndpointState implements PoolEndpoint {

  /** Time constant in nanoseconds by which prompts that were sent count less and less. */
  private static final double WHILE_NANOS = 20e9;

  /** How many standard deviations of the sum of their lengths contexts may grow by. */
  private static final double DEVIATIONS = 0.75;

  private EndpointSpec spec;

  /** Number in the prefix index; reused after this incarnation is gone. */
  private final int slot;

  private final long identity;
  private final EndpointHealth health;
  private final PrefillPace pace;
  private final TurnPace turns = new TurnPace();
  private final TokenPace tokenPace = new TokenPace();
  private final PrefillQueue prefills = new PrefillQueue();
  private final SentRequests requests = new SentRequests();
  private final AdapterSlots adapters;
  private final CacheShare cacheShare = new CacheShare();
  private final Seats seats = new Seats();
  private final SharedBlocks shared = new SharedBlocks();
  private EndpointAttributes attributes;
  private final ServerProcesses processes = new ServerProcesses();
  private EndpointMetrics metrics = EndpointMetrics.UNKNOWN;

  /** When it came, or came back: what was scraped earlier is of a former life. */
  private long since;

  /** When its caches were last empty for certain. */
  private long emptyAt;

  /** How often they were found to be empty since it came. */
  private int filling;

  /** How often what was sent here was forgotten, as its cache holds nothing of it any more. */
  private int forgotten;

  /** Of the metrics: read for each candidate of each decision, so kept at hand. */
  private int waiting;

  /** What the others have waiting in the mean: counted while it is not known of this one. */
  private int assumedWaiting;

  private int running;

  /** Requests that were there at the last scrape beside those whose end will be seen. */
  private int foreign;

  private double kvUsage = Double.NaN;
  private long kvCapacityTokens;
  private long kvTold;

  /** When the last scrape was begun; of no meaning while the metrics are unknown. */
  private long scrapedAt = Long.MIN_VALUE;

  private int partition;

  /** Where it writes what scorers read, and in which place; null while it is not eligible. */
  private @Nullable EndpointColumns columns;

  private int place;
  private Fullness fullness = Fullness.NONE;
  private boolean leaving;

  /** As plugins see it: it changes when they are told, and not in between. */
  private double risk = 1;

  /** When the page was asked for that told of progress last; when it came for none. */
  private long progressToldAt;

  private int inFlight;

  private long idleSince = Long.MIN_VALUE;

  /** Of these, whose end nobody sees. */
  private int leftInFlight;

  /** Of these, of those without a first token, and of their tokens, what others have sent. */
  private int othersInFlight;

  private int othersAwaiting;
  private long othersTokens;
  private long othersUncached;

  private int awaitingFirstToken;

  /**
   * Requests whose clients take nothing of their answers now; and those that are in flight and not
   * counted, since the engine is through with them and their clients are not.
   */
  private int heldUp;

  private int unread;

  /** The same three in sequences, of which a request has one for each of its answers. */
  private int sequences;

  private int leftSequences;
  private int sequencesAwaiting;
  private int criticalInFlight;
  private int sheddableInFlight;
  private long inFlightTokens;
  private long uncachedInFlightTokens;
  private long inFlightBlocks;

  /** Tokens in flight of prompts of which no blocks are known. */
  private long blocklessTokens;

  /** Share of {@link #blocklessTokens} that are there already, of other prompts in flight. */
  private double blocklessRepeated;

  private long lastFirstToken = Long.MIN_VALUE;

  /**
   * Whether its process has produced a first token, and when it did: what was sent there before may
   * have waited for what is loaded or compiled once.
   */
  private boolean warm;

  private long warmSince;

  /** Tokens of contexts that rest here, and those of critical requests among them. */
  private int resting;

  private long restingTokens;

  private int restingCritical;

  private long restingCriticalTokens;

  /** Prefill time of the prompts sent of late, were nothing cached, by the time they came in. */
  private double wholePrefills;

  private long wholePrefillsAt;

  /** Who was first in line when time was told last, and how long it had waited. */
  private long timedTicket;

  private long headWait;

  private long sent;
  private long matchedBlocks;
  private long promptBlocks;

  /**
   * Integrals over time, in nanoseconds, of the sequences that decode and of the tokens in flight.
   * They may wrap around: only differences count, and those are exact up to two hours of a million
   * tokens.
   */
  private long decodingArea;

  private long tokensArea;
  private long areasUntil;

  EndpointState(
      EndpointSpec spec, int slot, PrefillPace pace, PoolAdapters poolAdapters, long now) {
    this.adapters = new AdapterSlots(poolAdapters);
    this.health = new EndpointHealth(spec, now);
    this.pace = pace;
    this.spec = spec;
    this.slot = slot;
    this.since = now;
    this.progressToldAt = now;
    this.emptyAt = now;
    this.areasUntil = now;
    this.wholePrefillsAt = now;
    this.identity = Advice.identity(spec.name());
    this.attributes = EndpointLabels.attributes(spec.labels());
  }

  boolean leaving() {
    return leaving;
  }

  /** Whether the spec is of the same process, however its labels have changed. */
  boolean isSame(EndpointSpec other) {
    return spec.name().equals(other.name())
        && spec.incarnation().equals(other.incarnation())
        && spec.address().equals(other.address())
        && spec.port() == other.port();
  }

  /**
   * Stays, or comes back: then the load that it told of before it left is unknown. It is the same
   * process, which still has its cache of the same size, its adapters and its base model.
   */
  void eligible(EndpointSpec current, long now) {
    // Receipts refer to it: one that says the same, told anew, would be kept for them beside it.
    if (!spec.equals(current)) {
      if (!spec.labels().equals(current.labels())) {
        attributes = EndpointLabels.attributes(current.labels());
      }
      spec = current;
      health.spec(current);
    }
    if (leaving) {
      leaving = false;
      since = now;
      progressToldAt = now;
      scrapedAt = Long.MIN_VALUE;
      health.comesBack(now);
      read(EndpointMetrics.UNKNOWN);
      forgetProcess();
    }
  }

  /** From now on it writes there. */
  void columns(EndpointColumns all, int ownPlace) {
    columns = all;
    place = ownPlace;
    all.slot[ownPlace] = slot;
    publish();
  }

  /** To be called after every change of the account, that of the prefill queue too. */
  void publish() {
    risk = health.risk();
    EndpointColumns all = columns;
    if (all != null) {
      all.note(place);
      show(all);
    }
  }

  /** Something that no column has is another: whoever works something out of it looks again. */
  private void noteChange() {
    EndpointColumns all = columns;
    if (all != null) {
      all.note(place);
    }
  }

  private void show(EndpointColumns all) {
    all.queueDepth[place] = queueDepth();
    all.kvUsage[place] = kvUsage;
    all.saturation[place] = fullness.of(this);
    all.slotsTaken(place, adapters.taken());
    all.adapterSlots(place, adapters.slots());
    all.cache(place, kvCapacityTokens);
    all.facts.sent(
        place,
        inFlight,
        awaitingFirstToken,
        inFlightTokens,
        prefills.count(),
        prefills.uncachedTokens(),
        saidToWait());
    boolean more = adapters.slots() > 0 || !metrics.values().isEmpty();
    all.facts.scraped(place, waiting, running, scrapedAt, more);
  }

  /** In its own queue; where it doesn't tell, as many as in the others' in the mean. */
  private int saidToWait() {
    return tells() ? waiting : assumedWaiting;
  }

  /** What it said beside what all say, by the config's keys. */
  Map<String, Double> values() {
    return metrics.values();
  }

  /**
   * How full it was found to be when its account changed last, or a tick came: what the pool learns
   * since of how fast prompts are computed counts from the next of these on. 0 once it has left.
   */
  double saturation() {
    EndpointColumns all = columns;
    return all == null ? 0 : all.saturation[place];
  }

  /** From now on this says how full it is. */
  void fullness(Fullness says) {
    fullness = says;
    EndpointColumns all = columns;
    if (all != null) {
      show(all);
    }
  }

  /** What it has waiting as long as it does not tell. */
  void assumeWaiting(int mean) {
    if (assumedWaiting != mean) {
      assumedWaiting = mean;
      EndpointColumns all = columns;
      if (all != null && !tells()) {
        show(all);
      }
    }
  }

  EndpointSpec spec() {
    return spec;
  }

  /** As a scheduler outside of the process is told of it. */
  EndpointLoad load() {
    return new EndpointLoad(
        identity,
        spec,
        health.state(),
        waiting,
        running,
        kvUsage,
        kvCapacityTokens,
        ownInFlight(),
        awaitingFirstToken - othersAwaiting,
        inFlightTokens - othersTokens,
        uncachedInFlightTokens - othersUncached);
  }

  /** Reads a scrape of it, before that is {@link #scraped}; what of it is to be believed. */
  EndpointMetrics believed(long begunAt, EndpointMetrics scrape) {
    return processes.read(begunAt, scrape);
  }

  /** Whether the last scrape told of a queue. */
  boolean tells() {
    return metrics.waiting() >= 0;
  }

  void leave() {
    leaving = true;
    adapters.promisesNothing();
    health.leaves();
    columns = null;
  }

  /** Whether a scrape of that process, begun then, is of its present life. */
  boolean isOfThisLife(EndpointSpec scraped, long begunAt) {
    return isSame(scraped) && begunAt - since >= 0;
  }

  void scraped(long now, long begunAt, EndpointMetrics scrape) {
    scrapedAt = scrape.equals(EndpointMetrics.UNKNOWN) ? Long.MIN_VALUE : begunAt;
    long capacity = kvCapacityTokens;
    int loaded = adapters.revision();
    int queued = waiting;
    adapters.scraped(begunAt, ownInFlight(), scrape);
    progressToldAt = Double.isNaN(scrape.progress()) ? progressToldAt : begunAt;
    // A page that is asked for more often than its engine's steps end tells nothing the next time.
    if (!scrape.equals(metrics)) {
      int waitForSeats = adapters.contended() ? 0 : scrape.waiting();
      seats.scraped(begunAt, waitForSeats, scrape.running(), scrape.kvUsage());
    }
    read(scrape);
    boolean countsAnew = (heldUp > 0 || unread > 0) && settleHeldUp(now, begunAt);
    boolean sharesAnew = learnBlocklessShare();
    foreign = Math.max(0, waiting + running - watchedSequences());
    EndpointColumns all = columns;
    if (all == null) {
      return;
    }
    show(all);
    // Scrapes come far more often than requests, and hardly ever say anything else.
    if (capacity != kvCapacityTokens
        || loaded != adapters.revision()
        || queued != waiting
        || countsAnew
        || sharesAnew) {
      all.note(place);
    }
  }

  /**
   * Prompts without blocks, as another picker tells of those that it had sent long before, share
   * what nobody knows here. The server tells how much all that it has takes up: if that is less
   * than they come to, the rest is shared. What is in line takes up nothing yet.
   *
   * @return whether that is another share than before
   */
  private boolean learnBlocklessShare() {
    double before = blocklessRepeated;
    if (blocklessTokens > 0 && kvUsage >= 0 && kvCapacityTokens > 0) {
      double there = inFlightTokens - repeatedOfBlocks() - prefills.uncachedTokens();
      double excess = there - kvUsage * kvCapacityTokens;
      blocklessRepeated = Math.clamp(excess / blocklessTokens, 0, 1);
    } else {
      blocklessRepeated = 0;
    }
    return blocklessRepeated != before;
  }

  /** The client takes no more of this answer now, or takes more again. */
  void heldUp(long now, Flight flight, boolean held) {
    Attempt attempt = flight.attempt;
    if (attempt.heldUp != held) {
      attempt.heldUp = held;
      attempt.heldUpSince = now;
      attempt.wasHeldUp = true;
      heldUp += held ? 1 : -1;
    }
  }

  /**
   * An engine is through with an answer long before a client that doesn't read. As many of those
   * that are held up count no more as the page shows less than is counted, the oldest first; where
   * it shows more, as many count again.
   *
   * @return whether that has changed anything
   */
  private boolean settleHeldUp(long now, long begunAt) {
    if (metrics.waiting() < 0 || metrics.running() < 0) {
      return false;
    }
    int shown = waiting + running;
    int before = unread;
    advance(now);
    int less = watchedSequences() - requests.countNew(begunAt) - shown;
    int more = shown - watchedSequences();
    for (Flight flight = requests.oldest(); flight != null; flight = flight.sentAfter) {
      Attempt attempt = flight.attempt;
      if (attempt.unread && attempt.answers <= more) {
        more -= attempt.answers;
        countAgain(flight);
      } else if (mayBeUnread(flight, begunAt) && attempt.answers <= less) {
        less -= attempt.answers;
        countNoMore(now, flight);
      }
    }
    return unread != before;
  }

  private static boolean mayBeUnread(Flight flight, long begunAt) {
    Attempt attempt = flight.attempt;
    return attempt.heldUp
        && attempt.heldUpSince - begunAt <= 0
        && !attempt.unread
        && !flight.state().isPrefilling()
        && !flight.state().isLeft();
  }

  private void countNoMore(long now, Flight flight) {
    Attempt attempt = flight.attempt;
    attempt.unread = true;
    unread++;
    count(-1, flight);
    shared.remove(attempt.salt, flight.facts.blocks(), attempt.blocks);
    idleSince = now;
  }

  private void countAgain(Flight flight) {
    Attempt attempt = flight.attempt;
    if (attempt.unread) {
      attempt.unread = false;
      unread--;
      count(1, flight);
      shared.add(attempt.salt, flight.facts.blocks(), attempt.blocks);
    }
  }

  private void read(EndpointMetrics scrape) {
    metrics = scrape;
    waiting = Math.max(0, scrape.waiting());
    running = Math.max(0, scrape.running());
    kvUsage = scrape.kvUsage() >= 0 ? Math.min(scrape.kvUsage(), 1) : Double.NaN;
    if (scrape.blocks() > 0 && scrape.blockSize() > 0) {
      // A cache does not change its size: one odd scrape must not make the index forget.
      long told = (long) scrape.blocks() * scrape.blockSize();
      kvCapacityTokens = Math.max(told, kvTold);
      kvTold = told;
    }
  }

  /** Whether a scrape is of another process, which has taken the place of the one before. */
  boolean restarted(EndpointMetrics scrape) {
    return processes.isAnother(scrape);
  }

  /** When its process started, the newest if there are several; NaN if none has told. */
  double startedAt() {
    return processes.startedAt();
  }

  /** Whether its process may be one that said that it started then; NaN where none has said. */
  boolean mayHaveStarted(double start) {
    return processes.mayHaveStarted(start);
  }

  /** Another picker was told so; a scrape that says otherwise is of another process. */
  void believedToHaveStarted(double told) {
    processes.believedToHaveStarted(told);
  }

  /** Whether the server has computed something since the last scrape that told. */
  boolean progressed(EndpointMetrics scrape) {
    return processes.progressed(scrape);
  }

  /** When the page was asked for that told of it last. */
  long progressToldAt() {
    return progressToldAt;
  }

  /** Another process is there: what the former one had loaded is gone. */
  void restarted(long now, EndpointMetrics scrape) {
    emptied(now);
    forgetProcess();
    processes.restarted(scrape);
    adapters.unloaded();
    kvCapacityTokens = 0;
    kvTold = 0;
  }

  private void forgetProcess() {
    processes.forgetPages();
    adapters.unknown();
    seats.forget();
    foreign = 0;
    warm = false;
  }

  private void emptied(long now) {
    emptyAt = now;
    idleSince = Long.MIN_VALUE;
    filling++;
    noteChange();
    resting = 0;
    restingTokens = 0;
    restingCritical = 0;
    restingCriticalTokens = 0;
  }

  /** What was sent here is not in its cache any more. */
  void forgets() {
    forgotten++;
  }

  /** A number that is another once what was sent here is forgotten. */
  int forgotten() {
    return forgotten;
  }

  @Override
  public long emptyAt() {
    return emptyAt;
  }

  int partition() {
    return partition;
  }

  void partition(int number) {
    partition = number;
  }

  /** The request is sent there, or its prompt is. */
  void sent(long now, Flight flight, int matched) {
    comes(now, flight);
    sent++;
    shared.add(flight.attempt.salt, flight.facts.blocks(), flight.attempt.blocks);
    matchedBlocks += matched;
    promptBlocks += flight.facts.blocks().length;
    flight.attempt.loadsAdapter =
        adapters.needed(flight.attempt.target) && !adapters.resident(flight.attempt.target);
    boolean counts = adapters.used(now, flight.attempt.target);
    if (isDecoding(flight)) {
      flight.attempt.usesSlot = counts;
    } else {
      flight.attempt.usesSlotAtPrefill = counts;
    }
    publish();
  }

  /** It has answered a request for this target. */
  void served(String target) {
    if (adapters.served(target)) {
      publish();
    }
  }

  /**
   * Another picker has sent it there. Of adapters, and how much of prompts was found here, it says
   * nothing.
   *
   * @param blocks salted hashes of its prompt
   */
  void toldOf(long now, Flight flight, long[] blocks) {
    comes(now, flight);
    othersInFlight++;
    othersAwaiting++;
    othersTokens += flight.attempt.tokens;
    othersUncached += flight.attempt.uncached();
    shared.add(flight.attempt.salt, blocks, flight.attempt.blocks);
    // If the last page told of it, as of somebody's: it is not to count twice.
    if (scrapedAt != Long.MIN_VALUE && flight.attempt.sentAt - scrapedAt <= 0) {
      foreign = Math.max(0, foreign - sequencesOf(flight));
    }
    publish();
  }

  private void comes(long now, Flight flight) {
    advance(now);
    count(1, flight);
    awaitingFirstToken++;
    sequencesAwaiting += sequencesOf(flight);
    flight.attempt.first = prefills.count() == 0;
    flight.attempt.behindUnseen = prefills.count() > prefills.watched();
    wholePrefills = wholePrefills(now) + flight.attempt.tokens * tokenPace.nanos() / WHILE_NANOS;
    wholePrefillsAt = now;
    flight.attempt.decodingArea = decodingArea;
    flight.attempt.tokensArea = tokensArea;
  }

  /** Counts the request here, or no more; whether its first token came is another matter. */
  private void count(int sign, Flight flight) {
    Attempt attempt = flight.attempt;
    inFlight += sign;
    sequences += sign * sequencesOf(flight);
    criticalInFlight += attempt.critical ? sign : 0;
    sheddableInFlight += attempt.sheddable ? sign : 0;
    inFlightTokens += (long) sign * attempt.tokens;
    uncachedInFlightTokens += (long) sign * attempt.uncached();
    inFlightBlocks += (long) sign * attempt.blocks;
    blocklessTokens += attempt.blocks == 0 ? (long) sign * attempt.tokens : 0;
  }

  /** Promises an adapter the next slot that falls idle; see {@link AdapterSlots#untilASlot}. */
  SlotPromise promiseSlot(String adapter) {
    AdapterSlots.Promise promise = adapters.promise(adapter);
    publish();
    return new SlotPromise(this, promise);
  }

  /** Whoever a slot was promised for does not wait any more. */
  void takeBackSlot(AdapterSlots.Promise promise) {
    adapters.takeBack(promise);
    publish();
  }

  /** Who has only its prompt computed here has one, however many answers it asks for. */
  private int sequencesOf(Flight flight) {
    return isDecoding(flight) ? flight.attempt.answers : 1;
  }

  /** Whether it was sent here, and not its prompt alone. */
  private boolean isDecoding(Flight flight) {
    return equals(flight.attempt.at);
  }

  /** Nobody will see the end of one that is there. */
  void leftOne(Flight flight) {
    countAgain(flight);
    leftInFlight++;
    leftSequences += sequencesOf(flight);
    publish();
  }

  /** Its first token came, or must have come by now. */
  void decodes(long now, Flight flight) {
    advance(now);
    flight.to(flight.state().prefilled());
    noMoreAwaiting(flight);
    publish();
  }

  private void noMoreAwaiting(Flight flight) {
    awaitingFirstToken--;
    othersAwaiting -= flight.isOfAnother() ? 1 : 0;
    sequencesAwaiting -= sequencesOf(flight);
  }

  /** A prompt that another picker had sent was computed then: those behind it have their turn. */
  void toldOfFirstToken(long at) {
    lastFirstToken = Math.max(lastFirstToken, at);
  }

  /** Its first token came. */
  void firstToken(long now, Flight flight) {
    decodes(now, flight);
    if (!warm) {
      warm = true;
      warmSince = now;
    }
    EndpointState elsewhere = flight.attempt.prefilledBy;
    if (elsewhere == null && !flight.attempt.sinceUnknown) {
      long turn = now - Math.max(flight.attempt.sentAt, lastFirstToken);
      if (!flight.attempt.behindUnseen) {
        learnPrefill(flight.attempt, turn);
      }
      if (!flight.attempt.loadsAdapter) {
        turns.firstToken(
            flight.attempt.uncached(), turn, now - flight.attempt.sentAt, flight.attempt.first);
      }
    }
    EndpointState computedAt = elsewhere == null ? this : elsewhere;
    flight.attempt.prefillSince = Math.max(flight.attempt.sentAt, computedAt.lastFirstToken);
    computedAt.lastFirstToken = now;
    flight.attempt.decodingArea = decodingArea;
    flight.attempt.tokensArea = tokensArea;
    publish();
  }

  /** It took so long since the one before it: prompts of which nothing is seen are in no turn. */
  private void learnPrefill(Attempt attempt, long turn) {
    pace.learn(attempt.uncached(), attempt.attention(), turn);
    if (attempt.sentAt - warmSince >= 0 && Contexts.fit(this)) {
      tokenPace.learn(attempt.uncached(), turn);
    }
  }

  /** Nanoseconds that the prompts in line here may take. */
  long expectedPrefill() {
    return prefills.count() == 0
        ? 0
        : pace.expected(prefills.uncachedTokens(), prefills.attention());
  }

  /** The same of the one that is first in line. */
  long expectedNextPrefill() {
    Flight head = prefills.head();
    return head == null ? 0 : pace.expected(head.attempt.uncached(), head.attempt.attention());
  }

  /** Time has moved on: the first in line has waited that long. */
  void tick(long now) {
    Flight head = prefills.head();
    timedTicket = head == null ? 0 : head.ticket;
    headWait = head == null || head.attempt.loadsAdapter ? 0 : now - prefills.headSince();
    seats.tick(now);
    EndpointColumns all = columns;
    if (all != null) {
      show(all);
    }
  }

  @Override
  public long expectedWait() {
    int count = prefills.watched();
    if (count == 0) {
      return 0;
    }
    long stuck = (long) (headWait() - turns.alone(prefills.headUncached()));
    return Math.max(stuck, turns.expected(count, prefills.watchedUncachedTokens()));
  }

  /** How long the first in line had waited when time was told last; 0 for another one. */
  private long headWait() {
    Flight head = prefills.head();
    return head != null && head.isWatched() && head.ticket == timedTicket ? headWait : 0;
  }

  /** Which of its cache's fillings goes on: a time could not tell, where one ends as it begins. */
  int filling() {
    return filling;
  }

  /** A context is kept here for a request that goes on with it. */
  void rests(Contexts.Context context) {
    resting(1, context);
  }

  /** That request came, or is not expected any more. */
  void restsNoMore(Contexts.Context context) {
    if (context.filling() == filling) {
      resting(-1, context);
    }
  }

  @Override
  public long restingTokens() {
    return restingTokens;
  }

  /** Another picker's last request ended there at this time, as is told only now. */
  void hadRequestUntil(long time) {
    if (idleSince == Long.MIN_VALUE || time - idleSince > 0) {
      idleSince = time;
      noteChange();
    }
  }

  @Override
  public long idleSince() {
    return idleSince;
  }

  private void resting(int sign, Contexts.Context context) {
    noteChange();
    resting += sign;
    restingTokens += sign * context.tokens();
    if (context.critical()) {
      restingCritical += sign;
      restingCriticalTokens += sign * context.tokens();
    }
  }

  /**
   * Tokens of contexts that are in use or rest here, and {@link #DEVIATIONS} more of so many, were
   * their lengths exponential: they grow, and where they are few they may grow together.
   *
   * @param kept share of those that rest which counts
   * @param critical whether only those of critical requests count
   * @param times how many times as many requests go to the pool as are known of here. Contexts that
   *     rest count once: a conversation's requests come to any picker, so that each knows most
   */
  double contextTokens(double kept, boolean critical, double times) {
    double used = times * ((double) inFlightTokens - repeatedInFlightTokens());
    double count = kept * resting + inFlight;
    double tokens = kept * restingTokens + used;
    if (critical) {
      count = kept * restingCritical + criticalInFlight;
      tokens =
          kept * restingCriticalTokens + (inFlight == 0 ? 0 : used * criticalInFlight / inFlight);
    }
    return count == 0 ? 0 : tokens * (1 + DEVIATIONS / Math.sqrt(count));
  }

  /**
   * Share of its time that the prompts sent here of late would take if nothing were cached, about
   * {@link #WHILE_NANOS} together.
   */
  double wholePrefills(long now) {
    return wholePrefills * Math.exp((wholePrefillsAt - now) / WHILE_NANOS);
  }

  PrefillPace pace() {
    return pace;
  }

  EndpointHealth health() {
    return health;
  }

  @Override
  public long scrapedAt() {
    return scrapedAt;
  }

  /** Takes the request off the account; {@link #firstToken} came if {@code decoded}. */
  void ended(long now, Flight flight, boolean decoded) {
    advance(now);
    Attempt attempt = flight.attempt;
    if (isDecoding(flight)) {
      heldUp -= attempt.heldUp ? 1 : 0;
      attempt.heldUp = false;
      countAgain(flight);
    }
    count(-1, flight);
    idleSince = now;
    if (flight.isOfAnother()) {
      othersInFlight--;
      othersTokens -= flight.attempt.tokens;
      othersUncached -= flight.attempt.uncached();
    }
    if (flight.state().isLeft() && isDecoding(flight)) {
      leftInFlight--;
      leftSequences -= sequencesOf(flight);
    }
    if (flight.hasSampleOnly()) {
      shared.removeSampled(
          flight.attempt.salt, flight.attempt.sampledBlocks, flight.attempt.blocks);
    } else {
      shared.remove(flight.attempt.salt, flight.facts.blocks(), flight.attempt.blocks);
    }
    if (!decoded) {
      noMoreAwaiting(flight);
    }
    if (isDecoding(flight) ? flight.attempt.usesSlot : flight.attempt.usesSlotAtPrefill) {
      adapters.ended(now, flight.attempt.target);
    }
    seats.ended(decoded ? sequencesOf(flight) : 0);
    publish();
  }

  long decodingArea(long now) {
    advance(now);
    return decodingArea;
  }

  long tokensArea(long now) {
    advance(now);
    return tokensArea;
  }

  private void advance(long now) {
    long passed = now - areasUntil;
    if (passed > 0) {
      decodingArea += passed * decodingSequences();
      tokensArea += passed * inFlightTokens;
      areasUntil = now;
    }
  }

  /** KV cache size in hash blocks of so many tokens, from 1 to {@code max}; 0 when unknown. */
  int kvBlocks(double blockTokens, int max) {
    long tokens = kvCapacityTokens();
    return tokens == 0 ? 0 : Math.clamp((long) (tokens / blockTokens), 1, max);
  }

  EndpointSnapshot snapshot() {
    return new EndpointSnapshot(
        spec.name(),
        ownInFlight(),
        awaitingFirstToken - othersAwaiting,
        scrapedWaiting(),
        kvUsage(),
        sent,
        matchedBlocks,
        promptBlocks,
        leaving,
        new EndpointSnapshot.Health(
            health.state(), health.reason(), health.since(), health.failing()),
        scrapedAt);
  }

  @Override
  public String name() {
    return spec.name();
  }

  @Override
  public String address() {
    return spec.address();
  }

  @Override
  public int port() {
    return spec.port();
  }

  @Override
  public Map<String, String> labels() {
    return spec.labels();
  }

  @Override
  public EndpointAttributes attributes() {
    return attributes;
  }

  @Override
  public int slot() {
    return slot;
  }

  @Override
  public long identity() {
    return identity;
  }

  @Override
  public int inFlight() {
    return inFlight;
  }

  /** Requests that were sent from here and are not over, whether or not they count. */
  int ownInFlight() {
    return inFlight + unread - othersInFlight;
  }

  /** Whether requests are here that are not over, whoever has sent them. */
  boolean hasRequests() {
    return inFlight + unread > 0;
  }

  /** Whether something is here for its engine to do that was sent from here. */
  boolean hasWork() {
    return inFlight > othersInFlight;
  }

  @Override
  public int watchedInFlight() {
    return inFlight - leftInFlight;
  }

  @Override
  public int sequences() {
    return sequences;
  }

  @Override
  public int watchedSequences() {
    return sequences - leftSequences;
  }

  @Override
  public int decodingSequences() {
    return sequences - sequencesAwaiting;
  }

  @Override
  public int awaitingFirstToken() {
    return awaitingFirstToken;
  }

  @Override
  public long inFlightTokens() {
    return inFlightTokens;
  }

  @Override
  public int criticalInFlight() {
    return criticalInFlight;
  }

  @Override
  public int sheddableInFlight() {
    return sheddableInFlight;
  }

  @Override
  public long uncachedInFlightTokens() {
    return uncachedInFlightTokens;
  }

  @Override
  public long repeatedInFlightTokens() {
    return (long) (repeatedOfBlocks() + blocklessRepeated * blocklessTokens);
  }

  private double repeatedOfBlocks() {
    // A block is as many tokens here as the mean of them: models differ in that, and may learn.
    return inFlightBlocks == 0
        ? 0
        : (double) (inFlightTokens - blocklessTokens) * shared.repeated() / inFlightBlocks;
  }

  /** Those that are here, without the prompts that it computes for others. */
  SentRequests requests() {
    return requests;
  }

  @Override
  public PrefillQueue prefills() {
    return prefills;
  }

  CacheShare cacheShare() {
    return cacheShare;
  }

  @Override
  public AdapterSlots adapters() {
    return adapters;
  }

  @Override
  public double metric(String key) {
    Double value = metrics.values().get(key);
    return value == null ? Double.NaN : value;
  }

  @Override
  public long kvCapacityTokens() {
    return kvCapacityTokens;
  }

  @Override
  public int scrapedWaiting() {
    return waiting;
  }

  @Override
  public double risk() {
    return risk;
  }

  @Override
  public int queueDepth() {
    return Math.max(saidToWait(), awaitingFirstToken);
  }

  @Override
  public int waiting() {
    // Without what attention takes: a receipt must come to the same, and keeps tokens alone.
    long backlog = PrefillLine.expected(pace.factor(), prefills.uncachedTokens());
    return PrefillLine.waiting(saidToWait(), prefills.count(), backlog);
  }

  @Override
  public int scrapedRunning() {
    return running;
  }

  @Override
  public int seats() {
    return seats.believed();
  }

  @Override
  public int foreignInFlight() {
    return foreign;
  }

  @Override
  public double kvUsage() {
    return kvUsage;
  }
}
