package io.fairlead.lab.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What clients and servers noticed of a scenario on one way. Requests are told apart by when they
 * were sent.
 *
 * @param scenario its name
 * @param what happened
 * @param way where requests went
 * @param servers how many there were
 * @param requests sent
 * @param failed those not answered in full: 5xx, a cut stream, no answer in time
 * @param rejected those turned away with 429
 * @param kinds what failed and was rejected, by what came instead
 * @param first from its onset on, 10 s
 * @param later the rest of it
 * @param after what came when it was over
 * @param failedLongAfter of {@code after}, those that failed 5 s later and more
 * @param firstByteP50Ms of answers to requests of {@code first} and {@code later}
 * @param firstByteP99Ms the same
 * @param secondsUntilRight from its onset to the last failed request; null when none failed
 * @param sentToSick requests sent to sick servers from 2 s after its onset until it was over, as
 *     the picker counts, or where it doesn't, the servers
 * @param heardBySick what the servers heard of in that time, with a picker's probes
 * @param usedAgainSeconds until the last of the sick servers answered a request sent after it was
 *     over; null when one never did
 * @param busiestShare of all answers, that of the busiest server
 * @param leastSickShare of answers in the 15 s after it was over, the least of a sick server
 * @param leastInUse the fewest servers that were sent something in 5 s of it, the first 2 s left
 *     out
 * @param clientLagMs the most that the client was late with a request: with more than a second, the
 *     machine was too busy for the run to say much
 * @param sent requests sent to each server, in each second
 * @param missed the bars that it did not hold to
 */
record Finding(
    String scenario,
    String what,
    String way,
    int servers,
    long requests,
    long failed,
    long rejected,
    Map<String, Long> kinds,
    Part first,
    Part later,
    Part after,
    long failedLongAfter,
    double firstByteP50Ms,
    double firstByteP99Ms,
    @Nullable Double secondsUntilRight,
    long sentToSick,
    long heardBySick,
    @Nullable Double usedAgainSeconds,
    double busiestShare,
    double leastSickShare,
    int leastInUse,
    double clientLagMs,
    Map<String, List<Long>> sent,
    List<String> missed) {

  private static final double MOST_LAG_MILLIS = 1_000;

  /**
   * A part of the time.
   *
   * @param requests due in it
   * @param failed of these
   */
  record Part(long requests, long failed) {

    /** Of those that failed, 0 to 1; 0 when there were none. */
    double share() {
      return requests == 0 ? 0 : (double) failed / requests;
    }
  }

  /** Those of {@link #failed} whose answers had begun: nobody can send those again. */
  long cut() {
    return kinds.getOrDefault("incomplete", 0L);
  }

  /** The bars that it did not hold to, and what keeps it from saying much. */
  List<String> problems() {
    List<String> all = new ArrayList<>(missed);
    if (clientLagMs > MOST_LAG_MILLIS) {
      all.add("the client was late by %.0f ms".formatted(clientLagMs));
    }
    return all;
  }

  Finding missing(List<String> bars) {
    return new Finding(
        scenario,
        what,
        way,
        servers,
        requests,
        failed,
        rejected,
        kinds,
        first,
        later,
        after,
        failedLongAfter,
        firstByteP50Ms,
        firstByteP99Ms,
        secondsUntilRight,
        sentToSick,
        heardBySick,
        usedAgainSeconds,
        busiestShare,
        leastSickShare,
        leastInUse,
        clientLagMs,
        sent,
        bars);
  }
}
