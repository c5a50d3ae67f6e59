package io.fairlead.core.receipt;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Words of 64 bits in the order in which they were written, as many of the newest as there is
 * memory for. A position is the number of words written before it, and never is another word's:
 * whoever keeps one can ask whether it is still {@link #holds held}. The memory is taken piece by
 * piece while it fills for the first time, and never again: what is written leaves nothing to
 * collect.
 *
 * <p>What is written is gathered where the processor's cache always has it, and goes to its place
 * all at once, when it is {@link #commit committed}; until then it can be taken back.
 */
final class ReceiptRing {

  /** In a word. */
  private static final int CHARACTERS = Long.BYTES / Character.BYTES;

  /** Of the processor's cache. */
  private static final int LINE = 64 / Long.BYTES;

  private static final int MOST_APPROACHED = 256;

  /** Words of a usual decision; there is more room where one takes more. */
  private static final int GATHERED = 512;

  private static final int CHUNK_BITS = 13;
  private static final int CHUNK = 1 << CHUNK_BITS;

  private final long[] @Nullable [] chunks;

  /** Where the next word goes: {@code at} in the piece that begins at {@code start}. */
  private long[] current = {};

  private long start;
  private int at = CHUNK;

  /** Where older words have been given up to. */
  private long reached;

  /** What is not committed yet. */
  private long[] gathered = new long[GATHERED];

  private int gatheredCount;

  /** Of a text; its size is a multiple of {@link #CHARACTERS}. */
  private char[] characters = new char[256];

  /** A ring of so many bytes, rounded up to at least one piece of 64 KiB; empty for 0. */
  ReceiptRing(long maxBytes) {
    chunks = new long[Math.toIntExact(Math.ceilDiv(maxBytes, (long) CHUNK * Long.BYTES))][];
    start = -CHUNK;
  }

  /** Position of the next word. */
  long end() {
    return committed() + gatheredCount;
  }

  private long committed() {
    return start + at;
  }

  /** Takes back what was written from a position on, as far as it is not committed. */
  void rewind(long to) {
    gatheredCount = Math.clamp(to - committed(), 0, gatheredCount);
  }

  /** Puts all that was written in its place. */
  void commit() {
    int done = 0;
    while (done < gatheredCount) {
      if (at == CHUNK) {
        next();
      }
      int fit = Math.min(gatheredCount - done, CHUNK - at);
      System.arraycopy(gathered, done, current, at, fit);
      done += fit;
      at += fit;
    }
    gatheredCount = 0;
  }

  private long reached() {
    return Math.max(reached, committed());
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

  /**
   * Room for so many words more, beginning at {@link #gathered}: whoever has filled some of it in
   * says so to {@link #wrote}. For what writes many: a word alone is put.
   */
  long[] room(int words) {
    if (gathered.length - gatheredCount < words) {
      gathered = Arrays.copyOf(gathered, Math.max(2 * gathered.length, gatheredCount + words));
    }
    return gathered;
  }

  /** Where the next word goes in {@link #room}. */
  int gathered() {
    return gatheredCount;
  }

  /** Words are written up to this place in {@link #room}. */
  void wrote(int until) {
    gatheredCount = until;
  }

  void put(long word) {
    room(1)[gatheredCount++] = word;
  }

  /** Two numbers of 32 bits in one word. */
  void put(int high, int low) {
    put(Words.pair(high, low));
  }

  void put(double number) {
    put(Double.doubleToRawLongBits(number));
  }

  /** A text: its length, and then four characters a word. */
  void put(String text) {
    int length = text.length();
    if (length > characters.length) {
      characters = new char[2 * Math.ceilDiv(length, CHARACTERS) * CHARACTERS];
    }
    // All at once: one by one, each is looked up in its text's own encoding.
    text.getChars(0, length, characters, 0);
    int count = Math.ceilDiv(length, CHARACTERS);
    Arrays.fill(characters, length, count * CHARACTERS, '\0');
    long[] words = room(1 + count);
    int to = gatheredCount;
    words[to++] = length;
    for (int i = 0; i < count; i++) {
      int first = i * CHARACTERS;
      words[to + i] =
          characters[first]
              | ((long) characters[first + 1] << Character.SIZE)
              | ((long) characters[first + 2] << (2 * Character.SIZE))
              | ((long) characters[first + 3] << (3 * Character.SIZE));
    }
    gatheredCount = to + count;
  }

  /** The first so many of an array, a word each. */
  void put(double[] numbers, int count) {
    long[] words = room(count);
    int to = gatheredCount;
    // No branch in here: the compiler makes vector instructions of it.
    for (int i = 0; i < count; i++) {
      words[to + i] = Double.doubleToRawLongBits(numbers[i]);
    }
    gatheredCount = to + count;
  }

  private void next() {
    start += CHUNK;
    at = 0;
    int number = (int) ((start >> CHUNK_BITS) % chunks.length);
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
