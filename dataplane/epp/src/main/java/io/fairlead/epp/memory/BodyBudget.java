package io.fairlead.epp.memory;

import io.fairlead.epp.openai.BadRequestException;
import io.fairlead.epp.openai.ErrorCodes;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;

/**
 * How many bytes of request bodies the process may hold at a time, over all frontends, and of
 * requests' heads beside them.
 *
 * <p>An eighth is for beginnings, which are all of a body of at most {@link #BEGINNING} bytes, an
 * eighth for bodies of at most {@link #SMALL} bytes, the rest for longer ones. Who has a beginning
 * may wait for some of the other two, who has a small body's room for some of the rest, and never
 * the other way round. Who claims of the rest claims all that its body can become and then needs
 * nothing more, so it ends, and its bytes come back. So there is always one that can finish, a few
 * large bodies keep no small one waiting, and whoever brings nothing holds no more than a
 * beginning.
 *
 * <p>Safe to use from any thread.
 */
public final class BodyBudget {

  /** When to come again who found no room. */
  static final int RETRY_SECONDS = 1;

  /** Bytes that a body claims before any of it is here. */
  public static final int BEGINNING = 16 << 10;

  /** Longest body that counts as small. */
  public static final int SMALL = 256 << 10;

  /** How long a request may wait for room when nothing else is said. */
  public static final Duration DEFAULT_PATIENCE = Duration.ofSeconds(10);

  /** What proxies have sent ahead of those in line lies in their connections' buffers. */
  private static final int LONGEST_LINE = 256;

  private static final long SMALLEST = 4L * SMALL;

  private static final int PAGE = 8 << 10;

  /** What pages of bodies are cut from, 2^9 of the smallest. */
  static final int CHUNK = 4 << 20;

  private static final int ORDER = Integer.numberOfTrailingZeros(CHUNK / PAGE);

  private static final int CACHED_SMALL = 64;
  private static final int CACHED_LARGE = 16;

  /** An array for each body would fill the heap with garbage many times a second. */
  private static final ByteBufAllocator PAGES =
      new PooledByteBufAllocator(
          false,
          Runtime.getRuntime().availableProcessors(),
          0,
          PAGE,
          ORDER,
          CACHED_SMALL,
          CACHED_LARGE,
          false);

  /**
   * Bytes of a head that is taken also where others have all the room: nobody with few headers is
   * refused for those with many.
   */
  private static final int SHORT_HEAD = 16 << 10;

  private final Share beginnings;
  private final Share small;
  private final Share large;
  private final Share heads;
  private final long patienceNanos;
  private final LongAdder waits = new LongAdder();
  private final LongAdder refusals = new LongAdder();

  /**
   * Nothing in use yet.
   *
   * @param bytes of bodies, at least 1 MiB; heads may have a quarter of that beside them
   * @param patience how long a request waits for room before it is refused; above 0
   */
  public BodyBudget(long bytes, Duration patience) {
    if (bytes < SMALLEST) {
      throw new IllegalArgumentException(
          "the budget for request bodies is " + bytes + " bytes; set at least " + SMALLEST);
    }
    if (patience.isNegative() || patience.isZero()) {
      throw new IllegalArgumentException("patience: " + patience + " is not above 0");
    }
    beginnings = new Share(bytes / 8, LONGEST_LINE);
    small = new Share(Math.max(SMALL, bytes / 8), LONGEST_LINE);
    large = new Share(bytes - bytes / 4, LONGEST_LINE);
    heads = new Share(bytes / 4, 0);
    patienceNanos = patience.toNanos();
  }

  /**
   * Two fifths of the heap, and a tenth for heads: the index of prompts takes a quarter, and
   * garbage needs the rest.
   */
  public static BodyBudget ofHeap() {
    return new BodyBudget(bytesOfHeap(), DEFAULT_PATIENCE);
  }

  /** Bytes of {@link #ofHeap}. */
  public static long bytesOfHeap() {
    return Math.max(SMALLEST, Runtime.getRuntime().maxMemory() / 5 * 2);
  }

  /** Where bodies' pages are from: buffers on the heap, used again once released. */
  ByteBufAllocator pages() {
    return PAGES;
  }

  /**
   * Charges a request's head, or its trailers, that are in memory until it is over.
   *
   * @throws BadRequestException 429 if there is no room for so many bytes; nothing is charged then
   */
  public void takeHead(long bytes) throws BadRequestException {
    if (bytes <= SHORT_HEAD) {
      heads.force(bytes);
    } else if (!heads.take(bytes)) {
      refused();
      throw new BadRequestException(
          429,
          ErrorCodes.BODY_MEMORY_FULL,
          "There is no memory for the headers now; send fewer or shorter ones, or try again.",
          RETRY_SECONDS);
    }
  }

  /** Gives back what was charged for heads. */
  public void giveHead(long bytes) {
    heads.give(bytes);
  }

  /** Bytes of heads in use now. */
  public long usedByHeads() {
    return heads.used();
  }

  /** Bytes of heads that may be in use, but for short ones. */
  public long limitOfHeads() {
    return heads.limit();
  }

  /** Bytes that may be in use. */
  public long limit() {
    return beginnings.limit() + small.limit() + large.limit();
  }

  /** Bytes in use now. */
  public long used() {
    return beginnings.used() + small.used() + large.used();
  }

  /** Requests that wait for room now. */
  public int waiting() {
    return beginnings.waiting() + small.waiting() + large.waiting();
  }

  /** Requests that had to wait for room so far. */
  public long waits() {
    return waits.sum();
  }

  /** Requests refused because there was no room for them. */
  public long refusals() {
    return refusals.sum();
  }

  /** The part that a body of so many bytes is charged to. */
  Share shareFor(long bytes) {
    if (bytes <= BEGINNING) {
      return beginnings;
    }
    return bytes <= SMALL ? small : large;
  }

  /** Longest body that there can ever be room for. */
  long largest() {
    return large.limit();
  }

  long patienceNanos() {
    return patienceNanos;
  }

  void waited() {
    waits.increment();
  }

  void refused() {
    refusals.increment();
  }
}
