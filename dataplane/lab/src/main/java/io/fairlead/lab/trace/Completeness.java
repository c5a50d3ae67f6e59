package io.fairlead.lab.trace;

import io.fairlead.epp.capture.Untold;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How far a replay of a capture must come out exactly the same.
 *
 * @param exactUntil number of the first event that need not
 * @param reasons why not all of it must; empty when it must
 */
record Completeness(long exactUntil, List<String> reasons) {

  static Completeness of(CapturedRun run) {
    List<String> reasons = new ArrayList<>();
    long until = Long.MAX_VALUE;
    if (run.share() < 1) {
      reasons.add("only %s of the requests were captured".formatted(run.share()));
      until = 0;
    }
    long expected = 1;
    long missing = 0;
    long firstMissing = 0;
    long withheld = 0;
    Set<Untold> untold = EnumSet.noneOf(Untold.class);
    for (Map.Entry<Long, CaptureEvent> entry : run.events().entrySet()) {
      long seq = entry.getKey();
      if (seq != expected) {
        firstMissing = missing == 0 ? expected : firstMissing;
        missing += seq - expected;
      }
      expected = seq + 1;
      if (entry.getValue() instanceof CaptureEvent.Arrived arrived && arrived.withheld()) {
        until = Math.min(until, seq);
        withheld++;
      }
      if (entry.getValue() instanceof CaptureEvent.NotTold notTold) {
        until = Math.min(until, seq);
        untold.add(notTold.what());
      }
    }
    untold.forEach(what -> reasons.add("not captured: " + what.words()));
    if (missing > 0) {
      until = Math.min(until, firstMissing);
      reasons.add("%d events are missing, the first is number %d".formatted(missing, firstMissing));
    }
    if (withheld > 0) {
      reasons.add(
          "of %d requests plugins have read headers that were not captured".formatted(withheld));
    }
    return new Completeness(until, reasons);
  }
}
