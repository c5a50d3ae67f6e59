package io.fairlead.core.receipt;

import io.fairlead.core.RequestFacts;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The newest receipts. Owned by the pool's loop; what it hands out never changes. */
public final class ReceiptLog {

  private final ReceiptLimits limits;
  private final ArrayDeque<Receipt> receipts;
  private final DecisionWriter writer = new DecisionWriter();
  private long bytes;
  private long arrived;

  /** A log without receipts. */
  public ReceiptLog(ReceiptLimits limits) {
    this.limits = limits;
    receipts = new ArrayDeque<>(Math.min(limits.most(), 1_024));
  }

  /** A request came: its receipt, or null if it gets none. */
  public @Nullable Receipt open(long now, long ticket, RequestFacts facts) {
    if (limits.most() == 0 || arrived++ % limits.every() != 0) {
      return null;
    }
    Receipt receipt = new Receipt(this, now, ticket, facts);
    receipts.addLast(receipt);
    grew(receipt.bytes());
    return receipt;
  }

  /** Writes the next decision of a request that has a receipt. */
  public DecisionWriter writer() {
    return writer;
  }

  void grew(long more) {
    bytes += more;
    while (receipts.size() > limits.most() || (bytes > limits.bytes() && receipts.size() > 1)) {
      Receipt oldest = receipts.removeFirst();
      oldest.forget();
      bytes -= oldest.bytes();
    }
  }

  /** What was decided of the newest request of this name; null if that isn't kept. */
  public @Nullable DecidedRequest find(String id) {
    Iterator<Receipt> newestFirst = receipts.descendingIterator();
    while (newestFirst.hasNext()) {
      Receipt receipt = newestFirst.next();
      if (receipt.id().equals(id)) {
        return receipt.snapshot();
      }
    }
    return null;
  }

  /**
   * The newest requests that are wanted, newest first.
   *
   * @param most how many
   */
  public List<DecidedRequest> newest(Predicate<DecidedRequest> wanted, int most) {
    List<DecidedRequest> found = new ArrayList<>();
    Iterator<Receipt> newestFirst = receipts.descendingIterator();
    while (newestFirst.hasNext() && found.size() < most) {
      DecidedRequest request = newestFirst.next().snapshot();
      if (wanted.test(request)) {
        found.add(request);
      }
    }
    return found;
  }

  /** How many receipts are kept. */
  public int size() {
    return receipts.size();
  }

  /** Bytes that they take, about. */
  public long bytes() {
    return bytes;
  }
}
