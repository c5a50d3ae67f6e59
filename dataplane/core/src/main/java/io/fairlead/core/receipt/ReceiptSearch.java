package io.fairlead.core.receipt;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Looks for receipts, the newest first and a bounded piece at a time: between two pieces requests
 * are decided. Those that come meanwhile are not found, nor those that are not kept any more when
 * it is their turn. Owned by the pool's loop.
 */
public final class ReceiptSearch<T> {

  /** Receipts in one piece: to tell of so many in brief takes some tenths of a millisecond. */
  public static final int PIECE = 256;

  private final ReceiptLog log;
  private final Predicate<Receipt> wanted;
  private final Function<Receipt, T> read;
  private final int most;
  private final List<T> found = new ArrayList<>();

  /** Number of the next one. */
  private long next;

  ReceiptSearch(
      ReceiptLog log, Predicate<Receipt> wanted, Function<Receipt, T> read, int most, long newest) {
    this.log = log;
    this.wanted = wanted;
    this.read = read;
    this.most = most;
    this.next = newest;
  }

  /** Looks at the next piece; false when there is no more to be looked at. */
  public boolean next() {
    for (int looked = 0; looked < PIECE && found.size() < most; looked++) {
      Receipt receipt = log.numbered(next--);
      if (receipt == null) {
        return false;
      }
      if (wanted.test(receipt)) {
        found.add(read.apply(receipt));
      }
    }
    return found.size() < most;
  }

  /** What was found so far, newest first. */
  public List<T> found() {
    return found;
  }

  /** Looks at all at once. */
  List<T> all() {
    while (next()) {
      // the next piece
    }
    return found;
  }
}
