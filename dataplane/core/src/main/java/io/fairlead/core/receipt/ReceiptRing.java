package io.fairlead.core.receipt;

import org.jspecify.annotations.Nullable;

/**
 * Words of 64 bits in the order in which they were written, as many of the newest as there is
 * memory for. A position is the number of words written before it, and never is another word's:
 * whoever keeps one can ask whether it is still {@link #holds held}. The memory is taken piece by
 * piece while it fills for the first time, and never again: what is written leaves nothing to
 * collect.
 */
final class ReceiptRing {

  /** In a word. */
  private static final int CHARACTERS = Long.BYTES / Character.BYTES;

  /** Of the processor's cache. */
  private static final int LINE = 64 / Long.BYTES;

  private static final int MOST_APPROACHED = 256;
  private static final int CHUNK_BITS = 13;
  private static final int CHUNK = 1 << CHUNK_BITS;

  private final long[] @Nullable [] chunks;

  /** Where the next word goes: {@code at} in the piece that begins at {@code start}. */
  private long[] current = {};

  private long start;
  private int at = CHUNK;

  /** Where writing was farthest: what was taken back has overwritten older words nevertheless. */
  private long reached;

  /** A ring of so many bytes, rounded up to at least one piece of 64 KiB; empty for 0. */
  ReceiptRing(long maxBytes) {
    chunks = new long[Math.toIntExact(Math.ceilDiv(maxBytes, (long) CHUNK * Long.BYTES))][];
    start = -CHUNK;
  }

  /** Position of the next word. */
  long end() {
    return start + at;
  }

  /** Takes back what was written from a position on. */
  void rewind(long to) {
    reached = reached();
    // A piece that would be begun now is entered with its first word.
    long last = Math.max(0, to - 1);
    enter(last - (last & (CHUNK - 1)));
    at = (int) (to - start);
  }

  private long reached() {
    return Math.max(reached, end());
  }

  /**
   * Gives up the oldest words where so many come next, at most a few pages of memory: a write to
   * each line of the processor's cache fetches it while other things are done.
   */
  void approach(long words) {
    int until = (int) Math.min(Math.min(at + words, at + MOST_APPROACHED), CHUNK);
    for (int next = at; next < until; next += LINE) {
      current[next] = 0;
    }
    reached = Math.max(reached, start + until);
  }

  /** Whether no word from this position on has been overwritten. */
  boolean holds(long from) {
    return reached() - from <= (long) chunks.length * CHUNK;
  }

  /** Bytes of memory taken so far. */
  long bytes() {
    return Math.min(Math.ceilDiv(reached(), (long) CHUNK), chunks.length) * CHUNK * Long.BYTES;
  }

  void put(long word) {
    if (at == CHUNK) {
      next();
    }
    current[at++] = word;
  }

  /** Two numbers of 32 bits in one word. */
  void put(int high, int low) {
    put(((long) high << 32) | (low & 0xffffffffL));
  }

  void put(double number) {
    put(Double.doubleToRawLongBits(number));
  }

  /** A text: its length, and then four characters a word. */
  void put(String text) {
    int length = text.length();
    put(length);
    for (int start = 0; start < length; start += CHARACTERS) {
      long word = 0;
      for (int i = Math.min(length, start + CHARACTERS) - 1; i >= start; i--) {
        word = (word << Character.SIZE) | text.charAt(i);
      }
      put(word);
    }
  }

  /** The first so many of an array, a word each. */
  void put(double[] numbers, int count) {
    int done = 0;
    while (done < count) {
      int fit = fit(count - done);
      long[] into = current;
      int to = at;
      // No branch in here: the compiler makes vector instructions of it.
      for (int i = 0; i < fit; i++) {
        into[to + i] = Double.doubleToRawLongBits(numbers[done + i]);
      }
      done += fit;
      at = to + fit;
    }
  }

  /** The first so many of an array. */
  void put(long[] words, int count) {
    int done = 0;
    while (done < count) {
      int fit = fit(count - done);
      System.arraycopy(words, done, current, at, fit);
      done += fit;
      at += fit;
    }
  }

  /** How many of so many words go into the piece that is written to; at least one. */
  private int fit(int wanted) {
    if (at == CHUNK) {
      next();
    }
    return Math.min(wanted, CHUNK - at);
  }

  private void next() {
    enter(start + CHUNK);
    at = 0;
  }

  private void enter(long position) {
    start = position;
    int number = (int) ((position >> CHUNK_BITS) % chunks.length);
    long[] chunk = chunks[number];
    if (chunk == null) {
      chunk = new long[CHUNK];
      chunks[number] = chunk;
    }
    current = chunk;
  }

  /** A copy of so many words from a position on that is held. */
  long[] copy(long from, int count) {
    long[] words = new long[count];
    for (int done = 0; done < count; ) {
      long position = from + done;
      long[] chunk = chunks[(int) ((position >> CHUNK_BITS) % chunks.length)];
      int at = (int) position & (CHUNK - 1);
      int fit = Math.min(count - done, CHUNK - at);
      if (chunk == null) {
        throw new IllegalArgumentException("nothing was written at " + position);
      }
      System.arraycopy(chunk, at, words, done, fit);
      done += fit;
    }
    return words;
  }
}
