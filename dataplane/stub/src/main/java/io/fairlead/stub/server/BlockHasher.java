package io.fairlead.stub.server;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Cuts text into blocks of tokens, four bytes each, and names every full block by all content up to
 * its end. The model's name is the beginning of that content: what one model or adapter has cached
 * is of no use to another.
 */
final class BlockHasher {

  static final int BYTES_PER_TOKEN = 4;

  private final int blockBytes;
  private long hash;
  private int bytesInBlock;
  private long bytes;
  private long[] blocks = new long[16];
  private int count;

  BlockHasher(String model, int blockTokens) {
    blockBytes = blockTokens * BYTES_PER_TOKEN;
    hash = 0xCBF29CE484222325L;
    for (byte b : model.getBytes(StandardCharsets.UTF_8)) {
      mix(b);
    }
  }

  void add(String text) {
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      add(b);
    }
  }

  /** A token given by its number. */
  void addToken(int id) {
    for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
      add((byte) (id >> shift));
    }
  }

  /** Something that is no text: so many tokens, which are the same for the same content only. */
  void addMedia(String content, int tokens) {
    for (byte b : content.getBytes(StandardCharsets.UTF_8)) {
      mix(b);
    }
    for (int i = 0; i < tokens * BYTES_PER_TOKEN; i++) {
      add((byte) 0);
    }
  }

  /** Tokens so far, the last one perhaps not full; never 0, as no prompt is without a token. */
  int tokens() {
    return (int) Math.clamp(Math.ceilDiv(bytes, BYTES_PER_TOKEN), 1L, Integer.MAX_VALUE);
  }

  long[] blocks() {
    return Arrays.copyOf(blocks, count);
  }

  private void add(byte b) {
    mix(b);
    bytes++;
    if (++bytesInBlock == blockBytes) {
      bytesInBlock = 0;
      if (count == blocks.length) {
        blocks = Arrays.copyOf(blocks, count * 2);
      }
      blocks[count++] = hash;
    }
  }

  private void mix(byte b) {
    hash = (hash ^ (b & 0xFF)) * 0x100000001B3L;
  }
}
