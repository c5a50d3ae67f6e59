package io.fairlead.core.receipt;

/**
 * How many receipts are kept.
 *
 * @param most receipts; 0 for none
 * @param bytes that they may take together, as far as they are the receipts' own: in a large pool
 *     that is the bound
 * @param every one in so many requests gets one
 */
public record ReceiptLimits(int most, long bytes, int every) {

  /** No receipt is written. */
  public static final ReceiptLimits NONE = new ReceiptLimits(0, 0, 1);

  public ReceiptLimits {
    if (most < 0 || bytes < 0 || every < 1) {
      throw new IllegalArgumentException(
          "receipts: most is "
              + most
              + ", bytes is "
              + bytes
              + ", every is "
              + every
              + "; set 0 or more, 0 or more, and 1 or more");
    }
  }
}
