package io.fairlead.core.prefix;

import java.util.Arrays;

/**
 * Records of {@value #FIELDS} whole numbers each, by number. The fields of one lie side by side,
 * since who reads one of them reads others too. There is room for more a chunk at a time, and none
 * is ever moved: no request waits while all that others left behind is copied.
 */
final class Records {

  static final int FIELDS = 6;

  private static final int CHUNK_BITS = 10;

  /** Records in a chunk. */
  static final int CHUNK = 1 << CHUNK_BITS;

  private static final int MASK = CHUNK - 1;

  private int[][] chunks = {};
  private int count;

  /** In which chunk a record is. */
  static int chunk(int record) {
    return record >>> CHUNK_BITS;
  }

  /** Where in its chunk a record is. */
  static int inChunk(int record) {
    return record & MASK;
  }

  int get(int record, int field) {
    return chunks[record >>> CHUNK_BITS][(record & MASK) * FIELDS + field];
  }

  void set(int record, int field, int value) {
    chunks[record >>> CHUNK_BITS][(record & MASK) * FIELDS + field] = value;
  }

  void add(int record, int field, int value) {
    chunks[record >>> CHUNK_BITS][(record & MASK) * FIELDS + field] += value;
  }

  /** How many records there is room for. */
  int room() {
    return count * CHUNK;
  }

  /** Makes room for a chunk of records more. */
  void grow() {
    if (count == chunks.length) {
      chunks = Arrays.copyOf(chunks, Math.max(1, count * 2));
    }
    chunks[count++] = new int[CHUNK * FIELDS];
  }

  /** Bytes of the heap taken for records. */
  long bytes() {
    return (long) count * CHUNK * FIELDS * Integer.BYTES;
  }
}
