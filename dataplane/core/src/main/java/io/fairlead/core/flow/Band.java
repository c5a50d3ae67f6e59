package io.fairlead.core.flow;

import io.fairlead.plugin.Flows;
import io.fairlead.plugin.WaitingRequest;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The waiting requests of one priority, by flow and in order of arrival. It keeps each flow's share
 * of the work, and tells a burst, which passes, from a queue that stands.
 */
final class Band implements Flows {

  /** A band in which nobody waited for so long begins anew: what went meanwhile is no debt. */
  private static final long CALM = 1_000_000_000;

  /** So long a burst may take to pass; a queue that lasts longer is no burst's. */
  private static final long BURST = 10_000_000_000L;

  /** After a burst it takes so many times as long until there may be another like it. */
  private static final long BETWEEN = 3;

  private static final double ROUNDING = 1e-9;

  /** Rates are averaged over so many seconds. */
  private static final double RECENT = 5;

  private final long priority;
  private final int mostFlows;
  private BandSettings settings;

  /** How the waits of its requests ended. */
  final WaitCounters waits;

  final Count count = new Count();

  /** Whether nobody has come for it since settings changed: it may be of none of them. */
  boolean stale;

  /** By id; the one that was used longest ago first. */
  private final Map<String, FlowQueue> flows = new LinkedHashMap<>(16, 0.75f, true);

  /** Those with requests that wait. */
  private final List<FlowQueue> active = new ArrayList<>();

  /** How many of them were passed over. */
  int passedOver;

  /** How many requests are apart in their flows, for what they alone want. */
  int setAside;

  /** Those of them that a policy may choose now: all of them, or those that are listed here. */
  private List<FlowQueue> offered = active;

  private final List<FlowQueue> some = new ArrayList<>();

  private @Nullable Waiting oldest;
  private @Nullable Waiting newest;
  private long turns;

  /** Where the flow was that went last, before it did. */
  private double virtualTime;

  /** The last turn before all flows were put level. */
  private long levelSince;

  /** When the last that waited was gone; {@link Long#MIN_VALUE} before the first came. */
  private long calmSince = Long.MIN_VALUE;

  /** How many wait for room, and not for a slot of their adapter. */
  private int forRoom;

  /** When the last that waited for room was gone; {@link Long#MIN_VALUE} before the first came. */
  private long roomSince = Long.MIN_VALUE;

  /**
   * Since when somebody waits for room, and how long somebody may then before it is no burst any
   * more.
   */
  private long busySince;

  private long allowance = BURST;

  /** Until when nobody waits long for a slot of an adapter; {@link Long#MIN_VALUE} at first. */
  private long slotsStandUntil = Long.MIN_VALUE;

  /** What a policy threw last. */
  private @Nullable Throwable failure;

  /** Weight of all flows of which something waits or is under way. */
  private double busyWeight;

  /** Of all flows. */
  private final RecentWork recentWork = new RecentWork();

  /** Work of its own that the floor owes it. */
  private double owed;

  /** Requests that go, by time, and by a clock that goes while there is a queue. */
  private @Nullable DispatchRate recent;

  private @Nullable DispatchRate inQueue;

  Band(long priority, int mostFlows, BandSettings settings, WaitCounters waits) {
    this.priority = priority;
    this.mostFlows = mostFlows;
    this.settings = settings;
    this.waits = waits;
  }

  long priority() {
    return priority;
  }

  BandSettings settings() {
    return settings;
  }

  void settings(BandSettings now) {
    settings = now;
  }

  /** The flow of this id, or the one that is shared where there are as many as may be. */
  FlowQueue flow(String id) {
    FlowQueue known = flows.get(id);
    if (known != null) {
      return known;
    }
    // One place is for those who share it.
    if (flows.size() >= mostFlows - 1 && !forgetIdle() && !id.equals(FlowControl.SHARED)) {
      return flow(FlowControl.SHARED);
    }
    FlowQueue made = new FlowQueue(this, id);
    flows.put(id, made);
    return made;
  }

  private boolean forgetIdle() {
    for (Iterator<FlowQueue> all = flows.values().iterator(); all.hasNext(); ) {
      FlowQueue flow = all.next();
      if (flow.idle() && !flow.expectsRequests) {
        all.remove();
        return true;
      }
    }
    return false;
  }

  boolean isEmpty() {
    return count.requests == 0;
  }

  /**
   * A flow is about to have requests that wait. If it had none it starts level with the one that
   * went last: what others had while it had nothing is no credit of its own. (The start tags of
   * Goyal, Vin and Cheng, "Start-time fair queueing", IEEE/ACM Transactions on Networking 5(5),
   * 1997.)
   */
  void begins(long now, FlowQueue flow) {
    if (flow.active >= 0) {
      return;
    }
    if (active.isEmpty() && (calmSince == Long.MIN_VALUE || now - calmSince >= CALM)) {
      flows.values().forEach(each -> each.startAt(0));
      levelSince = turns;
      virtualTime = 0;
    }
    flow.startAt(Math.max(flow.virtualTime(), virtualTime));
  }

  void add(long now, Waiting request) {
    FlowQueue flow = request.flow();
    if (flow.active < 0) {
      flow.active = active.size();
      active.add(flow);
    }
    request.rank = rank(request);
    int before = flow.forRoom();
    flow.add(request);
    count.add(request);
    forRoom(now, flow.forRoom() - before);
    request.before = newest;
    if (newest == null) {
      oldest = request;
    } else {
      newest.after = request;
    }
    newest = request;
  }

  /** What the policy says; one that it fails for goes as it came. */
  private long rank(Waiting request) {
    try {
      return settings.ordering().rank(request);
    } catch (RuntimeException | Error e) {
      failure = e;
      return 0;
    }
  }

  /** What the policy says; one that it fails for is wanted as long as it may wait. */
  long wantedUntil(Waiting request) {
    try {
      return settings.ordering().wantedUntil(request);
    } catch (RuntimeException | Error e) {
      failure = e;
      return WaitingRequest.NEVER;
    }
  }

  /** What the policy says of those offered; where it fails, any of them goes: nobody is stuck. */
  private int turn(long now) {
    int index;
    try {
      index = settings.fairness().next(now, this);
    } catch (RuntimeException | Error e) {
      failure = e;
      return 0;
    }
    if (index < 0 || index >= offered.size()) {
      failure =
          new IndexOutOfBoundsException(
              "a fairness policy chose flow " + index + " of " + offered.size());
      return 0;
    }
    return index;
  }

  /** What a policy threw since this was asked last; null if none did. */
  @Nullable Throwable takeFailure() {
    Throwable taken = failure;
    failure = null;
    return taken;
  }

  /** What its place is worked out from has changed. */
  void reorder(Waiting request) {
    request.flow().reorder(request, rank(request));
  }

  void remove(long now, Waiting request) {
    FlowQueue flow = request.flow();
    int forRoomBefore = flow.forRoom();
    flow.remove(request);
    count.remove(request);
    forRoom(now, flow.forRoom() - forRoomBefore);
    Waiting before = request.before;
    Waiting after = request.after;
    if (before == null) {
      oldest = after;
    } else {
      before.after = after;
    }
    if (after == null) {
      newest = before;
    } else {
      after.before = before;
    }
    request.before = null;
    request.after = null;
    if (flow.waiting() == 0) {
      FlowQueue last = active.removeLast();
      if (last != flow) {
        active.set(flow.active, last);
        last.active = flow.active;
      }
      flow.active = -1;
    }
  }

  /** Requests have left it. */
  void left(long now) {
    if (count.requests == 0) {
      calmSince = now;
      owed = 0;
    }
  }

  /** A request of it waits for this from now on. */
  void waitsFor(long now, Waiting request, WaitsFor what) {
    FlowQueue flow = request.flow();
    int before = flow.forRoom();
    flow.waitsFor(request, what);
    forRoom(now, flow.forRoom() - before);
  }

  /** Whether somebody waits for room, and not just for a slot of an adapter. */
  boolean wantsRoom() {
    return forRoom > 0;
  }

  private void forRoom(long now, int more) {
    boolean nobody = forRoom == 0;
    forRoom += more;
    if (nobody && forRoom > 0) {
      long calm = roomSince == Long.MIN_VALUE ? 0 : now - roomSince;
      allowance = Math.min(BURST, allowance + calm / BETWEEN);
      busySince = now;
    } else if (!nobody && forRoom == 0) {
      allowance = Math.max(0, allowance - (now - busySince));
      roomSince = now;
    }
  }

  /**
   * What it has waited so far is of no account any more.
   *
   * @param stoodStill nanoseconds in which nobody could go: what came meanwhile takes as much
   *     longer to pass
   */
  void beginAnew(long now, long stoodStill) {
    busySince = now;
    allowance = BURST + stoodStill;
  }

  /**
   * Whether its queue stands: more comes than goes, and has for longer than a burst takes. Nobody
   * is served sooner for the others' long waits then. To bound waits by a short time in a queue
   * that was not empty for long, and by a long time else, is from Maurer, "Fail at Scale", ACM
   * Queue 13(8), 2015, after the controlled delay of Nichols and Jacobson, ACM Queue 10(5), 2012.
   */
  boolean stands(long now) {
    return forRoom > 0 && now - busySince > allowance;
  }

  /**
   * Nanoseconds for which a request may wait for a slot of its adapter now. Somebody always does
   * where there are more adapters than slots, however few requests come: that more come than go
   * shows only in a wait that was too long.
   *
   * @param ttl that it may where that has not happened of late, if no longer time is set for all
   */
  long slotTtl(long now, long ttl) {
    return slotsStand(now) ? settings.standingTtl() : Math.max(settings.standingTtl(), ttl);
  }

  /** The time of one that waited for a slot is over. */
  void expiredForSlot(long now, long ttl) {
    if (!slotsStand(now)) {
      slotsStandUntil = now + BETWEEN * ttl;
    }
  }

  private boolean slotsStand(long now) {
    return slotsStandUntil != Long.MIN_VALUE && now - slotsStandUntil < 0;
  }

  @Nullable Waiting oldest() {
    return oldest;
  }

  @Nullable Waiting newest() {
    return newest;
  }

  /** The flow with the most requests that wait; null where nobody does. */
  @Nullable FlowQueue longest() {
    FlowQueue longest = null;
    for (int i = 0; i < active.size(); i++) {
      FlowQueue flow = active.get(i);
      if (longest == null || flow.waiting() > longest.waiting()) {
        longest = flow;
      }
    }
    return longest;
  }

  /** Whether nothing is known of any of its flows that would be lost with it. */
  boolean isUnused() {
    return flows.values().stream().allMatch(FlowQueue::idle);
  }

  void forEachFlow(Consumer<FlowQueue> each) {
    flows.values().forEach(each);
  }

  /** The newest of a flow's requests; null where none waits. */
  static @Nullable Waiting newestOf(FlowQueue flow) {
    Waiting request = flow.band().newest;
    while (request != null && request.flow() != flow) {
      request = request.before;
    }
    return request;
  }

  /**
   * Lets every flow be tried again.
   *
   * @param slots also those that wait for a slot of their adapter
   */
  void tryAll(boolean slots) {
    for (int i = 0; passedOver + setAside > 0 && i < active.size(); i++) {
      if (slots || !active.get(i).isForSlot()) {
        active.get(i).tryAgain();
      }
    }
  }

  /** Whose turn it is of those that were not passed over; null where all were. */
  @Nullable Waiting next(long now) {
    offered = passedOver == 0 ? active : others();
    if (offered.isEmpty()) {
      return null;
    }
    int index = offered.size() == 1 ? 0 : turn(now);
    return offered.get(index).first();
  }

  private List<FlowQueue> others() {
    some.clear();
    for (int i = 0; i < active.size(); i++) {
      if (!active.get(i).isPassedOver()) {
        some.add(active.get(i));
      }
    }
    return some;
  }

  @Override
  public int size() {
    return offered.size();
  }

  @Override
  public FlowQueue get(int index) {
    return offered.get(index);
  }

  /** The turn of a flow that goes now, from where it is. */
  long nextTurn(double from) {
    virtualTime = Math.max(virtualTime, from);
    return ++turns;
  }

  /** The weight of the flows of which something waits or is under way is so much more, or less. */
  void busy(double weight) {
    busyWeight = Math.max(0, busyWeight + weight);
  }

  /** Work that went of late. */
  double recent(long now) {
    return recentWork.at(now);
  }

  /** What a flow of this weight would have had of what went of late, if all had their share. */
  double share(long now, double weight) {
    return recentWork.at(now) * Math.min(1, weight / busyWeight);
  }

  /** Whether what went in this turn counts still. */
  boolean counts(long turn) {
    return turn > levelSince;
  }

  /**
   * Another band went first: the floor owes this one its share of that, but no more than waits in
   * it.
   */
  void owe(double work) {
    owed = Math.min(count.work, owed + settings.floor() * work);
  }

  /**
   * Whether the floor owes it enough for a request of so much work; up to rounding, since the sum
   * that bounds what is owed may be a little below the work of the last that waits.
   */
  boolean isOwed(double work) {
    return settings.floor() > 0 && owed >= work * (1 - ROUNDING);
  }

  void pay(double work) {
    owed = Math.max(0, owed - work);
  }

  /** A request of it went. */
  void went(long now, double work) {
    recentWork.add(now, work);
    if (recent == null) {
      recent = new DispatchRate(now, RECENT);
    }
    recent.add(now);
  }

  /**
   * It went while somebody waited, or had waited itself.
   *
   * @param queue time of a clock that goes while there is a queue
   */
  void wentFromQueue(long queue) {
    if (inQueue == null) {
      inQueue = new DispatchRate(queue, RECENT);
    }
    inQueue.add(queue);
  }

  /**
   * Requests a second that go while there is a queue. Those that went of late are no fewer than
   * could go; after a quiet time they are no measure, but what went in the last queue is.
   *
   * @param queue time of a clock that goes while there is a queue
   */
  double rate(long now, long queue) {
    return Math.max(
        recent == null ? 0 : recent.perSecond(now), inQueue == null ? 0 : inQueue.perSecond(queue));
  }
}
