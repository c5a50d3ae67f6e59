package io.fairlead.crds.config;

/**
 * Of how many requests it is kept why they went where they did.
 *
 * @param keep the newest so many, as far as memory allows; 0 for none, {@link #MOST} at most
 * @param every one in so many requests, at least 1
 * @param responseHeader whether a client that is trusted, and asks, is told in a header of its
 *     response
 */
public record ReceiptsConfig(int keep, int every, boolean responseHeader) {

  /** Largest {@link #keep}. */
  public static final int MOST = 1_000_000;

  /** Nothing set. */
  public static final ReceiptsConfig DEFAULT = new ReceiptsConfig(10_000, 1);

  /** Told to nobody who asks in a request. */
  public ReceiptsConfig(int keep, int every) {
    this(keep, every, false);
  }

  public ReceiptsConfig {
    if (keep < 0 || keep > MOST || every < 1) {
      throw new IllegalArgumentException(
          "receipts: keep is %d and every is %d; set 0 to %d, and 1 or more"
              .formatted(keep, every, MOST));
    }
  }
}
