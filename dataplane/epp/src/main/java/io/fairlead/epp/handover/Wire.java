package io.fairlead.epp.handover;

/**
 * What goes over the connection. Who asks sends what it asks for ({@link Question#magic}), {@link
 * Question#version} and a number that it has drawn. The answer is a word, and after {@link
 * #CHALLENGE} a number that the other has drawn. Who asks shows over both numbers that it knows the
 * secret. The answer is a word again, and after {@link #TOLD} frames, each with its length before
 * it, an empty one, and what shows over both numbers and all that was told that it is from somebody
 * who knows the secret. A frame has whole records.
 *
 * <p>Who follows is told frames for as long as it stays, an empty one where there is nothing to
 * tell. Behind each is what shows, over both numbers and all frames so far, that it is from
 * somebody who knows the secret.
 *
 * <p>Each side has drawn one of the numbers, so that neither can be played what was said before.
 */
final class Wire {

  /** What is asked for. */
  enum Question {
    /** All that a picker knows, once. */
    HAND_OVER(0x464C484F, 3, "hand-over"), // FLHO

    /** What it sends, from now on. */
    FOLLOW(0x464C464F, 3, "following"); // FLFO

    final int magic;

    /** Of what is told: pickers of another one are told nothing. */
    final byte version;

    /** Of what shows that who asks knows the secret. */
    final String asks;

    /** The same of who tells. */
    final String tells;

    Question(int magic, int version, String name) {
      this.magic = magic;
      this.version = (byte) version;
      asks = "fairlead " + name + " asks";
      tells = "fairlead " + name + " tells";
    }
  }

  static final byte TOLD = 0;

  /** Another is being told. */
  static final byte BUSY = 1;

  /** Of another version, which follows. */
  static final byte OTHER_VERSION = 2;

  /** Who asks is to show that it knows the secret, over its number and the one that follows. */
  static final byte CHALLENGE = 3;

  /** Records of a frame. */
  static final byte CONFIG = 1;

  static final byte TOKENS = 2;
  static final byte LEARNED = 3;
  static final byte ENDPOINT = 4;
  static final byte SPEEDS = 5;
  static final byte PART = 6;
  static final byte HELD = 7;
  static final byte CUT = 8;

  /** Whose news follow. */
  static final byte FROM = 9;

  static final byte SENT = 10;
  static final byte COMPUTED = 11;
  static final byte OVER = 12;

  /** Since when an endpoint has had no request. */
  static final byte IDLE = 13;

  /** Of hashes that are told. */
  static final long MOST_HASH_BYTES = 32L << 20;

  /** Of everything: who tells more is not listened to. */
  static final long MOST_BYTES = 64L << 20;

  /** Of a prompt, in blocks: beyond every model's context. */
  static final int LONGEST_PROMPT = 1 << 20;

  /** Of one frame: a prompt of the longest kind fits. */
  static final int MOST_FRAME_BYTES = 16 << 20;

  private Wire() {}
}
