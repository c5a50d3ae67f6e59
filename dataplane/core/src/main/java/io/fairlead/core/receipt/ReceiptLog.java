package io.fairlead.core.receipt;

import io.fairlead.core.RequestFacts;
import io.fairlead.crds.config.ReceiptsConfig;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The newest receipts: what is of one size in objects that are used again and again, the rest in a
 * ring of words. So keeping them leaves nothing to collect, and takes memory only while they fill
 * for the first time. Owned by the pool's loop; what it hands out never changes.
 */
public final class ReceiptLog {

  /** Of the bytes, one in so many is for receipts themselves, and the rest for the ring. */
  private static final int OWN_SHARE = 4;

  /** Of the bytes, one in so many is for contexts that are in use no more. */
  private static final int CONTEXT_SHARE = 8;

  /** That a receipt takes itself, about. */
  private static final int RECEIPT_BYTES = 256;

  private final int mostReceipts;
  private final ReceiptRing ring;
  private final Vocabulary vocabulary = new Vocabulary();
  private final DecisionContexts contexts;
  private final DecisionWriter writer;

  /**
   * The newest is at {@code opened - 1}, modulo their number; null where none was written yet. One
   * more than are kept: the next one is nobody's, and is cleared while the one before it is
   * decided, which fetches its memory.
   */
  private @Nullable Receipt[] receipts = {};

  private long opened;

  /** So many are not kept any more of those that were opened first, or more of them. */
  private long gone;

  /** So many more had been opened, but for those that an edit of how many are kept has dropped. */
  private long dropped;

  private int every = 1;
  private long arrived;

  /**
   * A log that keeps nothing until it is told to.
   *
   * @param maxBytes that receipts may take together, with what is kept for them alone: in a large
   *     pool that is the bound; 0 to keep none
   */
  public ReceiptLog(long maxBytes) {
    long own = maxBytes / OWN_SHARE;
    mostReceipts = (int) Math.min(Integer.MAX_VALUE, own / RECEIPT_BYTES);
    contexts = new DecisionContexts(maxBytes / CONTEXT_SHARE);
    ring = new ReceiptRing(maxBytes - own - maxBytes / CONTEXT_SHARE);
    writer = new DecisionWriter(ring, vocabulary, contexts);
  }

  /** Sets how many are kept from now on: the newest of those that there are stay. */
  public void configure(ReceiptsConfig wanted) {
    every = wanted.every();
    int keep = Math.min(wanted.keep(), mostReceipts);
    if (keep == most()) {
      return;
    }
    @Nullable Receipt[] kept = new @Nullable Receipt[keep == 0 ? 0 : keep + 1];
    int there = (int) Math.min(opened, Math.min(keep, most()));
    for (int age = 1; age <= there; age++) {
      kept[there - age] = receipt(age);
    }
    receipts = kept;
    dropped += opened - there;
    opened = there;
    gone = 0;
    release();
  }

  /** How many are kept at most. */
  private int most() {
    return Math.max(0, receipts.length - 1);
  }

  private Receipt at(long number) {
    int at = (int) (number % receipts.length);
    Receipt receipt = receipts[at];
    if (receipt == null) {
      receipt = new Receipt(ring, contexts);
      receipts[at] = receipt;
    }
    return receipt;
  }

  /** The one that was opened so many ago, 1 for the newest. */
  private @Nullable Receipt receipt(int age) {
    return receipts[(int) ((opened - age) % receipts.length)];
  }

  /** A request came: its receipt, or null if it gets none. */
  public @Nullable Receipt open(long now, long ticket, RequestFacts facts) {
    if (receipts.length == 0 || arrived++ % every != 0) {
      return null;
    }
    Receipt receipt = at(opened++);
    receipt.begin(now, ticket, facts);
    at(opened).clear();
    release();
    return receipt;
  }

  /** Passes by those that are not kept any more, and gives up what was kept for them alone. */
  private void release() {
    gone = Math.max(gone, opened - most());
    Receipt oldest = oldest();
    while (oldest != null && !oldest.isWhole()) {
      gone++;
      oldest = oldest();
    }
    contexts.release(oldest == null ? Long.MAX_VALUE : oldest.oldestContext());
  }

  /** The one after those that are gone; null where there is none. */
  private @Nullable Receipt oldest() {
    return gone == opened ? null : receipt((int) (opened - gone));
  }

  /** Writes the next decision of a request that has a receipt. */
  public DecisionWriter writer() {
    return writer;
  }

  /**
   * Why a request that was just sent went where it did, in a line for its client; null where it is
   * not kept any more when that request arrived.
   */
  public @Nullable String brief(Receipt receipt) {
    return receipt.isWhole() ? DecisionBrief.of(receipt.lastDecision(vocabulary.known())) : null;
  }

  /** One by its number, which stays; null where it is not kept, or not any more. */
  @Nullable Receipt numbered(long number) {
    long age = opened + dropped - number;
    if (age < 1 || age > Math.min(opened, most())) {
      return null;
    }
    Receipt receipt = receipt((int) age);
    return receipt != null && receipt.isWhole() ? receipt : null;
  }

  /**
   * Looks for all requests of this name, to tell what was decided of one of them; it has found
   * nothing for the others.
   *
   * @param nth of them, from 1 for the newest
   */
  public ReceiptSearch<Optional<KeptRequest>> named(String id, int nth) {
    int[] found = new int[1];
    return search(
        receipt -> receipt.isNamed(id),
        each -> ++found[0] == nth ? Optional.of(each.kept(vocabulary.known())) : Optional.empty(),
        Integer.MAX_VALUE);
  }

  /**
   * Looks for the newest requests that are asked for, to tell of them in brief.
   *
   * @param most how many
   */
  public ReceiptSearch<DecidedRequest> accepted(ReceiptFilter wanted, int most) {
    return search(receipt -> receipt.isAccepted(wanted), Receipt::inBrief, most);
  }

  private <T> ReceiptSearch<T> search(
      Predicate<Receipt> wanted, Function<Receipt, T> read, int most) {
    return new ReceiptSearch<>(this, wanted, read, most, opened + dropped - 1);
  }

  /** What was decided of the newest request of this name; null if that isn't kept. */
  public @Nullable KeptRequest find(String id) {
    List<Optional<KeptRequest>> found = named(id, 1).all();
    return found.isEmpty() ? null : found.getFirst().orElse(null);
  }

  /**
   * The newest requests that are asked for, newest first, in brief.
   *
   * @param most how many
   */
  public List<DecidedRequest> newest(ReceiptFilter wanted, int most) {
    return accepted(wanted, most).all();
  }

  /** How many receipts are kept: the newest, as far as the ring holds their words. */
  public int size() {
    release();
    return (int) (opened - gone);
  }

  /**
   * Which requests have receipts.
   *
   * @param count how many are kept
   * @param most how many are kept at most
   * @param every one in so many requests has one
   * @param oldestAt when the oldest of them arrived, in nanoseconds of the pool's clock; of no
   *     meaning where there is none
   */
  public record Kept(int count, int most, int every, long oldestAt) {}

  /** Which requests have receipts now. */
  public Kept kept() {
    int count = size();
    Receipt oldest = oldest();
    return new Kept(count, most(), every, oldest == null ? 0 : oldest.arrivedAt());
  }

  /** Bytes that they take, and what is kept for them alone, about. */
  public long bytes() {
    return ring.bytes() + contexts.bytes() + Math.min(opened, most()) * RECEIPT_BYTES;
  }
}
