package io.fairlead.core;

/**
 * What bounds a pool's core.
 *
 * @param retries sends of one request beyond its first, 0 to 10
 * @param unknownPrefixBlocks prompt blocks that an endpoint is believed to cache while its own KV
 *     cache size is unknown, at least 1
 * @param maxPrefixBlocks most prompt blocks remembered for one endpoint, however large its KV cache
 * @param maxPrefixBytes most memory for all that is remembered of prompts, at least 1 MiB; arrays'
 *     room to grow comes on top, up to as much again with prompts of a block or two
 * @param maxWaitingBytes most bytes of the bodies of requests that wait for room, at least 0: the
 *     process holds them meanwhile, and needs memory for those that come, too
 * @param maxReceiptBytes most memory for what is kept of decisions, with the configs and lists of
 *     endpoints that are kept for them alone; 0 to keep none, whatever the config says
 */
public record PoolLimits(
    int retries,
    int unknownPrefixBlocks,
    int maxPrefixBlocks,
    long maxPrefixBytes,
    long maxWaitingBytes,
    long maxReceiptBytes) {

  private static final long MIB = 1 << 20;

  /**
   * Sent again four times; per endpoint of unknown size as much as the longest prompt that is
   * hashed, a million tokens, and 16 million at most; 256 MiB; as many bodies as the config allows;
   * no receipts.
   */
  public static final PoolLimits DEFAULT =
      new PoolLimits(4, 1 << 16, 1 << 20, 256 * MIB, Long.MAX_VALUE, 0);

  /** Without receipts. */
  public PoolLimits(
      int retries,
      int unknownPrefixBlocks,
      int maxPrefixBlocks,
      long maxPrefixBytes,
      long maxWaitingBytes) {
    this(retries, unknownPrefixBlocks, maxPrefixBlocks, maxPrefixBytes, maxWaitingBytes, 0);
  }

  public PoolLimits {
    if (retries < 0 || retries > 10) {
      throw new IllegalArgumentException("retries is " + retries + "; set 0 to 10");
    }
    if (unknownPrefixBlocks < 1 || maxPrefixBlocks < unknownPrefixBlocks) {
      throw new IllegalArgumentException(
          "unknownPrefixBlocks is "
              + unknownPrefixBlocks
              + " and maxPrefixBlocks "
              + maxPrefixBlocks
              + "; the first must be at least 1 and no more than the second");
    }
    if (maxPrefixBytes < MIB) {
      throw new IllegalArgumentException(
          "maxPrefixBytes is " + maxPrefixBytes + "; set " + MIB + " or up");
    }
    if (maxWaitingBytes < 0) {
      throw new IllegalArgumentException("maxWaitingBytes is " + maxWaitingBytes + "; set 0 or up");
    }
    if (maxReceiptBytes < 0) {
      throw new IllegalArgumentException("maxReceiptBytes is " + maxReceiptBytes + "; set 0 or up");
    }
  }
}
