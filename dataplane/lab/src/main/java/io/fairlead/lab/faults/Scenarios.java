package io.fairlead.lab.faults;

import static io.fairlead.lab.faults.Bar.EXTPROC_FAILS_FEW;
import static io.fairlead.lab.faults.Bar.EXTPROC_FAILS_LITTLE;
import static io.fairlead.lab.faults.Bar.GATEWAY_FAILS_NOTHING;
import static io.fairlead.lab.faults.Bar.HALF_IN_USE;
import static io.fairlead.lab.faults.Bar.NOTHING_FAILS;
import static io.fairlead.lab.faults.Bar.NOTHING_SENT_AFTER_2_S;
import static io.fairlead.lab.faults.Bar.NOTHING_TURNED_AWAY;
import static io.fairlead.lab.faults.Bar.USED_AGAIN;
import static io.fairlead.lab.faults.Bar.WELL_AGAIN;
import static io.fairlead.lab.faults.Scenario.begin;
import static io.fairlead.lab.faults.Scenario.clear;

import io.fairlead.crds.config.Criticality;
import io.fairlead.lab.faults.Scenario.Step;
import io.fairlead.stub.server.Fault;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * All scenarios.
 *
 * @param rate requests a second where a scenario has no rate of its own
 * @param before seconds until something happens
 * @param during seconds that it lasts
 * @param after seconds that are watched when it is over
 */
record Scenarios(double rate, double before, double during, double after) {

  private static final int BEFORE_THE_PICKER = -1;
  private static final Set<Integer> ONE = Set.of(0);
  private static final Map<Fault, Object> REFUSES = Map.of(Fault.REFUSE, true);
  private static final Map<Fault, Object> FAILS_FAST = Map.of(Fault.ERROR_SHARE, 1);

  List<Scenario> all() {
    return List.of(
        oneOfEight("fail-fast", "1 of 8 answers 500 at once, /health 200", FAILS_FAST)
            .holdingTo(GATEWAY_FAILS_NOTHING, EXTPROC_FAILS_LITTLE, USED_AGAIN),
        oneOfEight(
                "fail-fast-empty",
                "1 of 8 answers 500 without a body",
                Map.of(Fault.ERROR_SHARE, 1, Fault.ERROR_BODY, false))
            .holdingTo(GATEWAY_FAILS_NOTHING, EXTPROC_FAILS_LITTLE, USED_AGAIN),
        oneOfEight("fail-some", "1 of 8 answers 30 % with 500", Map.of(Fault.ERROR_SHARE, 0.3))
            .holdingTo(GATEWAY_FAILS_NOTHING, EXTPROC_FAILS_FEW, USED_AGAIN),
        oneOfEight(
                "fail-late",
                "1 of 8 answers 500 after 3 s",
                Map.of(Fault.ERROR_SHARE, 1, Fault.ERROR_AFTER_SECONDS, 3))
            .holdingTo(GATEWAY_FAILS_NOTHING, EXTPROC_FAILS_FEW, USED_AGAIN),
        oneOfEight("refused", "1 of 8 closes its port", REFUSES)
            .holdingTo(GATEWAY_FAILS_NOTHING, USED_AGAIN),
        timed("two-dead", "2 of 4 close their ports", 4, Set.of(0, 1), REFUSES)
            .holdingTo(GATEWAY_FAILS_NOTHING, USED_AGAIN),
        fromTheStart("never-listening", "1 of 8 is not there yet", 8, ONE, REFUSES)
            .holdingTo(GATEWAY_FAILS_NOTHING, USED_AGAIN),
        fromTheStart("closed-port", "1 of 2 ports of 1 of 2 pods is closed", 4, ONE, REFUSES)
            .holdingTo(GATEWAY_FAILS_NOTHING, USED_AGAIN),
        oneOfEight("swallowed", "SYNs to 1 of 8 get no answer", Map.of(Fault.SWALLOW, true))
            .holdingTo(GATEWAY_FAILS_NOTHING, USED_AGAIN),
        oneOfEight("frozen", "1 of 8 hangs, metrics and health answer", Map.of(Fault.STALL, true))
            .holdingTo(NOTHING_SENT_AFTER_2_S, USED_AGAIN),
        oneOfEight(
                "frozen-dead",
                "1 of 8 hangs as a whole",
                Map.of(Fault.STALL, true, Fault.MUTE, true))
            .holdingTo(NOTHING_SENT_AFTER_2_S, USED_AGAIN),
        oneOfEight("draining", "1 of 8 drains: 500, /health 200", Map.of(Fault.DRAIN, true))
            .holdingTo(GATEWAY_FAILS_NOTHING, NOTHING_SENT_AFTER_2_S, USED_AGAIN),
        oneOfEight("slow", "1 of 8 is 10 times slower", Map.of(Fault.SLOWED_BY, 10))
            .holdingTo(NOTHING_FAILS),
        lasting(
                "metrics-gone",
                "all metrics gone",
                8,
                everyOne(8),
                Map.of(Fault.METRICS_STATUS, 404),
                3 * during)
            .holdingTo(NOTHING_FAILS, NOTHING_TURNED_AWAY),
        restarted().holdingTo(GATEWAY_FAILS_NOTHING, USED_AGAIN),
        flapping().holdingTo(GATEWAY_FAILS_NOTHING, HALF_IN_USE, WELL_AGAIN),
        fromTheStart("faulty-probe", "1 of 8 fails from the start, /health 200", 8, ONE, FAILS_FAST)
            .holdingTo(GATEWAY_FAILS_NOTHING, USED_AGAIN),
        oneOfEight("unhealthy", "1 of 8 serves, /health 503", Map.of(Fault.HEALTH_STATUS, 503))
            .holdingTo(NOTHING_FAILS),
        timed("half-sick", "4 of 8 answer 500", 8, Set.of(0, 1, 2, 3), FAILS_FAST)
            .holdingTo(GATEWAY_FAILS_NOTHING, HALF_IN_USE, WELL_AGAIN),
        timed("all-sick", "8 of 8 answer 500", 8, everyOne(8), FAILS_FAST)
            .holdingTo(HALF_IN_USE, WELL_AGAIN, USED_AGAIN),
        unstreamed(40),
        unstreamed(60),
        well("burst", "3 servers, bursts of 50 requests in 125 ms", 3)
            .with(new Load(12.5, 50, 0.5, 200, 100, Criticality.SHEDDABLE, 0.5))
            .holdingTo(NOTHING_FAILS, NOTHING_TURNED_AWAY),
        removedAndBack(),
        well("idle-six", "6 idle servers, prompts that share nothing", 6)
            .with(new Load(10, 1, 0.5, 0, 4, Criticality.STANDARD, 0))
            .holdingTo(NOTHING_FAILS, Bar.busiestAtMost(0.25)));
  }

  private Scenario oneOfEight(String name, String what, Map<Fault, ?> faults) {
    return timed(name, what, 8, ONE, faults);
  }

  private Scenario timed(
      String name, String what, int servers, Set<Integer> sick, Map<Fault, ?> faults) {
    return lasting(name, what, servers, sick, faults, during);
  }

  private Scenario lasting(
      String name,
      String what,
      int servers,
      Set<Integer> sick,
      Map<Fault, ?> faults,
      double seconds) {
    return scenario(
        name,
        what,
        servers,
        sick,
        before,
        before + seconds,
        List.of(new Step(before, begin(sick, faults)), new Step(before + seconds, clear(sick))));
  }

  private Scenario fromTheStart(
      String name, String what, int servers, Set<Integer> sick, Map<Fault, ?> faults) {
    return scenario(
        name,
        what,
        servers,
        sick,
        0,
        during,
        List.of(new Step(BEFORE_THE_PICKER, begin(sick, faults)), new Step(during, clear(sick))));
  }

  private Scenario scenario(
      String name,
      String what,
      int servers,
      Set<Integer> sick,
      double onset,
      double well,
      List<Step> steps) {
    return new Scenario(
        name, what, servers, sick, Load.of(rate), onset, well, well + after, steps, List.of());
  }

  /** Nothing is wrong. */
  private Scenario well(String name, String what, int servers) {
    return new Scenario(
        name, what, servers, Set.of(), Load.of(rate), 0, during, during, List.of(), List.of());
  }

  /** Killed, and there again after a quarter of the time. */
  private Scenario restarted() {
    double back = before + during / 4;
    return scenario(
        "restarted",
        "1 of 8 is killed and comes back empty",
        8,
        ONE,
        before,
        back,
        List.of(
            new Step(before, pool -> pool.restart(ONE)),
            new Step(before, begin(ONE, REFUSES)),
            new Step(back, clear(ONE))));
  }

  private Scenario flapping() {
    List<Step> steps = new ArrayList<>();
    for (double at = before; at < before + during; at += 2) {
      steps.add(new Step(at, begin(ONE, REFUSES)));
      steps.add(new Step(at + 1, clear(ONE)));
    }
    return scenario(
        "flapping",
        "1 of 8 closes its port for 1 s every 2 s",
        8,
        ONE,
        before,
        before + during,
        steps);
  }

  private Scenario unstreamed(int rate) {
    return well("unstreamed-" + rate, "3 servers, " + rate + "/s of long answers in one piece", 3)
        .with(new Load(rate, 1, 0, 200, 150, Criticality.SHEDDABLE, 0.5))
        .holdingTo(NOTHING_FAILS, NOTHING_TURNED_AWAY);
  }

  private Scenario removedAndBack() {
    Set<Integer> two = Set.of(0, 1);
    double back = before + during / 4;
    return new Scenario(
            "removed-and-back",
            "2 of 6 are taken out and added again",
            6,
            two,
            Load.of(20),
            before,
            back,
            back + Math.min(15, during),
            List.of(
                new Step(before, pool -> pool.use(two)),
                new Step(back, pool -> pool.use(Set.of()))),
            List.of())
        .holdingTo(NOTHING_FAILS, Bar.eachGetsAtLeast(0.10));
  }

  private static Set<Integer> everyOne(int servers) {
    return IntStream.range(0, servers).boxed().collect(Collectors.toSet());
  }
}
