package io.fairlead.core;

import io.fairlead.plugin.Adapters;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * LoRA adapters of one endpoint, least recently used first. A server shows an adapter only while
 * its requests run, so what was placed is remembered, and what the server shows is added to it. An
 * adapter with requests in flight keeps its slot, as in the server: where all are taken so, those
 * that came last wait.
 */
final class AdapterSlots implements Adapters {

  /**
   * Nanoseconds for which an adapter that has got a slot keeps it: shorter turns would load
   * adapters more than serve them.
   */
  private static final long TURN = 1_000_000_000L;

  /**
   * Nanoseconds after which requests of ours that have ended are not running any more in what a
   * server says: it says so once a step, and what it said before may come late.
   */
  private static final long OVER = 200_000_000;

  /** What is older than so many others was no use of ours just now. */
  private static final int MOST_GONE = 16;

  private final ArrayList<Slot> resident = new ArrayList<>();

  /** Those that gave way, the last one last: a late scrape may still show them. */
  private final ArrayList<Slot> gone = new ArrayList<>();

  /** How many are resident. As the next two, it is kept here for decisions, which ask everybody. */
  private int count;

  /** A bit for each resident name, by its hash: one whose bit is not set is not there. */
  private long names;

  /** Hash of {@link #baseModel}; another text with the same is looked at. */
  private int baseHash;

  /** Slots of adapters that servers told of and that have requests in flight. */
  private int busy;

  /** Whose the next slot is that falls idle; null for whoever comes first. */
  private @Nullable Promise promise;

  private final PoolAdapters pool;

  private int slots;
  private String baseModel = "";
  private List<String> running = List.of();
  private List<String> waiting = List.of();
  private int reported;

  /** How often anything has changed that the next request's costs depend on. */
  private int revision;

  private static final class Slot {
    private final String adapter;
    private int inFlight;

    /**
     * Since when it has requests in flight, or has none; {@link Long#MIN_VALUE} before the first.
     */
    private long since = Long.MIN_VALUE;

    /** Whether it has none, and was running nevertheless: requests of others. */
    private boolean othersUse;

    /**
     * Whether a server has shown it, or answered for it. Clients may ask for what nobody serves:
     * until then it takes no other's place.
     */
    private boolean proven;

    private Slot(String adapter) {
      this.adapter = adapter;
    }

    private boolean isBusy() {
      return inFlight > 0 || othersUse;
    }
  }

  /**
   * That an adapter is the next to have a slot here. Made for a request that waits, and taken back
   * when that waits no more. One is no other, though they be alike.
   */
  static final class Promise {

    /** For whose requests the next slot is that falls idle. */
    private final String adapter;

    /** Gets no further requests until then, so that one does. */
    private final String leaving;

    private Promise(String adapter, String leaving) {
      this.adapter = adapter;
      this.leaving = leaving;
    }
  }

  AdapterSlots(PoolAdapters pool) {
    this.pool = pool;
  }

  /**
   * The server has told of itself.
   *
   * @param begunAt when it was asked
   * @param inFlight requests that were sent there and are not over
   */
  void scraped(long begunAt, int inFlight, EndpointMetrics metrics) {
    if (metrics.maxAdapters() > 0 && metrics.maxAdapters() != slots) {
      slots = metrics.maxAdapters();
      revision++;
    }
    if (!metrics.baseModel().isEmpty() && !metrics.baseModel().equals(baseModel)) {
      baseModel = metrics.baseModel();
      baseHash = baseModel.hashCode();
      revision++;
    }
    // Where the base model is not known, what runs or waits tells which names are adapters.
    if (baseModel.isEmpty()
        && !(running.equals(metrics.runningAdapters())
            && waiting.equals(metrics.waitingAdapters()))) {
      revision++;
    }
    running = metrics.runningAdapters();
    waiting = metrics.waitingAdapters();
    if (!metrics.baseModel().isEmpty()) {
      pool.addBaseModel(begunAt, metrics.baseModel());
    }
    pool.add(begunAt, running);
    pool.add(begunAt, waiting);
    reported = reportedNow();
    for (int i = 0; i < running.size(); i++) {
      if (indexOf(resident, running.get(i)) < 0) {
        resident.add(shown(running.get(i)));
        revision++;
      }
    }
    boolean others = metrics.running() + Math.max(0, metrics.waiting()) > inFlight;
    for (int i = 0; i < resident.size(); i++) {
      Slot slot = resident.get(i);
      slot.proven = slot.proven || pool.knows(slot.adapter);
      boolean use =
          others
              && slot.inFlight == 0
              && (slot.since == Long.MIN_VALUE || begunAt - slot.since > OVER)
              && contains(running, slot.adapter);
      revision += use != slot.othersUse ? 1 : 0;
      slot.othersUse = use;
    }
    trim();
  }

  /** One that is not known to be there: in no use of ours, unless it has just been. */
  private Slot shown(String adapter) {
    int index = indexOf(gone, adapter);
    Slot slot = index < 0 ? new Slot(adapter) : gone.remove(index);
    slot.proven = true;
    return slot;
  }

  /** What the server said is out of date; what was loaded and how many can be, is not. */
  void unknown() {
    running = List.of();
    waiting = List.of();
    reported = 0;
    for (int i = 0; i < resident.size(); i++) {
      resident.get(i).othersUse = false;
    }
    changed();
  }

  /**
   * Another process is there, which has loaded nothing, and may have no slots at all: requests of
   * the former one are to end.
   */
  void unloaded() {
    unknown();
    slots = 0;
    baseModel = "";
    baseHash = 0;
    promisesNothing();
    resident.removeIf(slot -> slot.inFlight == 0);
    changed();
  }

  /**
   * A request for this target was sent: its adapter is or will be loaded, and the oldest may go if
   * the target is one that a server has shown.
   *
   * @return whether it counts until it is {@link #ended}: not where it is for no adapter, as far as
   *     is known
   */
  boolean used(long now, String target) {
    boolean counts = needed(target);
    if (counts) {
      int index = indexOf(resident, target);
      Slot slot = index < 0 ? new Slot(target) : resident.remove(index);
      slot.since = slot.inFlight == 0 ? now : slot.since;
      slot.inFlight++;
      slot.othersUse = false;
      slot.proven = slot.proven || pool.knows(target);
      if (promise != null && promise.adapter.equals(target)) {
        promise = null;
        pool.slotChanged();
      }
      resident.add(slot);
      trim();
    }
    return counts;
  }

  /**
   * The server has answered for this target: if that needs a slot, it has one.
   *
   * @return whether that was not known
   */
  boolean served(String target) {
    int index = indexOf(resident, target);
    boolean news = index >= 0 && !resident.get(index).proven;
    if (news) {
      resident.get(index).proven = true;
      trim();
    }
    return news;
  }

  /** A request for this target has ended that was {@link #used}. */
  void ended(long now, String target) {
    int index = indexOf(resident, target);
    if (index >= 0 && resident.get(index).inFlight > 0) {
      Slot slot = resident.get(index);
      slot.inFlight--;
      slot.since = slot.inFlight == 0 ? now : slot.since;
      if (slot.inFlight == 0 && !slot.proven) {
        resident.remove(index);
      }
      trim();
    }
  }

  private void trim() {
    int excess = -slots;
    for (int i = 0; i < resident.size(); i++) {
      excess += resident.get(i).proven ? 1 : 0;
    }
    for (int i = 0; excess > 0 && i < resident.size(); ) {
      if (!resident.get(i).isBusy()) {
        goes(resident.remove(i));
        revision++;
        excess--;
      } else {
        i++;
      }
    }
    changed();
  }

  private void goes(Slot slot) {
    int before = indexOf(gone, slot.adapter);
    if (before >= 0) {
      gone.remove(before);
    }
    gone.add(slot);
    if (gone.size() > MOST_GONE) {
      gone.removeFirst();
    }
  }

  private void changed() {
    int busyBefore = busy;
    int countBefore = count;
    long namesBefore = names;
    count = resident.size();
    names = 0;
    busy = 0;
    for (int i = 0; i < count; i++) {
      Slot slot = resident.get(i);
      names |= bit(slot.adapter);
      busy += slot.isBusy() && pool.knows(slot.adapter) ? 1 : 0;
    }
    if (busy != busyBefore || count != countBefore || names != namesBefore) {
      pool.slotChanged();
    }
  }

  private static long bit(String name) {
    int hash = name.hashCode();
    return 1L << (hash ^ (hash >>> 16));
  }

  /**
   * A number that is another once a scrape has changed what a request costs here. Requests that are
   * sent or end may leave it as it is.
   */
  int revision() {
    return revision;
  }

  @Override
  public int leastInFlight() {
    if (count < slots || slots == 0) {
      return 0;
    }
    int least = Integer.MAX_VALUE;
    for (int i = 0; i < slots; i++) {
      Slot slot = resident.get(i);
      least = Math.min(least, slot.othersUse ? 1 : slot.inFlight);
    }
    return least;
  }

  /** Whether some adapters would have to wait until another falls idle. */
  boolean taken() {
    return slots > 0 && (promise != null || busy >= slots);
  }

  /** Whether a request for this target would have to. */
  boolean lacks(String target) {
    if (!taken() || !pool.knows(target) || !needed(target)) {
      return false;
    }
    Promise given = promise;
    if (given == null || given.adapter.equals(target)) {
      return busy >= slots && !resident(target);
    }
    return given.leaving.equals(target) || (busy + 1 >= slots && !resident(target));
  }

  /**
   * Requests in flight of the adapter that would give its slot up soonest to another; {@link
   * Integer#MAX_VALUE} where none is to, as another has that promise, or as its turn has just
   * begun.
   */
  int untilASlot(long now) {
    Slot leaving = leaving();
    return leaving == null || now - leaving.since < TURN ? Integer.MAX_VALUE : leaving.inFlight;
  }

  /** The one with the fewest requests in flight; of those with as many the one that began first. */
  private @Nullable Slot leaving() {
    Slot fewest = null;
    for (int i = 0; promise == null && i < count; i++) {
      Slot slot = resident.get(i);
      if (slot.inFlight > 0
          && pool.knows(slot.adapter)
          && (fewest == null
              || slot.inFlight < fewest.inFlight
              || (slot.inFlight == fewest.inFlight && slot.since - fewest.since < 0))) {
        fewest = slot;
      }
    }
    return fewest;
  }

  /**
   * Promises the next slot to an adapter, where {@link #untilASlot} has found one.
   *
   * @throws IllegalStateException if no adapter is there to give its slot up
   */
  Promise promise(String adapter) {
    Slot slot = leaving();
    if (slot == null) {
      throw new IllegalStateException("no adapter has a slot that it could give up");
    }
    Promise given = new Promise(adapter, slot.adapter);
    promise = given;
    pool.slotChanged();
    return given;
  }

  /** Whether the promise still stands: nobody has had the slot yet. */
  boolean isPromised(Promise given) {
    return promise == given;
  }

  /** Whether the slot is there, or another for the same adapter. */
  boolean isKept(Promise given) {
    return busy < slots || resident(given.adapter);
  }

  /** Nobody is sent there any more: whoever was promised a slot is to look elsewhere. */
  void promisesNothing() {
    if (promise != null) {
      promise = null;
      pool.slotChanged();
    }
  }

  /** Whoever the slot was promised for does not wait any more. */
  void takeBack(Promise given) {
    if (promise == given) {
      promise = null;
      pool.slotChanged();
    }
  }

  @Override
  public int slots() {
    return slots;
  }

  @Override
  public int loaded() {
    return Math.min(count, slots);
  }

  @Override
  public boolean needed(String targetModel) {
    if (slots == 0 || targetModel.isEmpty() || isBase(targetModel)) {
      return false;
    }
    return baseHash != 0 || !baseModel.isEmpty() || running(targetModel) || waiting(targetModel);
  }

  private boolean isBase(String model) {
    return model.hashCode() == baseHash && model.equals(baseModel);
  }

  @Override
  public boolean resident(String adapter) {
    return (names & bit(adapter)) != 0 && indexOf(resident, adapter) >= 0;
  }

  @Override
  public boolean running(String adapter) {
    return contains(running, adapter);
  }

  @Override
  public boolean waiting(String adapter) {
    return contains(waiting, adapter);
  }

  @Override
  public int reported() {
    return reported;
  }

  private int reportedNow() {
    int count = running.size();
    for (int i = 0; i < waiting.size(); i++) {
      if (!running.contains(waiting.get(i))) {
        count++;
      }
    }
    return count;
  }

  /**
   * Without an iterator: asked once per candidate. Texts keep their hashes, so that unlike names
   * are nearly always told apart by a number.
   */
  private static int indexOf(List<Slot> among, String name) {
    int hash = name.hashCode();
    for (int i = 0; i < among.size(); i++) {
      String other = among.get(i).adapter;
      if (other.hashCode() == hash && other.equals(name)) {
        return i;
      }
    }
    return -1;
  }

  private static boolean contains(List<String> names, String name) {
    int hash = name.hashCode();
    for (int i = 0; i < names.size(); i++) {
      String other = names.get(i);
      if (other.hashCode() == hash && other.equals(name)) {
        return true;
      }
    }
    return false;
  }
}
