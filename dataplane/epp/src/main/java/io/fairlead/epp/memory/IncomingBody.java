package io.fairlead.epp.memory;

import com.google.protobuf.ByteString;
import io.fairlead.epp.openai.BadRequestException;
import io.fairlead.epp.openai.BodyBytes;
import io.fairlead.epp.openai.ErrorCodes;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A request's body: its bytes, and what they are charged to the {@link BodyBudget}. Not
 * thread-safe: on its frontend's loop, where its owner is called, too.
 *
 * <p>Before its first byte is read a body claims no more than a beginning: else whoever announces
 * much and sends nothing could hold all that there is. When it outgrows that it claims all that it
 * says it is. One that doesn't say claims a small body's room, and when it outgrows that, the
 * longest that a body can be. While a claim waits, nothing more is to be read.
 *
 * <p>A claim is for a minute. A body that comes more slowly than that keeps its room for as long as
 * nobody waits for some: else a few slow senders could hold all that there is for hours.
 */
public final class IncomingBody {

  /** Told what became of a wait; never when there was none. */
  public interface Owner {

    /** There is room: read on. */
    void roomMade();

    /** There was none in time; the body is released. */
    void roomRefused(BadRequestException why);

    /** It came too slowly while others waited for its room; the body is released. */
    void tooSlow(BadRequestException why);
  }

  /** What came of a claim. */
  public enum Room {
    THERE,
    /** The owner hears of it. */
    AWAITED
  }

  /** In which a body has to bring all that it claims while others wait, at an even pace. */
  private static final long CLAIM_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** Before that nobody's pace is judged. */
  private static final long FIRST_LOOK_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** From one look to the next: well within the patience of those in line. */
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final BodyBudget budget;
  private final EventExecutor loop;
  private final Owner owner;
  private final int limit;
  private final long announced;

  private HeldBytes held;
  private @Nullable Share share;
  private long charged;
  private @Nullable Claim claim;
  private @Nullable Future<?> patience;

  /** Whether nothing of it is seen before all of it is here. */
  private boolean atOnce;

  /** Whether what is charged was claimed for all that it can become. */
  private boolean all;

  /** Whether nothing more comes. */
  private boolean ended;

  /** When what is charged was claimed. */
  private long since;

  /** The next look at its pace. */
  private @Nullable Future<?> nextLook;

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
    held = new HeldBytes(budget.pages());
  }

  /**
   * Claims room; before anything is read.
   *
   * @throws BadRequestException 429 if there is too little of it, and no waiting would help
   */
  public Room open() throws BadRequestException {
    if (announced > budget.largest()) {
      throw tooLittle(announced);
    }
    return claim(Math.min(longest(), BodyBudget.BEGINNING));
  }

  /**
   * The same for a body that comes in one message, which is in memory before it can be charged: one
   * that doesn't say how long it is claims the longest that it can be.
   *
   * @throws BadRequestException 429 if there is too little of it, and no waiting would help
   */
  public Room openAtOnce() throws BadRequestException {
    atOnce = true;
    return claim(longest());
  }

  /** The most that it can become. */
  private long longest() {
    return announced < 0 ? Math.min(limit, budget.largest()) : announced;
  }

  /** What one read brought has been added: from now on more is waited for. */
  public void settle() {
    if (nextLook == null && share != null && !ended) {
      lookIn(firstLook());
    }
  }

  /** Whether so many more bytes are within the limit. */
  public boolean allows(int more) {
    return more <= limit - length();
  }

  /**
   * Adds a piece that is {@link #allows allowed}.
   *
   * @param last whether it is the whole now
   * @return whether there is room for more of it, or for all of it where it is the whole
   * @throws BadRequestException 429 if there is too little of it, and no waiting would help; 408 if
   *     it comes too slowly while others wait for room
   */
  public Room add(ByteBuf piece, boolean last) throws BadRequestException {
    int more = piece.readableBytes();
    admit(more);
    if (announced >= more && more > 0) {
      held.expect((int) Math.min(announced, Math.max(more, charged)));
    }
    held.copy(piece, charged);
    return added(last);
  }

  /** The same of a message's bytes, whose arrays must not change. */
  public Room add(ByteString piece, boolean last) throws BadRequestException {
    admit(piece.size());
    held.keep(piece, last || length() + piece.size() == announced, charged);
    return added(last);
  }

  /** Refuses what there can never be room for. */
  private void admit(int more) throws BadRequestException {
    long wanted = length() + (long) more;
    if (wanted > budget.largest()) {
      throw tooLittle(wanted);
    }
  }

  private Room added(boolean last) throws BadRequestException {
    long claimed = charged;
    boolean outgrown = length() >= claimed || held.held() > claimed;
    Share from = share;
    if (from != null && held.held() > charged) {
      // The piece that outgrew the claim is here, and is counted.
      from.force(held.held() - charged);
      charged = held.held();
    }
    if (last && (all || length() <= claimed)) {
      end();
      return Room.THERE;
    }
    ended = last;
    if (claim != null) {
      return Room.AWAITED; // it was under way before its sender was held back
    }
    if (last) {
      return claim(Math.min(held.held(), budget.largest()));
    }
    if (isTooSlow()) {
      throw slow();
    }
    return outgrown && !all ? claim(next()) : Room.THERE;
  }

  /** What it claims when it has outgrown what is charged. */
  private long next() {
    boolean small = announced < 0 && held.held() < BodyBudget.SMALL;
    return small ? Math.min(longest(), BodyBudget.SMALL) : longest();
  }

  /** Nothing more comes: what was claimed beyond goes back. */
  public void end() {
    ended = true;
    withdraw();
    stopLooking();
    Share from = share;
    if (from != null && charged > held.held()) {
      from.give(charged - held.held());
      charged = held.held();
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
    all = wanted >= longest();
    since = loop.ticker().nanoTime();
    stopLooking();
    if (before != null) {
      before.give(heldBefore);
      settle();
    }
  }

  private long firstLook() {
    return atOnce ? CLAIM_NANOS : FIRST_LOOK_NANOS;
  }

  private void lookIn(long nanos) {
    nextLook = loop.schedule(this::look, nanos, TimeUnit.NANOSECONDS);
  }

  private void look() {
    nextLook = null;
    if (isTooSlow()) {
      owner.tooSlow(slow());
    } else {
      lookIn(LOOK_NANOS);
    }
  }

  private void stopLooking() {
    if (nextLook != null) {
      nextLook.cancel(false);
      nextLook = null;
    }
  }

  /** Whether it is behind the pace of its claim, and somebody waits for what it holds. */
  private boolean isTooSlow() {
    Share from = share;
    if (from == null || from.waiting() == 0 || claim != null) {
      return false;
    }
    long age = loop.ticker().nanoTime() - since;
    return age >= firstLook() && length() < (double) charged * age / CLAIM_NANOS;
  }

  private BadRequestException slow() {
    release();
    return new BadRequestException(
        408,
        ErrorCodes.REQUEST_TIMEOUT,
        "The request's body comes too slowly while others wait for memory; send it within %d s."
            .formatted(TimeUnit.NANOSECONDS.toSeconds(CLAIM_NANOS)));
  }

  private void granted() {
    Claim waited = claim;
    if (waited != null) {
      stopWaiting();
      hold(waited.share(), waited.bytes());
      if (ended) {
        end();
      }
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
    return new BadRequestException(
        429, ErrorCodes.BODY_MEMORY_FULL, message, BodyBudget.RETRY_SECONDS);
  }

  /** What has come. */
  public BodyBytes bytes() {
    return held.bytes();
  }

  /** Bytes that have come. */
  public int length() {
    return held.length();
  }

  /** A message's bytes are somewhere else now, where they take as much: they stay charged. */
  public void handOver() {
    held = new HeldBytes(budget.pages());
  }

  /** Nobody needs it any more: gives back what it was charged. Once more is no harm. */
  public void release() {
    held.release();
    handOver();
    withdraw();
    stopLooking();
    Share from = share;
    share = null;
    if (from != null) {
      from.give(charged);
      charged = 0;
    }
  }

  /** Leaves the line. */
  private void withdraw() {
    Claim waited = claim;
    if (waited != null) {
      stopWaiting();
      if (!waited.share().withdraw(waited)) {
        waited.share().give(waited.bytes()); // granted, and not heard of yet
      }
    }
  }
}
