package io.fairlead.epp.openai;

import java.util.Arrays;

/**
 * Where the prompt's bytes stand in a body, whitespace between tokens left out. Keeps no more of a
 * section than can be hashed, but counts all of it.
 *
 * <p>Spans are kept as distances in as few bytes as they need: a list of token ids has one for each
 * number, and must not take more memory here than in the body.
 */
final class PromptSpans {

  private static final int FIRST_CAPACITY = 512;
  private static final int LONGEST_SPAN = 10;

  private final int sectionLimit;
  private byte[] bytes = new byte[FIRST_CAPACITY];
  private int size;
  private int sectionBytes;

  /** Where the span before ended, both when spans are added and when they are read. */
  private int before;

  private int next;
  private int from;
  private boolean media;

  /**
   * No spans yet.
   *
   * @param sectionLimit bytes of one section after which its spans are only counted
   */
  PromptSpans(int sectionLimit) {
    this.sectionLimit = sectionLimit;
  }

  /** Forgets all; what a long prompt took is given back. */
  void reset() {
    size = 0;
    if (bytes.length > FIRST_CAPACITY) {
      bytes = new byte[FIRST_CAPACITY];
    }
  }

  /** A section begins at this place of the body. */
  void beginSection(int at) {
    sectionBytes = 0;
    before = at;
  }

  /** Bytes of text in the section, those beyond its limit included. */
  int sectionBytes() {
    return sectionBytes;
  }

  /** Text. */
  void add(int begin, int end) {
    if (begin < end) {
      put(begin, end, 0);
      sectionBytes += end - begin;
    }
  }

  /** No text, or perhaps none: that is known only later. */
  void addMedia(int begin, int end) {
    put(begin, end, 1);
  }

  /** What was added as perhaps no text is some after all. */
  void countText(int length) {
    sectionBytes += length;
  }

  private void put(int begin, int end, int flag) {
    if (sectionBytes >= sectionLimit) {
      return;
    }
    if (bytes.length - size < LONGEST_SPAN) {
      bytes = Arrays.copyOf(bytes, bytes.length * 2);
    }
    put((begin - before) << 1 | flag);
    put(end - begin);
    before = end;
  }

  private void put(int number) {
    int left = number;
    while (left > 0x7f || left < 0) {
      bytes[size++] = (byte) (left | 0x80);
      left >>>= 7;
    }
    bytes[size++] = (byte) left;
  }

  /** Where the next span will be kept. */
  int mark() {
    return size;
  }

  /**
   * Goes back to the beginning of a section.
   *
   * @param mark of its first span
   * @param at where it begins in the body
   */
  void rewind(int mark, int at) {
    next = mark;
    before = at;
  }

  /** Reads the next span, if it is kept before {@code mark}. */
  boolean next(int mark) {
    if (next >= mark) {
      return false;
    }
    int head = take();
    media = (head & 1) != 0;
    from = before + (head >>> 1);
    before = from + take();
    return true;
  }

  private int take() {
    int number = 0;
    for (int shift = 0; ; shift += 7) {
      byte b = bytes[next++];
      number |= (b & 0x7f) << shift;
      if (b >= 0) {
        return number;
      }
    }
  }

  /** Of the span that was read. */
  int from() {
    return from;
  }

  int to() {
    return before;
  }

  boolean isMedia() {
    return media;
  }
}
