package io.fairlead.epp.kvevents;

/**
 * How many blocks are kept of all engines together, and may be. Counted as it goes: what one engine
 * tells counts for the next one. On the reader's thread only.
 */
final class BlockRoom {

  private final int most;
  private int kept;

  /**
   * Nothing is kept yet.
   *
   * @param most blocks of all engines, at least 1
   */
  BlockRoom(int most) {
    this.most = most;
  }

  int most() {
    return most;
  }

  int kept() {
    return kept;
  }

  boolean has(int more) {
    return most - kept >= more;
  }

  /** So many more are kept, or fewer if that is negative. */
  void changed(int by) {
    kept += by;
  }
}
