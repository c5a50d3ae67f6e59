package io.fairlead.epp.handover;

/**
 * What goes over the connection. Who asks sends {@link #MAGIC}, {@link #VERSION} and a number that
 * it has drawn. The answer is a word, and after {@link #CHALLENGE} a number that the other has
 * drawn. Who asks shows over both numbers that it knows the secret. The answer is a word again, and
 * after {@link #TOLD} frames, each with its length before it, an empty one, and what shows over
 * both numbers and all that was told that it is from somebody who knows the secret. A frame has
 * whole records.
 *
 * <p>Each side has drawn one of the numbers, so that neither can be played what was said before.
 */
final class Wire {

  static final int MAGIC = 0x464C484F; // FLHO
  static final byte VERSION = 2;

  static final byte TOLD = 0;

  /** Another is being told. */
  static final byte BUSY = 1;

  /** Of another version, which follows. */
  static final byte OTHER_VERSION = 2;

  /** Who asks is to show that it knows the secret, over its number and the one that follows. */
  static final byte CHALLENGE = 3;

  static final String ASKS = "fairlead hand-over asks";
  static final String TELLS = "fairlead hand-over tells";

  /** Records of a frame. */
  static final byte CONFIG = 1;

  static final byte TOKENS = 2;
  static final byte LEARNED = 3;
  static final byte ENDPOINT = 4;
  static final byte SPEEDS = 5;
  static final byte PART = 6;
  static final byte HELD = 7;
  static final byte CUT = 8;

  /** Of hashes that are told. */
  static final long MOST_HASH_BYTES = 32L << 20;

  /** Of everything: who tells more is not listened to. */
  static final long MOST_BYTES = 64L << 20;

  /** Of one frame: a prompt of the longest kind fits. */
  static final int MOST_FRAME_BYTES = 16 << 20;

  private Wire() {}
}
