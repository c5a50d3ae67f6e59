package io.fairlead.core.plugins.compat;

import java.util.Arrays;

/** What several filters do when they have taken out everything. */
public final class Kept {

  private Kept() {}

  /** Keeps all when none is kept. */
  public static void allIfNone(boolean[] keep, int size) {
    for (int i = 0; i < size; i++) {
      if (keep[i]) {
        return;
      }
    }
    Arrays.fill(keep, 0, size, true);
  }
}
