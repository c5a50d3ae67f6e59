package io.fairlead.lab.workload;

import java.util.SplittableRandom;

/**
 * Numbers made of numbers, spread over all 64 bits: identities of content, and random sources that
 * depend on what they are for and not on what was drawn before.
 */
final class Mix {

  private static final long GOLDEN = 0x9e3779b97f4a7c15L;

  private Mix() {}

  /** What a number is made for. Its own number is part of every identity and stays. */
  enum Part {
    SALT(1),
    ARRIVALS(2),
    ORDER(3),
    SIZES(4),
    CALLER(5),
    CONVERSATION(6),
    SYSTEM(7),
    DOCUMENT(8),
    QUESTION(9),
    ANSWER(10);

    private final int number;

    Part(int number) {
      this.number = number;
    }
  }

  /** The finisher of SplitMix64: one to one, each bit of the argument reaches all of the result. */
  static long mix(long value) {
    long z = value;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** A number for part {@code part} of thing {@code n}. */
  static long of(Part part, long n) {
    return mix(mix(GOLDEN * part.number) + n * GOLDEN);
  }

  /** A number for step {@code step} of part {@code part} of thing {@code n}. */
  static long of(Part part, long n, int step) {
    return mix(of(part, n) + (step + 1) * GOLDEN);
  }

  /** A random source for part {@code part} of thing {@code n} under {@code seed}. */
  static SplittableRandom random(long seed, Part part, long n) {
    return new SplittableRandom(mix(seed + GOLDEN) ^ of(part, n));
  }
}
