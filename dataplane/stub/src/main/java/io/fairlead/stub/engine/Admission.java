package io.fairlead.stub.engine;

import org.jspecify.annotations.Nullable;

/**
 * Who may join the batch: first come, first served, while seats, budget and blocks for the whole
 * prompt last. As in vLLM, a request is passed over only for its adapter: when running requests
 * hold every slot with others.
 *
 * <p>Two notes spare a long queue from being looked through again in every step. Requests passed
 * over stay so until a slot may have come open. And a request that lacked some number of free
 * blocks can't do with less until as many were released, or a further block of its prompt became
 * known: everything else that changes the cache only makes its need larger.
 */
final class Admission {

  private final EngineProfile profile;
  private final BlockPool pool;
  private final AdapterSlots slots;
  private final WaitingQueue queue = new WaitingQueue();

  private Sequence passedOver = queue.end();
  private long passedOverAt;

  private int deferred;

  /** The step under way, and how many of those that came during it wait. */
  private long step;

  private int arrived;

  private Sequence lacking = queue.end();
  private int lackingMatched;
  private long lackingUntilReleased;

  Admission(EngineProfile profile, BlockPool pool, AdapterSlots slots) {
    this.profile = profile;
    this.pool = pool;
    this.slots = slots;
  }

  int waiting() {
    return queue.size();
  }

  /** A step begins; until the next one does, nobody is admitted. */
  void begin(long step) {
    this.step = step;
    arrived = 0;
  }

  /** Those in the queue that the step under way has left there. */
  int leftWaiting() {
    return queue.size() - arrived;
  }

  /** Those of {@link #leftWaiting} that were ever passed over for their adapter. */
  int deferred() {
    return deferred;
  }

  void add(Sequence sequence) {
    sequence.arrivedDuring = step;
    arrived++;
    queue.addLast(sequence);
  }

  /** A preempted request comes before all others. */
  void putBack(Sequence sequence) {
    queue.addFirst(sequence);
    passedOver = queue.end();
  }

  void cancel(Sequence sequence) {
    if (sequence.arrivedDuring == step) {
      arrived--;
    }
    leave(sequence);
    slots.givenUp(sequence.adapter);
  }

  void clear() {
    queue.clear();
    arrived = 0;
    deferred = 0;
    passedOver = queue.end();
    lacking = queue.end();
  }

  /**
   * The next request to admit, out of the queue and with all of its blocks taken; null if there is
   * none for now.
   */
  @Nullable Sequence next() {
    Sequence sequence = firstAdmissible();
    if (sequence == queue.end() || lacksBlocks(sequence)) {
      return null;
    }
    int cached = sequence.match(pool, profile.blockTokens());
    int needed = Math.ceilDiv(sequence.tokens(), profile.blockTokens());
    int lack = needed - cached + sequence.unreferenced(pool, cached) - pool.free();
    if (lack > 0) {
      lacking = sequence;
      lackingMatched = cached;
      lackingUntilReleased = pool.released() + lack;
      return null;
    }
    leave(sequence);
    slots.admitted(sequence.adapter);
    sequence.take(pool, cached, needed);
    sequence.computed = cached * profile.blockTokens();
    return sequence;
  }

  private Sequence firstAdmissible() {
    if (passedOverAt != slots.openings()) {
      passedOver = queue.end();
      passedOverAt = slots.openings();
    }
    Sequence sequence = passedOver.after;
    while (sequence != queue.end() && !slots.admits(sequence.adapter)) {
      passedOver = sequence;
      deferred += sequence.deferred ? 0 : 1;
      sequence.deferred = true;
      sequence = sequence.after;
    }
    return sequence;
  }

  private boolean lacksBlocks(Sequence sequence) {
    return sequence == lacking
        && pool.released() < lackingUntilReleased
        && (lackingMatched == sequence.shareable(profile.blockTokens())
            || !sequence.knownTo(pool, lackingMatched));
  }

  private void leave(Sequence sequence) {
    deferred -= sequence.deferred ? 1 : 0;
    sequence.deferred = false;
    if (sequence == passedOver) {
      passedOver = sequence.before;
    }
    if (sequence == lacking) {
      lacking = queue.end();
    }
    queue.remove(sequence);
  }
}
