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

  /** In place of the id of a token that stands for a part of an image, a sound or a file. */
  static final int NO_TEXT = -1;

  private final int blockBytes;
  private long hash;
  private int bytesInBlock;
  private long bytes;
  private long[] blocks = new long[16];
  private int count;

  /** Ids of the tokens so far, the last one perhaps not full; empty where nobody wants them. */
  private int[] tokens;

  private final boolean keepsTokens;

  BlockHasher(String model, int blockTokens) {
    this(model, blockTokens, false);
  }

  /**
   * @param keepsTokens whether {@link #tokenIds} are wanted
   */
  BlockHasher(String model, int blockTokens, boolean keepsTokens) {
    this.keepsTokens = keepsTokens;
    tokens = new int[keepsTokens ? 64 : 0];
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
    if (keepsTokens) {
      int to = (int) (bytes / BYTES_PER_TOKEN);
      Arrays.fill(this.tokens, Math.max(0, to - tokens), to, NO_TEXT);
    }
  }

  /**
   * Ids of all full tokens: their four bytes, the first one lowest; {@link #NO_TEXT} for what is no
   * text.
   */
  int[] tokenIds() {
    return Arrays.copyOf(tokens, (int) Math.min(bytes / BYTES_PER_TOKEN, tokens.length));
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
    if (keepsTokens) {
      keep(b);
    }
    bytes++;
    if (++bytesInBlock == blockBytes) {
      bytesInBlock = 0;
      if (count == blocks.length) {
        blocks = Arrays.copyOf(blocks, count * 2);
      }
      blocks[count++] = hash;
    }
  }

  private void keep(byte b) {
    int token = (int) (bytes / BYTES_PER_TOKEN);
    if (token == tokens.length) {
      tokens = Arrays.copyOf(tokens, token * 2);
    }
    tokens[token] |= (b & 0xFF) << (Byte.SIZE * (int) (bytes % BYTES_PER_TOKEN));
  }

  private void mix(byte b) {
    hash = (hash ^ (b & 0xFF)) * 0x100000001B3L;
  }
}
