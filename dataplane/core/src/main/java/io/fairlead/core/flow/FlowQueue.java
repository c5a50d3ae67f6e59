package io.fairlead.core.flow;

import io.fairlead.plugin.Flow;
import io.fairlead.plugin.WaitingRequest;
import org.jspecify.annotations.Nullable;

/** Requests of one band that count as one sender's: those that wait, and what went so far. */
public final class FlowQueue implements Flow {

  /** Share of an answer in what is expected of the next. */
  private static final double LEARNING = 0.1;

  private static final double USUAL_OUTPUT = 200;

  private static final double SECOND = 1e9;

  /**
   * Bounds of the share of what can go that is for those who come again: others come meanwhile. It
   * is what they leave usually, or the least where nobody knows.
   */
  static final double LEAST_FOR_RETURNS = 0.4;

  static final double MOST_FOR_RETURNS = 0.9;

  /** Nobody who was refused is told a longer time, in seconds, but for what chance adds. */
  static final double LATEST = 96;

  /** Less than so many times its share counts as no more: chance gives each more now and then. */
  private static final double MUCH = 1.5;

  /**
   * Who got less than this part of all is no noisy neighbour: there is more than one who gets much.
   */
  private static final double MOST = 0.5;

  private final Band band;
  private final String id;
  private final RankedQueue queue = new RankedQueue();

  /** Those that can't go, as things are, for what they alone want. */
  private final RankedQueue aside = new RankedQueue();

  final Count count = new Count();
  private double weight = 1;
  private double served;
  private double virtualTime;
  private long lastTurn;
  private double output = USUAL_OUTPUT;

  private final RecentWork recent = new RecentWork();

  /** Its requests that were sent and have not ended: while there are, it is not forgotten. */
  private int underWay;

  /** Where the band has it among those with requests that wait; -1 if it has none. */
  int active = -1;

  /** Whether requests that wait elsewhere are about to move here. */
  boolean expectsRequests;

  /** When the last of those comes again who were refused, in seconds. */
  private double comeAgainAt = Double.NEGATIVE_INFINITY;

  final Returners returners = new Returners();

  /** Which part of them was expected to come, by {@link #comeAgainAt}. */
  private double expected = 1;

  /** How many places are kept for them. */
  int placesKept;

  /** Whether its first request was tried since something changed, and can't go. */
  private boolean passedOver;

  /** Whether all of it waits for a slot of its adapter, and else how many of its requests do. */
  private boolean forSlot;

  private int forSlotAlone;

  /** How many of its requests go on with a conversation. */
  private int goOn;

  FlowQueue(Band band, String id) {
    this.band = band;
    this.id = id;
  }

  Band band() {
    return band;
  }

  /** The larger, the more important. */
  public long priority() {
    return band.priority();
  }

  /** How the waits of its band's requests ended. */
  public WaitCounters waits() {
    return band.waits;
  }

  void add(Waiting request) {
    boolean was = idle();
    queue.add(request);
    count.add(request);
    forSlotAlone += request.forSlot ? 1 : 0;
    goOn += request.goesOn() ? 1 : 0;
    clearPassedOver();
    idleSince(was);
  }

  void remove(Waiting request) {
    boolean was = idle();
    takeOut(request);
    count.remove(request);
    forSlotAlone -= request.forSlot ? 1 : 0;
    goOn -= request.goesOn() ? 1 : 0;
    forSlot &= count.requests > 0;
    idleSince(was);
  }

  private void takeOut(Waiting request) {
    if (request.aside) {
      request.aside = false;
      aside.remove(request);
      band.setAside--;
      if (queue.size() == 0 && aside.size() == 0) {
        clearPassedOver();
      }
      return;
    }
    if (request == queue.first()) {
      clearPassedOver();
    }
    queue.remove(request);
    if (queue.size() == 0 && aside.size() > 0) {
      passOver();
    }
  }

  /** A request of it waits for this from now on. */
  void waitsFor(Waiting request, WaitsFor what) {
    boolean alone = what == WaitsFor.SLOT;
    forSlot = what == WaitsFor.SLOT_AS_ITS_FLOW;
    forSlotAlone += (alone ? 1 : 0) - (request.forSlot ? 1 : 0);
    request.forSlot = alone;
  }

  boolean isForSlot() {
    return forSlot;
  }

  /** Whether some of it go on with a conversation. */
  public boolean someGoOn() {
    return goOn > 0;
  }

  /** How many of it wait for room. */
  int forRoom() {
    return forSlot ? 0 : count.requests - forSlotAlone;
  }

  /** It may be idle now, or not any more. */
  private void idleSince(boolean was) {
    if (idle() != was) {
      band.busy(was ? weight : -weight);
    }
  }

  /** The request's place is another from now on. */
  void reorder(Waiting request, long rank) {
    takeOut(request);
    request.rank = rank;
    queue.add(request);
    clearPassedOver();
  }

  boolean isPassedOver() {
    return passedOver;
  }

  /** Its first request can't go, as things are. */
  void passOver() {
    if (!passedOver) {
      passedOver = true;
      band.passedOver++;
    }
  }

  /** Its first request can't go, as things are, for what it alone wants: the next one may. */
  void passOverFirst() {
    Waiting first = queue.first();
    if (first != null) {
      takeOut(first);
      first.aside = true;
      aside.add(first);
      band.setAside++;
    }
    if (queue.size() == 0) {
      passOver();
    }
  }

  /** Its first request may go now, as far as anybody knows. */
  void tryAgain() {
    for (Waiting first = aside.first(); first != null; first = aside.first()) {
      takeOut(first);
      queue.add(first);
    }
    clearPassedOver();
  }

  private void clearPassedOver() {
    if (passedOver) {
      passedOver = false;
      band.passedOver--;
    }
  }

  @Nullable Waiting first() {
    return queue.first();
  }

  /** Sets its share, relative to that of others. */
  public void weight(double share) {
    if (!(share > 0)) {
      throw new IllegalArgumentException("weight is " + share + "; set more than 0");
    }
    if (!idle()) {
      band.busy(share - weight);
    }
    weight = share;
  }

  /** Tokens that are expected of an answer which may have so many; -1 for any number. */
  public double expectedOutput(int most) {
    return most < 0 ? output : Math.min(output, most);
  }

  /**
   * A request of it was sent, and is expected to be that much work.
   *
   * @return the turn in which it went, for {@link #ended}
   */
  long sent(long now, double work) {
    boolean was = idle();
    underWay++;
    idleSince(was);
    recent.add(now, work);
    lastTurn = band.nextTurn(virtualTime);
    served += work;
    virtualTime += work / weight;
    return lastTurn;
  }

  /**
   * What was sent is over.
   *
   * @param turn in which it went
   * @param expected work of it when it went
   * @param was what it really was; below 0 where nobody knows
   * @param outputTokens of its answer, or in the mean of several; below 0 where nobody knows, or
   *     there could be none
   */
  public void ended(long turn, double expected, double was, int outputTokens) {
    underWay--;
    idleSince(false);
    if (was >= 0) {
      served += was - expected;
      if (band.counts(turn)) {
        virtualTime += (was - expected) / weight;
      }
    }
    if (outputTokens >= 0) {
      output += LEARNING * (outputTokens - output);
    }
  }

  /**
   * Whether some of it waits though most of what went of late was its own, and more than its share
   * among the flows of its band of which something waits or is under way.
   */
  public boolean isOverItsShare(long now) {
    return count.requests > 0
        && recent.at(now) > Math.max(MOST * band.recent(now), MUCH * band.share(now, weight));
  }

  /** Part of what its band sends that is its own: what it was of late, or else its share. */
  private double part(long now) {
    double all = band.recent(now);
    return all > 0 ? Math.min(1, Math.max(recent.at(now), band.share(now, weight)) / all) : 1;
  }

  /**
   * Seconds until the next place for somebody who is refused and comes again: when those before it
   * are gone at the rate of late, each place later than the one before, so that they don't come
   * together. That rate is what is left while more important bands take turns. Of those who were
   * told a time as many count as come, by what others did of late.
   *
   * @param ahead seconds until those of more important bands and its own are gone; NaN for nobody
   *     knows
   * @param before requests of its own that are before it
   * @param bandRate requests of its band that go in a second
   * @param forReturns share of them that is for those who come again
   * @return {@link #LATEST} where there is no place before
   */
  double nextReturn(long now, double ahead, int before, double bandRate, double forReturns) {
    double at = now / SECOND;
    double rate = bandRate * part(now);
    double each = rate > 1 / LATEST ? 1 / rate : LATEST;
    double gone = Math.max(Double.isNaN(ahead) ? 0 : ahead, before * each);
    double expectedNow = returners.share(now);
    if (comeAgainAt > at) {
      comeAgainAt = at + (comeAgainAt - at) * expectedNow / expected;
    }
    expected = expectedNow;
    // Closer together where places get scarce.
    double scarce = Math.clamp(2 * (comeAgainAt - at) / LATEST - 1, 0, 1);
    double share = forReturns + scarce * (MOST_FOR_RETURNS - forReturns);
    comeAgainAt = Math.min(Math.max(at + gone, comeAgainAt + expected * each / share), at + LATEST);
    return comeAgainAt - at;
  }

  boolean idle() {
    return count.requests == 0 && underWay == 0;
  }

  /** Starts level with who is behind most: what went while nobody waited is nobody's debt. */
  void startAt(double time) {
    virtualTime = time;
  }

  @Override
  public String id() {
    return id;
  }

  @Override
  public double weight() {
    return weight;
  }

  @Override
  public double served() {
    return served;
  }

  @Override
  public double virtualTime() {
    return virtualTime;
  }

  @Override
  public WaitingRequest head() {
    Waiting first = queue.size() == 0 ? aside.first() : queue.first();
    if (first == null) {
      throw new IllegalStateException("nothing of flow \"" + id + "\" waits");
    }
    return first;
  }

  @Override
  public int waiting() {
    return count.requests;
  }

  @Override
  public long lastTurn() {
    return lastTurn;
  }
}
