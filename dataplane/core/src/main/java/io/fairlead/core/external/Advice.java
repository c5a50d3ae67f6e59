package io.fairlead.core.external;

import com.dynatrace.hash4j.hashing.Hashing;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Where a scheduler outside of the process wants a request to go: a score for each endpoint that it
 * names, higher being better. It takes the place of scorers and picker; an endpoint that may not
 * get the request, or was filtered out, doesn't get it for being named.
 */
public final class Advice {

  /** A table with open addressing: identities are hashes already. */
  private final long[] identities;

  private final double[] scores;

  /**
   * The endpoints named.
   *
   * @param endpoints by {@link #identity}; of one that is there twice, one score counts
   * @param given their scores, finite, in the same order
   */
  public Advice(long[] endpoints, double[] given) {
    if (endpoints.length == 0 || endpoints.length != given.length) {
      throw new IllegalArgumentException(
          endpoints.length + " endpoints with " + given.length + " scores; give one for each");
    }
    int length = Integer.highestOneBit(endpoints.length) << 2;
    identities = new long[length];
    scores = new double[length];
    Arrays.fill(scores, Double.NaN);
    for (int i = 0; i < endpoints.length; i++) {
      if (!Double.isFinite(given[i])) {
        throw new IllegalArgumentException("score " + i + " is " + given[i] + "; give finite ones");
      }
      int place = place(endpoints[i]);
      identities[place] = endpoints[i];
      scores[place] = given[i];
    }
  }

  /** The number by which an endpoint of this name is known. */
  public static long identity(String name) {
    return Hashing.wyhashFinal4().hashCharsToLong(name);
  }

  /** The score of an endpoint; NaN where it isn't named. */
  public double score(long endpoint) {
    return scores[place(endpoint)];
  }

  /** The endpoints that are named, each once. */
  public long[] endpoints() {
    return IntStream.range(0, scores.length)
        .filter(place -> !Double.isNaN(scores[place]))
        .mapToLong(place -> identities[place])
        .toArray();
  }

  /** Bytes of the heap that it takes, about. */
  public long bytes() {
    return 64 + (long) scores.length * (Long.BYTES + Double.BYTES);
  }

  /** Whether the same endpoints are named, with the same scores. */
  @Override
  public boolean equals(@Nullable Object other) {
    if (!(other instanceof Advice advice) || advice.scores.length != scores.length) {
      return false;
    }
    int named = 0;
    for (int place = 0; place < scores.length; place++) {
      if (!Double.isNaN(scores[place])) {
        named++;
        if (advice.score(identities[place]) != scores[place]) {
          return false;
        }
      }
      if (!Double.isNaN(advice.scores[place])) {
        named--;
      }
    }
    return named == 0;
  }

  @Override
  public int hashCode() {
    // In any order: those that are equal may have their endpoints at other places.
    int hash = 0;
    for (int place = 0; place < scores.length; place++) {
      if (!Double.isNaN(scores[place])) {
        hash += Long.hashCode(identities[place]) ^ Double.hashCode(scores[place] + 0.0);
      }
    }
    return hash;
  }

  private int place(long endpoint) {
    int mask = scores.length - 1;
    int place = (int) endpoint & mask;
    // At most half of the places are taken.
    while (!Double.isNaN(scores[place]) && identities[place] != endpoint) {
      place = (place + 1) & mask;
    }
    return place;
  }
}
