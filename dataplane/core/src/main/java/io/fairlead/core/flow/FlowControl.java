package io.fairlead.core.flow;

import io.fairlead.core.flow.Waiting.Demand;
import io.fairlead.plugin.WaitingRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the requests of one pool that wait for room, and says whose turn it is. It knows nothing of
 * endpoints: it offers requests to a {@link Sender} that does.
 *
 * <p>The most important band goes first. A less important one gets a small part of the work while
 * it waits, where it is given one. Within a band one policy chooses the flow, and within a flow
 * another chooses the request. Not thread-safe; owned by the pool's loop.
 */
public final class FlowControl {

  /** Id of the flow that is shared by all that have none of their own. */
  public static final String SHARED = "";

  /** So many flows whose first request can't go are passed over at a time. */
  private static final int MOST_PASSED_OVER = 8;

  /** The same of flows that lack a slot of an adapter: they are tried when one may have come. */
  private static final int MOST_WITHOUT_SLOT = 32;

  /** Where nobody went and nothing ended for so long, servers stand still: that is no overload. */
  private static final long STALL = 5_000_000_000L;

  /** What comes usually is averaged over so many seconds. */
  private static final double USUAL = 60;

  /** Before so many nanoseconds without a queue nobody knows what comes usually. */
  private static final long KNOWN = 5_000_000_000L;

  /** Clients that are told the last time that may be come within so much more, by chance. */
  private static final double SPREAD = FlowQueue.LATEST / 4;

  private static final double SECOND = 1e9;

  private FlowSettings settings;

  /** The most important first. */
  private final List<Band> bands = new ArrayList<>();

  private long[] priorities = {};

  /** By priority, also of bands that are gone: priorities are those of models and objectives. */
  private final Map<Long, WaitCounters> waits = new HashMap<>();

  private final Count count = new Count();

  /**
   * Those who wait for less long than others of their band do. Of the others the one that came
   * first is the first whose time is over: no order is to be kept of them.
   */
  private final WaitingHeap soonOver = new WaitingHeap.ByExpiry();

  private long sequence;

  private final Returns returns = new Returns();

  /** Requests that come while nobody waits, by a clock that stands while somebody does. */
  private final DispatchRate usual;

  private final long begunAt;

  /** Since when there is no endpoint, or is one. */
  private long changedAt;

  private boolean empty;

  /** Whether there was an endpoint since the beginning. */
  private boolean hadEndpoints;

  /** When a request went or ended last, or endpoints came. */
  private long movedAt;

  /** Since when somebody waits, and how long somebody did before. */
  private long queueSince;

  private long withQueue;

  /** When the last that waited was gone. */
  private long emptiedAt = Long.MIN_VALUE;

  /** Whether it ended for how many were passed over, and not for want of others to try. */
  private boolean cutShort;

  /** Whether a slot of an adapter may have come since those that lack one could be tried last. */
  private boolean slotCame;

  /** What the policy threw last that says how full the pool may be. */
  private @Nullable Throwable failure;

  /** What becomes of a request that is offered. */
  public enum Sent {
    /** It is gone: sent, or refused for good. */
    GONE,
    /** It can't go, but another of its flow may: it alone wants what is not there. */
    NOT_THIS,
    /** None of its flow can go, but another of its band may. */
    NOT_THIS_FLOW,
    /** Nobody can, or can any more now that this one is gone. */
    NONE
  }

  /** Sends requests whose turn it is. */
  public interface Sender {

    /** Sends the request if that is possible; it does not wait any more where it is gone. */
    Sent send(long now, Waiting request);
  }

  /** Nobody waits yet. */
  public FlowControl(long now, FlowSettings settings) {
    this.settings = settings;
    this.changedAt = now;
    this.movedAt = now;
    this.begunAt = now;
    this.usual = new DispatchRate(0, USUAL);
  }

  /**
   * Other settings: all that wait stay, also where there are more of them than may be now.
   *
   * @param home where a request waits from now on
   */
  public void configure(long now, FlowSettings changed, Function<Waiting, FlowQueue> home) {
    List<Waiting> all = new ArrayList<>();
    for (Band band : bands) {
      for (Waiting each = band.oldest(); each != null; each = each.after) {
        all.add(each);
      }
    }
    // One that came again has a place of before.
    all.sort((one, other) -> Long.compare(one.since(), other.since()));
    settings = changed;
    for (Band band : bands) {
      band.settings(changed.band(band.priority()));
      band.stale = true;
    }
    List<FlowQueue> homes = new ArrayList<>();
    for (Waiting request : all) {
      FlowQueue found = home.apply(request);
      found.expectsRequests = true; // else one of the next ones' might have its place
      found.band().begins(now, found);
      homes.add(found);
    }
    Set<Band> moved = new HashSet<>();
    // Taken out and put back in the order in which they came, which each band keeps.
    all.forEach(each -> unlink(now, each));
    for (int i = 0; i < all.size(); i++) {
      Waiting request = all.get(i);
      if (request.flow() != homes.get(i)) {
        moved.add(request.flow().band());
        request.flow(homes.get(i));
      }
      link(now, request);
    }
    homes.forEach(each -> each.expectsRequests = false);
    moved.forEach(band -> band.left(now));
    for (Band band : bands) {
      band.stale &= band.isEmpty();
    }
    dropStale();
  }

  /** Room is held back for bands, and from them: not for those that are of former settings. */
  private void dropStale() {
    if (bands.removeIf(band -> band.stale && band.isUnused())) {
      priorities = bands.stream().mapToLong(Band::priority).toArray();
    }
  }

  /** The flow of this id in the band of this priority. */
  public FlowQueue flow(long priority, String id) {
    Band band = band(priority);
    band.stale = false;
    return band.flow(id);
  }

  private Band band(long priority) {
    int at = 0;
    while (at < bands.size() && bands.get(at).priority() > priority) {
      at++;
    }
    if (at < bands.size() && bands.get(at).priority() == priority) {
      return bands.get(at);
    }
    WaitCounters counters = waits.computeIfAbsent(priority, anew -> new WaitCounters());
    Band made = new Band(priority, settings.flows(), settings.band(priority), counters);
    bands.add(at, made);
    priorities = bands.stream().mapToLong(Band::priority).toArray();
    return made;
  }

  /**
   * Saturation from which on an endpoint is full for a flow, where the pool is so full in the mean;
   * NaN where the policy says nothing.
   */
  public double ceiling(FlowQueue flow, double saturation) {
    return ceiling(bands.indexOf(flow.band()), saturation);
  }

  /**
   * The same for one that has more than its share. Not below that of less important ones, which
   * would go before it.
   *
   * @param ceiling what it is for the others
   */
  public double ceilingOverShare(FlowQueue flow, double ceiling, double saturation) {
    int lower = bands.indexOf(flow.band()) + 1;
    double left = leftOverShare(ceiling);
    return lower < bands.size()
        ? Math.max(left, Math.min(ceiling, ceiling(lower, saturation)))
        : left;
  }

  /** What the policy says; a band that it fails for goes up to where an endpoint is full. */
  private double ceiling(int band, double saturation) {
    try {
      return settings
          .usage()
          .ceiling(band, priorities.length, priorities[band], priorities, saturation);
    } catch (RuntimeException | Error e) {
      failure = e;
      return 1;
    }
  }

  /** What the policy says; where it fails, nothing is held back. */
  private double leftOverShare(double ceiling) {
    try {
      return settings.usage().ceilingOverShare(ceiling);
    } catch (RuntimeException | Error e) {
      failure = e;
      return ceiling;
    }
  }

  /** Requests that wait. */
  public int waiting() {
    return count.requests;
  }

  /** Bytes of their bodies. */
  public long waitingBytes() {
    return count.bytes;
  }

  /**
   * Whether a request of the flow may go without waiting for others: those before it that are more
   * important, and those of its own flow, which all want what it wants where they wait for a slot.
   */
  public boolean mayPass(FlowQueue flow) {
    if (count.requests == 0) {
      return true;
    }
    if (flow.isForSlot()) {
      return false;
    }
    for (Band band : bands) {
      if (band.wantsRoom()) {
        return band.priority() < flow.priority();
      }
    }
    return true;
  }

  /**
   * A request of the flow went, whether or not it had waited: each band below that waits is owed
   * its floor.
   *
   * @param work that it is expected to be
   * @return the turn in which it went, for {@link FlowQueue#ended}
   */
  public long went(long now, FlowQueue flow, double work) {
    Band went = flow.band();
    long turn = flow.sent(now, work);
    went.went(now, work);
    if (count.requests > 0 || now == emptiedAt) {
      went.wentFromQueue(withQueue(now));
    }
    moved(now);
    if (count.requests == 0) {
      return turn;
    }
    for (Band band : bands) {
      if (band == went) {
        band.pay(work);
      } else if (band.priority() < went.priority() && !band.isEmpty()) {
        band.owe(work);
      }
    }
    return turn;
  }

  /** A request that was sent is over: whoever waits, waits for no server that stands still. */
  public void ended(long now) {
    moved(now);
  }

  private void moved(long now) {
    if (count.requests > 0 && now - movedAt > STALL) {
      long stoodStill = now - movedAt;
      bands.forEach(band -> band.beginAnew(now, stoodStill));
    }
    movedAt = now;
  }

  /**
   * A request waits from now on, if there may be one more. Others make room for it where they are
   * less important, the newest first, or where their flow has more of them that wait than its own.
   *
   * @param evicted told of each that makes room
   * @return null if it may not wait
   */
  public @Nullable Waiting add(
      long now, long request, FlowQueue flow, Demand demand, Consumer<Waiting> evicted) {
    Band band = flow.band();
    if (band.settings().ttl() == 0 && !(empty && waitsForEndpoint(now))) {
      return null;
    }
    sequence++;
    Waiting added =
        new Waiting(request, flow, demand, now, demand.place() == 0 ? sequence : demand.place());
    if (!makeRoom(now, added, evicted)) {
      return null;
    }
    put(now, added);
    return added;
  }

  /** Whether a request that comes now may wait for an endpoint, while there is none at all. */
  public boolean waitsForEndpoint(long now) {
    return endpointAwaitedUntil(now) - now > 0;
  }

  private long endpointAwaitedUntil(long since) {
    if (settings.emptyTtl() > 0) {
      return plus(since - changedAt > 0 ? since : changedAt, settings.emptyTtl());
    }
    return hadEndpoints ? plus(changedAt, settings.lossTtl()) : changedAt;
  }

  /**
   * A request of the flow came.
   *
   * @param likeness the same for requests that ask for the same
   * @return its place, where it was refused before and comes when it was told to; 0 for none
   */
  public long came(long now, FlowQueue flow, long likeness) {
    long place = returns.take(now, flow, likeness);
    if (place == 0 && count.requests == 0) {
      usual.add(withoutQueue(now));
    }
    return place;
  }

  private void put(long now, Waiting request) {
    FlowQueue flow = request.flow();
    flow.band().begins(now, flow);
    if (count.requests == 0) {
      queueSince = now;
    }
    link(now, request);
  }

  /** Nanoseconds in which there was a queue. */
  private long withQueue(long now) {
    return withQueue + (count.requests > 0 ? now - queueSince : 0);
  }

  private long withoutQueue(long now) {
    return now - begunAt - withQueue(now);
  }

  private void link(long now, Waiting request) {
    expire(request); // first: a band may go by it
    request.flow().band().add(now, request);
    count.add(request);
  }

  /** Works out when its wait will have been too long. */
  private void expire(Waiting request) {
    long since = request.since();
    long wanted = request.flow().band().wantedUntil(request);
    long own = Math.min(plus(since, request.ttl()), wanted);
    long withSome = request.flow().band().settings().ttl();
    long begun = since - changedAt > 0 ? since : changedAt;
    long until = empty ? endpointAwaitedUntil(since) : plus(begun, withSome);
    long withNone = Math.max(settings.emptyTtl(), settings.lossTtl());
    // Endpoints that come and go by turns must not have it begin anew for ever.
    long usual = Math.min(until, plus(plus(since, withNone), withSome));
    request.expiresAt = Math.min(own, usual);
    request.wantedUntilThen = own < usual && own == wanted;
    if (own < usual) {
      soonOver.add(request);
    }
  }

  private void forgetExpiry(Waiting request) {
    if (request.inExpiry >= 0) {
      soonOver.remove(request);
    }
  }

  private static long plus(long time, long nanos) {
    long sum = time + nanos;
    return nanos == WaitingRequest.NEVER || sum < time ? WaitingRequest.NEVER : sum;
  }

  private boolean makeRoom(long now, Waiting request, Consumer<Waiting> evicted) {
    FlowQueue flow = request.flow();
    Band band = flow.band();
    BandSettings rules = band.settings();
    long bytes = request.bytes();
    if (!fits(rules.flowLimits(), flow.count, bytes)
        || !rules.limits().allow(1, bytes)
        || !settings.limits().allow(1, bytes)) {
      return false;
    }
    if (fits(rules.limits(), band.count, bytes) && fits(settings.limits(), count, bytes)) {
      return true;
    }
    // Looked at first: nobody is to go for one that then finds no room.
    if (!canFit(flow, bytes)) {
      return false;
    }
    while (!fits(rules.limits(), band.count, bytes)) {
      evict(now, newestOfLongest(band), evicted);
    }
    while (!fits(settings.limits(), count, bytes)) {
      Band lowest = lowestWithRequests();
      Waiting victim = lowest == band ? newestOfLongest(band) : lowest.newest();
      evict(now, victim, evicted);
    }
    return true;
  }

  private static boolean fits(Limits limits, Count count, long bytes) {
    return limits.allow(count.requests + 1L, count.bytes + bytes);
  }

  /** Whether there is room for a request of the flow once all have gone that would make it. */
  private boolean canFit(FlowQueue flow, long bytes) {
    Band band = flow.band();
    Count lower = new Count();
    for (Band each : bands) {
      if (each.priority() < band.priority()) {
        lower.requests += each.count.requests;
        lower.bytes += each.count.bytes;
      }
    }
    Count own = new Count();
    FlowQueue longest = band.longest();
    // Two apart, so that two flows don't take each other's place in turns.
    if (longest != null && longest.waiting() > flow.waiting() + 1) {
      own.requests = 1;
      Waiting newest = Band.newestOf(longest);
      own.bytes = newest == null ? 0 : newest.bytes();
    }
    long requests = own.requests - 1L;
    long left = own.bytes - bytes;
    return band.settings().limits().allow(band.count.requests - requests, band.count.bytes - left)
        && settings
            .limits()
            .allow(count.requests - lower.requests - requests, count.bytes - lower.bytes - left);
  }

  private @Nullable Waiting newestOfLongest(Band band) {
    FlowQueue longest = band.longest();
    return longest == null ? null : Band.newestOf(longest);
  }

  private Band lowestWithRequests() {
    for (int i = bands.size() - 1; i >= 0; i--) {
      if (!bands.get(i).isEmpty()) {
        return bands.get(i);
      }
    }
    throw new IllegalStateException("nobody waits, and there is no room");
  }

  private void evict(long now, @Nullable Waiting victim, Consumer<Waiting> evicted) {
    if (victim == null) {
      throw new IllegalStateException("nobody makes room");
    }
    remove(now, victim);
    evicted.accept(victim);
  }

  /** The request does not wait any more. */
  public void remove(long now, Waiting request) {
    unlink(now, request);
    request.flow().band().left(now);
    if (count.requests == 0) {
      withQueue += now - queueSince;
      emptiedAt = now;
    }
  }

  private void unlink(long now, Waiting request) {
    request.flow().band().remove(now, request);
    count.remove(request);
    forgetExpiry(request);
  }

  /** There is no endpoint any more, or one again: the time that requests may wait begins anew. */
  public void empty(long now, boolean none) {
    hadEndpoints |= !none;
    if (empty == none) {
      return;
    }
    long stoodStill = none ? 0 : now - changedAt;
    empty = none;
    changedAt = now;
    movedAt = now;
    for (Band band : bands) {
      band.beginAnew(now, stoodStill);
      for (Waiting each = band.oldest(); each != null; each = each.after) {
        forgetExpiry(each);
        expire(each);
        band.reorder(each);
      }
    }
  }

  private void expireByTime(long now, Consumer<Waiting> expired) {
    for (Waiting first = soonOver.first();
        first != null && isOver(now, first);
        first = soonOver.first()) {
      remove(now, first);
      expired.accept(first);
    }
    for (Band band : bands) {
      for (Waiting oldest = band.oldest();
          oldest != null && isOver(now, oldest);
          oldest = band.oldest()) {
        remove(now, oldest);
        expired.accept(oldest);
      }
    }
  }

  private static boolean isOver(long now, Waiting request) {
    return request.expiresAt != WaitingRequest.NEVER && request.expiresAt - now <= 0;
  }

  /** Takes out all, the most important first. */
  public void removeAll(long now, Consumer<Waiting> removed) {
    for (Band band : bands) {
      for (Waiting first = band.oldest(); first != null; first = band.oldest()) {
        remove(now, first);
        removed.accept(first);
      }
    }
  }

  /**
   * A request waits for this from now on. Who waits for a slot keeps nobody from going that has
   * one, and is no sign that too many come. A flow all of which does is not tried before slots have
   * changed.
   */
  public void waitsFor(long now, Waiting request, WaitsFor what) {
    request.flow().band().waitsFor(now, request, what);
  }

  /**
   * Takes out those who have waited as long as they may. To be called some ten times a second.
   *
   * @param slotTtl nanoseconds for which one may wait for a slot of its adapter
   */
  public void expire(long now, long slotTtl, Consumer<Waiting> expired) {
    dropStale();
    returns.sweep(now);
    expireByTime(now, expired);
    if (empty || now - movedAt > STALL) {
      return; // nobody is served sooner for it
    }
    for (Band band : bands) {
      long forRoom = band.stands(now) ? band.settings().standingTtl() : WaitingRequest.NEVER;
      long forSlot = band.slotTtl(now, slotTtl);
      Waiting next;
      for (Waiting each = band.oldest();
          each != null && now - each.since() > Math.min(forRoom, forSlot);
          each = next) {
        next = each.after;
        long most = each.isForSlot() ? forSlot : forRoom;
        if (!each.promised && !each.cameAgain() && now - each.since() > most) {
          if (each.isForSlot()) {
            band.expiredForSlot(now, slotTtl);
          }
          remove(now, each);
          each.expiresAt = each.since() + most;
          each.wantedUntilThen = false;
          expired.accept(each);
        }
      }
    }
  }

  /**
   * Something has changed that may make room: whoever was passed over may go now. Where they are so
   * many that not all were tried, the others come first, so that nobody is tried for ever in vain
   * before them.
   *
   * @param slots whether it may be a slot of an adapter that came
   */
  public void roomCame(boolean slots) {
    slotCame |= slots;
    if (cutShort) {
      cutShort = false;
      return;
    }
    for (Band band : bands) {
      band.tryAll(slotCame);
    }
    slotCame = false;
  }

  /**
   * Who has waited longest for room in the most important band in which somebody does, and counts;
   * null for nobody, or where none of the few counts that have waited longest.
   */
  public @Nullable Waiting mostImportant(Predicate<Waiting> counts) {
    for (Band band : bands) {
      if (band.wantsRoom()) {
        int looked = 0;
        int forSlot = 0;
        for (Waiting each = band.oldest();
            each != null && looked < MOST_PASSED_OVER && forSlot < MOST_WITHOUT_SLOT;
            each = each.after) {
          if (each.isForSlot()) {
            forSlot++;
          } else if (counts.test(each)) {
            return each;
          } else {
            looked++;
          }
        }
        return null;
      }
    }
    return null;
  }

  /** Requests that wait in the same band, itself included. */
  public int waitingBeside(Waiting request) {
    return request.flow().band().count.requests;
  }

  /** Whether its band's floor owes it that it goes, before what is more important. */
  public boolean isOwed(Waiting request) {
    return request.flow().band().isOwed(request.work());
  }

  /**
   * The most that an endpoint may be filled for any of those who wait, where the pool is so full in
   * the mean; not below 1, as a floor that a band is owed goes up to there.
   */
  public double highestCeiling(double saturation) {
    double highest = 1;
    for (int i = 0; i < bands.size(); i++) {
      double ceiling = bands.get(i).isEmpty() ? 0 : ceiling(i, saturation);
      highest = ceiling > highest ? ceiling : highest;
    }
    return highest;
  }

  /** Offers requests whose turn it is until nobody can go. */
  public void dispatch(long now, Sender sender) {
    int passedOver = 0;
    int withoutSlot = 0;
    while (count.requests > 0) {
      Waiting request = next(now);
      if (request == null) {
        return;
      }
      Sent sent = sender.send(now, request);
      switch (sent) {
        case GONE -> {
          if (request.inFlow >= 0) {
            throw new IllegalStateException("request " + request.request() + " still waits");
          }
        }
        case NOT_THIS, NOT_THIS_FLOW -> {
          if (sent == Sent.NOT_THIS) {
            request.flow().passOverFirst();
          } else {
            request.flow().passOver();
          }
          boolean forSlot = request.isForSlot();
          passedOver += forSlot ? 0 : 1;
          withoutSlot += forSlot ? 1 : 0;
          if (passedOver == MOST_PASSED_OVER || withoutSlot == MOST_WITHOUT_SLOT) {
            cutShort = true;
            return;
          }
        }
        case NONE -> {
          return;
        }
      }
    }
  }

  /** What a policy threw since this was asked last; null if none did. */
  public @Nullable Throwable takeFailure() {
    Throwable last = failure;
    failure = null;
    for (Band band : bands) {
      Throwable taken = band.takeFailure();
      last = taken == null ? last : taken;
    }
    return last;
  }

  /** The one whose turn it is: of a band that is owed, or of the most important. */
  private @Nullable Waiting next(long now) {
    Waiting chosen = null;
    for (Band band : bands) {
      if (band.isEmpty()) {
        continue;
      }
      Waiting first = band.next(now);
      if (first != null && (chosen == null || band.isOwed(first.work()))) {
        chosen = first;
      }
    }
    return chosen;
  }

  /**
   * Seconds after which a request of this flow that is refused should come again. While it does
   * then, it has its place.
   *
   * @param likeness the same for requests that ask for the same
   * @param place where it stood when it waited; 0 where it did not
   * @param draw 0 to 1, of the request's own
   */
  public int comeAgain(long now, FlowQueue flow, long likeness, long place, double draw) {
    long queue = withQueue(now);
    long ahead = 0;
    double rate = 0;
    double all = 0;
    for (Band band : bands) {
      double own = band.rate(now, queue);
      all += own;
      if (band.priority() >= flow.priority()) {
        boolean before = band == flow.band() && isBefore(place, band.oldest());
        ahead += before ? 0 : band.count.requests;
        rate += own;
      }
    }
    double seconds =
        flow.nextReturn(
            now,
            ahead / rate,
            isBefore(place, flow.first()) ? 0 : flow.waiting(),
            flow.band().rate(now, queue),
            forReturns(now, all));
    if (seconds >= FlowQueue.LATEST) {
      return (int) Math.ceil(seconds + draw * SPREAD);
    }
    int told = (int) Math.max(1, Math.ceil(seconds));
    if (returns.hasRoom(flow)) {
      long due = now + told * (long) SECOND;
      returns.promise(now, flow, likeness, due, place == 0 ? ++sequence : place);
    }
    return told;
  }

  /** Whether it stood before all others: they are not before it when it comes again. */
  private static boolean isBefore(long place, @Nullable Waiting first) {
    return place != 0 && (first == null || place < first.sequence());
  }

  private double forReturns(long now, double rate) {
    long calm = withoutQueue(now);
    return calm < KNOWN || rate == 0
        ? FlowQueue.LEAST_FOR_RETURNS
        : Math.clamp(
            1 - usual.perSecond(calm) / rate,
            FlowQueue.LEAST_FOR_RETURNS,
            FlowQueue.MOST_FOR_RETURNS);
  }

  /** Is told of a band. */
  public interface BandVisitor {

    /**
     * A band, the more important ones before it.
     *
     * @param requests that wait
     * @param bytes of their bodies
     * @param work expected tokens of theirs
     * @param waits how those ended that are over; not a copy
     */
    void band(long priority, int requests, long bytes, double work, WaitCounters waits);
  }

  /** What waits in each band: for metrics, not for decisions. */
  public void forEachBand(BandVisitor each) {
    for (Band band : bands) {
      Count count = band.count;
      each.band(band.priority(), count.requests, count.bytes, count.work, band.waits);
    }
  }

  /** Who waits in each band and flow: for metrics, not for decisions. */
  public void forEachFlow(Consumer<FlowQueue> each) {
    bands.forEach(band -> band.forEachFlow(each));
  }
}
