package io.fairlead.epp.kvevents;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one engine in the order of their numbers: notices what is missing, has it
 * replayed, and says when what the engine holds is not known any more. Pure: does no I/O.
 *
 * <p>An engine counts its messages from 0. Who joins late asks for those of before; who misses some
 * asks for them, and keeps what comes meanwhile.
 */
final class EventSequence {

  /** Messages that are kept while earlier ones are replayed. */
  static final int MOST_KEPT = 4_096;

  /** Their bytes: the blocks of some million tokens. */
  static final long MOST_KEPT_BYTES = 8 << 20;

  private static final long UNKNOWN = -1;

  private final boolean replays;
  private final Effects effects;

  /** Number of the message that comes next; {@link #UNKNOWN} before the first. */
  private long expected = UNKNOWN;

  /** How many numbers from {@link #expected} on are those of messages that don't count. */
  private long passed;

  private double newest;
  private boolean whole;
  private boolean replaying;

  /** Whether it is to ask for what came before once it may. */
  private boolean waits;

  /** Whether the replay under way has brought anything that was missing. */
  private boolean helped;

  /** Whether there was no room for what the engine holds: messages are only counted. */
  private boolean aside;

  private final ArrayDeque<Message> kept = new ArrayDeque<>();
  private long keptBytes;

  /**
   * @param batch null where it can't be read
   */
  private record Message(long number, @Nullable EventBatch batch) {
    long bytes() {
      return batch == null ? 0 : batch.bytes();
    }
  }

  /** Who carries out what follows. */
  interface Effects {

    /** What the engine has told is taken in. */
    void apply(EventBatch batch);

    /** Another process is there, whose cache is empty. */
    void emptied();

    /** What the engine holds is not known any more. */
    void forgotten();

    /**
     * Messages from this number on are wanted.
     *
     * @return whether they are asked for now; if not, {@link #turn} is to be called when they can
     *     be
     */
    boolean replay(long from);

    void count(EventResult result);
  }

  /**
   * @param replays whether the engine can be asked for messages of before
   */
  EventSequence(boolean replays, Effects effects) {
    this.replays = replays;
    this.effects = effects;
  }

  /**
   * Whether everything that the engine holds has been told, without a gap, and not only the
   * beginning of what is replayed.
   */
  boolean isWhole() {
    return whole && !replaying;
  }

  /** Whether the engine has told anything on this connection. */
  boolean tells() {
    return expected != UNKNOWN;
  }

  /** Whether messages of before are being replayed. */
  boolean isReplaying() {
    return replaying;
  }

  /** It may ask for what came before: so far it has gone on without. */
  void turn() {
    if (waits && !whole && !replaying && !aside) {
      if (expected != UNKNOWN) {
        forget();
        expected = UNKNOWN;
      }
      var _ = ask(0);
    }
    waits = waits && !replaying && !whole && !aside;
  }

  /**
   * There is no room for what the engine holds: it is forgotten, and nothing is asked for until
   * {@link #relearn}. What comes is taken in as ever, whatever is missing before it: that the cache
   * is cleared counts.
   */
  void setAside() {
    aside = true;
    dropReplay();
    forget();
  }

  /** There is room again: what came before is asked for. */
  void relearn() {
    aside = false;
    if (replays) {
      expected = UNKNOWN;
      var _ = ask(0);
    }
  }

  /** The engine holds nothing: what comes from here on is all that there is to keep. */
  void cleared() {
    aside = false;
  }

  private void dropReplay() {
    replaying = false;
    waits = false;
    kept.clear();
    keptBytes = 0;
  }

  /** There is a connection: what came before it is asked for. */
  void connected() {
    if (expected == UNKNOWN && replays && !replaying && !aside) {
      var _ = ask(0);
    }
  }

  /** The connection is gone, and perhaps the engine with it; or it is none of the pool's. */
  void startOver() {
    dropReplay();
    if (expected != UNKNOWN) {
      forget();
      expected = UNKNOWN;
    }
  }

  /**
   * A message came.
   *
   * @param batch null where it can't be read
   */
  void came(long number, @Nullable EventBatch batch) {
    if (aside) {
      passed(number, batch);
    } else if (replaying) {
      keep(new Message(number, batch));
    } else if (expected == UNKNOWN) {
      first(number, batch);
    } else if (number == expected || number == expected + passed) {
      take(number, batch);
    } else if (number > expected) {
      effects.count(EventResult.GAP);
      missing(number, batch, expected);
    } else if (isOfAnother(batch)) {
      restarted();
      first(number, batch);
    } else {
      effects.count(EventResult.OUT_OF_ORDER);
    }
  }

  /**
   * A message came that does not count: where it is counted with those that do, it is not missing.
   * Where it is not, as a proxy of several engines has them, {@link #expected} is still to come.
   */
  void passOver(long number) {
    if (expected != UNKNOWN && number == expected + passed) {
      passed++;
    }
  }

  /** Nothing is kept of it, so nothing can be missing: only another engine counts. */
  private void passed(long number, @Nullable EventBatch batch) {
    boolean first = expected == UNKNOWN && number == 0;
    if (first || (number < expected && isOfAnother(batch))) {
      restarted();
      first(number, batch);
    } else if (number < expected) {
      effects.count(EventResult.OUT_OF_ORDER);
    } else {
      take(number, batch);
    }
  }

  /** An engine does not go back: one that counts anew is another one, and tells of later. */
  private boolean isOfAnother(@Nullable EventBatch batch) {
    return batch != null && batch.timestamp() > newest;
  }

  private void restarted() {
    effects.count(EventResult.RESTARTED);
    effects.emptied();
    expected = UNKNOWN;
    whole = false;
    aside = false;
  }

  private void first(long number, @Nullable EventBatch batch) {
    if (number == 0) {
      whole = true;
      take(number, batch);
    } else {
      missing(number, batch, 0);
    }
  }

  private void missing(long number, @Nullable EventBatch batch, long from) {
    if (replays && ask(from)) {
      Message first = new Message(number, batch);
      kept.add(first);
      keptBytes += first.bytes();
    } else {
      forget();
      take(number, batch);
    }
  }

  private boolean ask(long from) {
    replaying = effects.replay(from);
    waits = !replaying;
    helped = false;
    return replaying;
  }

  private void keep(Message message) {
    kept.add(message);
    keptBytes += message.bytes();
    if (kept.size() > MOST_KEPT || keptBytes > MOST_KEPT_BYTES) {
      replayEnded();
    }
  }

  /** A message of before came. */
  void replayed(long number, @Nullable EventBatch batch) {
    long next = Math.max(0, expected);
    if (!replaying || number < next) {
      return;
    }
    if (number > next && helped) {
      effects.count(EventResult.GAP); // the engine has dropped some that were not read in time
      askOn();
      return;
    }
    if (number > next) {
      forget(); // the engine does not have it any more
    } else if (expected == UNKNOWN) {
      whole = true;
    }
    helped = true;
    effects.count(EventResult.REPLAYED);
    take(number, batch);
  }

  /** For the rest of what a replay did not bring: each brings some, or is the last. */
  private void askOn() {
    if (!ask(Math.max(0, expected))) {
      settle();
    }
  }

  /** Nothing more has come of a replay for long. */
  void replayFellSilent() {
    if (replaying && helped) {
      askOn(); // that there is no more may be among what the engine has dropped
    } else {
      replayEnded();
    }
  }

  /** There is no more to be replayed, or nobody answers. */
  void replayEnded() {
    if (!replaying) {
      return;
    }
    replaying = false;
    settle();
  }

  /** Takes in what has come meanwhile, from where the replay ended or with a gap. */
  private void settle() {
    while (!kept.isEmpty()) {
      if (helped && kept.element().number > Math.max(0, expected)) {
        effects.count(EventResult.GAP); // one more, since that replay was asked for
        if (ask(Math.max(0, expected))) {
          return;
        }
      }
      Message next = kept.remove();
      keptBytes -= next.bytes();
      if (next.number < expected) {
        if (!isOfAnother(next.batch)) {
          continue; // the replay had it
        }
        restarted();
      }
      if (expected == UNKNOWN && next.number == 0) {
        whole = true;
      } else if (next.number > Math.max(0, expected)) {
        forget();
      }
      take(next.number, next.batch);
    }
  }

  /** The engine says that it has told of nothing so far. */
  void nothingToReplay() {
    if (replaying && expected == UNKNOWN && kept.isEmpty()) {
      replaying = false;
      whole = true;
      expected = 0;
      passed = 0;
    } else {
      replayEnded();
    }
  }

  private void take(long number, @Nullable EventBatch batch) {
    expected = number + 1;
    passed = 0;
    if (batch == null) {
      if (!aside) {
        forget(); // whatever it told is missing from here on
      }
      return;
    }
    newest = Math.max(newest, batch.timestamp());
    effects.apply(batch);
  }

  private void forget() {
    whole = false;
    effects.count(EventResult.FORGOTTEN);
    effects.forgotten();
  }
}
