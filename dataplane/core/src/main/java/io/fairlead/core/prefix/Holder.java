package io.fairlead.core.prefix;

/** One endpoint's cache as the index sees it. */
final class Holder {

  final int id;
  int capacity;

  /** Blocks held. */
  int size;

  /** Of these, what prompts have brought that may never be computed: it drives out nothing yet. */
  int expected;

  /** Ends of the order of its entries. */
  int oldest = Holdings.NONE;

  int newest = Holdings.NONE;

  Holder(int id, int capacity) {
    this.id = id;
    this.capacity = capacity;
  }
}
