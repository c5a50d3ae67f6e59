package io.fairlead.core.prefix;

/** One endpoint's cache as the index sees it. */
final class Holder {

  final int id;
  int capacity;

  /** Blocks held. */
  int size;

  /** Ends of the order of its entries. */
  int oldest = Holdings.NONE;

  int newest = Holdings.NONE;

  /**
   * The run of which it holds only the first {@link #partialLength} blocks, or none. There is at
   * most one, and it is the oldest: the end of what was used least recently goes first.
   */
  int partial = Runs.NONE;

  int partialLength;

  Holder(int id, int capacity) {
    this.id = id;
    this.capacity = capacity;
  }
}
