package io.fairlead.epp.memory;

import com.google.protobuf.ByteString;
import io.fairlead.epp.openai.BadRequestException;
import io.fairlead.epp.openai.ErrorCodes;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A request's body: its bytes in one array, and what they are charged to the {@link BodyBudget}.
 * Not thread-safe: on its frontend's loop, where its owner is called, too.
 *
 * <p>A body that says how long it is claims all of that before its first byte is read. One that
 * doesn't begins as a small one, and claims the longest that a body can be when it outgrows that.
 * While a claim waits, nothing more is to be read.
 */
public final class IncomingBody {

  /** Told what became of a wait; never when there was none. */
  public interface Owner {

    /** There is room: read on. */
    void roomMade();

    /** There was none in time; the body is released. */
    void roomRefused(BadRequestException why);
  }

  /** What came of a claim. */
  public enum Room {
    THERE,
    /** The owner hears of it. */
    AWAITED
  }

  private static final int RETRY_SECONDS = 1;
  private static final int INITIAL = 4096;
  private static final byte[] NOTHING = {};

  private final BodyBudget budget;
  private final EventExecutor loop;
  private final Owner owner;
  private final int limit;
  private final long announced;

  private byte[] bytes = NOTHING;
  private int length;
  private @Nullable Share share;
  private long charged;
  private @Nullable Claim claim;
  private @Nullable Future<?> patience;

  /**
   * A body of which nothing has come.
   *
   * @param announced its length in bytes, at most {@code limit}; -1 where it isn't told
   * @param limit longest that it may become
   */
  public IncomingBody(
      BodyBudget budget, EventExecutor loop, long announced, int limit, Owner owner) {
    this.budget = budget;
    this.loop = loop;
    this.announced = announced;
    this.limit = limit;
    this.owner = owner;
  }

  /**
   * Claims room; before anything is read.
   *
   * @throws BadRequestException 429 if there is too little of it, and no waiting would help
   */
  public Room open() throws BadRequestException {
    return claim(announced < 0 ? Math.min(limit, BodyBudget.SMALL) : announced);
  }

  /** Whether so many more bytes are within the limit. */
  public boolean allows(int more) {
    return more <= limit - length;
  }

  /**
   * Adds a piece that is {@link #allows allowed}.
   *
   * @param last whether it is the whole now
   * @return whether there is room for more of it
   * @throws BadRequestException 429 if there is too little of it, and no waiting would help
   */
  public Room add(ByteBuf piece, boolean last) throws BadRequestException {
    int more = piece.readableBytes();
    grow(more);
    piece.readBytes(bytes, length, more);
    return added(more, last);
  }

  /** The same of a message's bytes. */
  public Room add(ByteString piece, boolean last) throws BadRequestException {
    int more = piece.size();
    grow(more);
    piece.copyTo(bytes, length);
    return added(more, last);
  }

  private void grow(int more) throws BadRequestException {
    if (more <= bytes.length - length) {
      return;
    }
    if (length + more > budget.largest()) {
      throw tooLittle(length + more);
    }
    if (length == 0 && announced >= more) {
      bytes = new byte[(int) announced];
      return;
    }
    long doubled = Math.min(limit, Math.max(INITIAL, bytes.length * 2L));
    bytes = Arrays.copyOf(bytes, (int) Math.max(Math.min(doubled, charged), length + more));
  }

  private Room added(int more, boolean last) throws BadRequestException {
    length += more;
    Share from = share;
    if (from != null && bytes.length > charged) {
      // The piece that outgrew the claim is here, and is counted; only more of it can wait.
      from.force(bytes.length - charged);
      charged = bytes.length;
    }
    if (last) {
      settle();
      return Room.THERE;
    }
    boolean outgrown = announced < 0 && share == budget.shareFor(0) && length >= charged;
    return outgrown && length < limit ? claim(Math.min(limit, budget.largest())) : Room.THERE;
  }

  /** The length is known now: what was claimed beyond goes back. */
  private void settle() {
    Share from = share;
    if (from != null && charged > bytes.length) {
      from.give(charged - bytes.length);
      charged = bytes.length;
    }
  }

  private Room claim(long wanted) throws BadRequestException {
    if (wanted == 0) {
      return Room.THERE; // not even in line
    }
    Share from = budget.shareFor(wanted);
    if (wanted > from.limit()) {
      throw tooLittle(wanted);
    }
    if (from.take(wanted)) {
      hold(from, wanted);
      return Room.THERE;
    }
    Claim waiting = new Claim(from, wanted, loop, this::granted);
    claim = waiting;
    if (!from.queue(waiting)) {
      claim = null;
      throw refused("There is no memory for the body now, and many wait for some; try again.");
    }
    budget.waited();
    patience = loop.schedule(this::giveUp, budget.patienceNanos(), TimeUnit.NANOSECONDS);
    return Room.AWAITED;
  }

  /** In place of what was held before. */
  private void hold(Share from, long wanted) {
    Share before = share;
    long heldBefore = charged;
    share = from;
    charged = wanted;
    if (before != null) {
      before.give(heldBefore);
    }
  }

  private void granted() {
    Claim waited = claim;
    if (waited != null) {
      stopWaiting();
      hold(waited.share(), waited.bytes());
      owner.roomMade();
    }
  }

  private void giveUp() {
    Claim waited = claim;
    if (waited != null && waited.share().withdraw(waited)) {
      stopWaiting();
      owner.roomRefused(refused("There was no memory for the body in time; try again."));
    }
  }

  private void stopWaiting() {
    claim = null;
    if (patience != null) {
      patience.cancel(false);
      patience = null;
    }
  }

  private BadRequestException tooLittle(long wanted) {
    return refused(
        "The body needs %d bytes of memory, and no body gets more than %d; send a shorter one."
            .formatted(wanted, budget.largest()));
  }

  private BadRequestException refused(String message) {
    budget.refused();
    release();
    return new BadRequestException(429, ErrorCodes.BODY_MEMORY_FULL, message, RETRY_SECONDS);
  }

  /** What has come, from the first byte on; only {@link #length} of it counts. */
  public byte[] bytes() {
    return bytes;
  }

  /** Bytes that have come. */
  public int length() {
    return length;
  }

  /** Nobody needs it any more: gives back what it was charged. Once more is no harm. */
  public void release() {
    bytes = NOTHING;
    length = 0;
    Claim waited = claim;
    if (waited != null) {
      stopWaiting();
      if (!waited.share().withdraw(waited)) {
        waited.share().give(waited.bytes()); // granted, and not heard of yet
      }
    }
    Share from = share;
    share = null;
    if (from != null) {
      from.give(charged);
      charged = 0;
    }
  }
}
