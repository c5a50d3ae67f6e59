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

  private static final int CHUNK_BITS = 13;
  private static final int CHUNK = 1 << CHUNK_BITS;

  private final long[] @Nullable [] chunks;
  private long end;

  /** Where writing was farthest: what was taken back has overwritten older words nevertheless. */
  private long reached;

  private long[] current = {};

  /** A ring of so many bytes, rounded up to at least one piece of 64 KiB; empty for 0. */
  ReceiptRing(long maxBytes) {
    chunks = new long[Math.toIntExact(Math.ceilDiv(maxBytes, (long) CHUNK * Long.BYTES))][];
  }

  /** Position of the next word. */
  long end() {
    return end;
  }

  /** Takes back what was written from a position on. */
  void rewind(long to) {
    end = to;
    if (to > 0) {
      enter(to);
    }
  }

  /** Whether no word from this position on has been overwritten. */
  boolean holds(long from) {
    return reached - from <= (long) chunks.length * CHUNK;
  }

  /** Bytes of memory taken so far. */
  long bytes() {
    return Math.min(Math.ceilDiv(reached, (long) CHUNK), chunks.length) * CHUNK * Long.BYTES;
  }

  void put(long word) {
    int at = (int) end & (CHUNK - 1);
    if (at == 0) {
      enter(end);
    }
    current[at] = word;
    end++;
    reached = Math.max(reached, end);
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
      int at = (int) end & (CHUNK - 1);
      if (at == 0) {
        enter(end);
      }
      int fit = Math.min(count - done, CHUNK - at);
      long[] into = current;
      // No branch in here: the compiler makes vector instructions of it.
      for (int i = 0; i < fit; i++) {
        into[at + i] = Double.doubleToRawLongBits(numbers[done + i]);
      }
      done += fit;
      end += fit;
      reached = Math.max(reached, end);
    }
  }

  /** The first so many of an array. */
  void put(long[] words, int count) {
    int done = 0;
    while (done < count) {
      int at = (int) end & (CHUNK - 1);
      if (at == 0) {
        enter(end);
      }
      int fit = Math.min(count - done, CHUNK - at);
      System.arraycopy(words, done, current, at, fit);
      done += fit;
      end += fit;
      reached = Math.max(reached, end);
    }
  }

  private void enter(long position) {
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
