package io.fairlead.lab.faults;

import java.util.Set;
import java.util.function.Predicate;

/**
 * Something that a run is held to.
 *
 * @param what must hold, for people
 * @param ways names of those that are held to it
 * @param holds whether it does
 */
record Bar(String what, Set<String> ways, Predicate<Finding> holds) {

  static final String GATEWAY = "gateway";
  static final String EXTPROC = "extproc";

  private static final Set<String> OURS = Set.of(GATEWAY, EXTPROC);

  /** It can send again: its clients notice nothing. */
  static final Bar GATEWAY_FAILS_NOTHING =
      new Bar(
          "0 failed but for answers that broke off",
          Set.of(GATEWAY),
          found -> found.failed() == found.cut());

  static final Bar NOTHING_FAILS = new Bar("0 failed", OURS, found -> found.failed() == 0);

  /** It can't send again: a few fail until it is known who fails. */
  static final Bar EXTPROC_FAILS_LITTLE =
      new Bar(
          "<= 1 % failed in the first 10 s, <= 0.1 % after",
          Set.of(EXTPROC),
          found -> found.first().share() <= 0.01 && found.later().share() <= 0.001);

  /** The same of a server that fails some requests, or late, so that it takes longer to know. */
  static final Bar EXTPROC_FAILS_FEW =
      new Bar(
          "<= 2 % failed while it lasted",
          Set.of(EXTPROC),
          found ->
              found.first().failed() + found.later().failed()
                  <= 0.02 * (found.first().requests() + found.later().requests()));

  static final Bar NOTHING_TURNED_AWAY =
      new Bar("0 x 429", OURS, found -> found.rejected() == 0 && found.requests() > 0);

  static final Bar NOTHING_SENT_AFTER_2_S =
      new Bar("nothing sent to it after 2 s", OURS, found -> found.sentToSick() == 0);

  static final Bar USED_AGAIN =
      new Bar(
          "used again within 10 s",
          OURS,
          found -> found.usedAgainSeconds() != null && found.usedAgainSeconds() <= 10);

  static final Bar HALF_IN_USE =
      new Bar("half in use at any time", OURS, found -> 2 * found.leastInUse() >= found.servers());

  static final Bar WELL_AGAIN =
      new Bar("0 failed from 5 s after it was well", OURS, found -> found.failedLongAfter() == 0);

  static Bar busiestAtMost(double share) {
    return new Bar(
        "busiest <= %.0f %%".formatted(100 * share), OURS, found -> found.busiestShare() <= share);
  }

  static Bar eachGetsAtLeast(double share) {
    return new Bar(
        "each gets >= %.0f %% when it is back".formatted(100 * share),
        OURS,
        found -> found.leastSickShare() >= share);
  }

  boolean missed(Finding found) {
    return ways.contains(found.way()) && !holds.test(found);
  }
}
