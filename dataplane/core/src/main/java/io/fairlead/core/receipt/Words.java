package io.fairlead.core.receipt;

import java.util.Arrays;

/** Reads words one after another. */
final class Words {

  private final long[] words;
  private int position;

  Words(long[] words) {
    this.words = words;
  }

  /** How many were read. */
  int position() {
    return position;
  }

  long next() {
    return words[position++];
  }

  long[] next(int count) {
    long[] next = Arrays.copyOfRange(words, position, position + count);
    position += count;
    return next;
  }

  double number() {
    return Double.longBitsToDouble(next());
  }

  double[] numbers(int count) {
    double[] numbers = new double[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = number();
    }
    return numbers;
  }

  String text() {
    char[] characters = new char[low(next())];
    long word = 0;
    for (int i = 0; i < characters.length; i++) {
      word = i % (Long.BYTES / Character.BYTES) == 0 ? next() : word >>> Character.SIZE;
      characters[i] = (char) word;
    }
    return new String(characters);
  }

  /** As many bits as asked for, in words of 64. */
  boolean[] bits(int count) {
    boolean[] bits = new boolean[count];
    long word = 0;
    for (int i = 0; i < count; i++) {
      word = i % Long.SIZE == 0 ? next() : word >>> 1;
      bits[i] = (word & 1) != 0;
    }
    return bits;
  }

  /** A word of two numbers. */
  static long pair(int high, int low) {
    return ((long) high << 32) | (low & 0xffffffffL);
  }

  /** The upper of two numbers in a word. */
  static int high(long word) {
    return (int) (word >> 32);
  }

  /** The lower of two numbers in a word. */
  static int low(long word) {
    return (int) word;
  }
}
