package io.fairlead.epp.openai;

import java.util.Arrays;

/**
 * Where the prompt's bytes stand in a body, whitespace between tokens left out. Keeps no more of a
 * section than can be hashed, but counts all of it.
 */
final class PromptSpans {

  private static final int KEPT_CAPACITY = 1 << 14;

  private final int sectionLimit;
  private int[] bounds = new int[512];
  private int size;
  private int sectionBytes;

  /**
   * No spans yet.
   *
   * @param sectionLimit bytes of one section after which its spans are only counted
   */
  PromptSpans(int sectionLimit) {
    this.sectionLimit = sectionLimit;
  }

  void reset() {
    size = 0;
    if (bounds.length > KEPT_CAPACITY) {
      bounds = new int[KEPT_CAPACITY];
    }
  }

  void beginSection() {
    sectionBytes = 0;
  }

  /** Bytes of the section, those beyond its limit included. */
  int sectionBytes() {
    return sectionBytes;
  }

  void add(int from, int to) {
    if (sectionBytes < sectionLimit) {
      if (size == bounds.length) {
        bounds = Arrays.copyOf(bounds, size * 2);
      }
      bounds[size++] = from;
      bounds[size++] = to;
    }
    sectionBytes += to - from;
  }

  /** Index of the next span. */
  int mark() {
    return size;
  }

  int from(int index) {
    return bounds[index];
  }

  int to(int index) {
    return bounds[index + 1];
  }
}
