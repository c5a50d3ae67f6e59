package io.fairlead.lab.faults;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Something that happens to servers while requests come.
 *
 * @param name as it is chosen
 * @param what happens, for people
 * @param servers how many there are
 * @param sick those that it happens to
 * @param load what comes
 * @param onset when it begins, in seconds; 0 or less for before the picker starts
 * @param well when it is over
 * @param end when the last request comes
 * @param steps what is done, in order of time
 * @param bars what must hold
 */
record Scenario(
    String name,
    String what,
    int servers,
    Set<Integer> sick,
    Load load,
    double onset,
    double well,
    double end,
    List<Step> steps,
    List<Bar> bars) {

  Scenario {
    sick = Set.copyOf(sick);
    steps = List.copyOf(steps);
    bars = List.copyOf(bars);
    double last = Double.NEGATIVE_INFINITY;
    for (Step step : steps) {
      if (step.at() < last) {
        throw new IllegalArgumentException(name + ": step at " + step.at() + " is out of order");
      }
      last = step.at();
    }
  }

  /** Something done to servers. */
  interface Deed {
    void to(FaultyPool pool) throws IOException;
  }

  /**
   * Something done at a time.
   *
   * @param at in seconds; below 0 before the picker starts
   */
  record Step(double at, Deed deed) {}

  /** Whether it begins before the picker does. */
  boolean fromTheStart() {
    return onset <= 0;
  }

  Scenario with(Load other) {
    return new Scenario(name, what, servers, sick, other, onset, well, end, steps, bars);
  }

  Scenario holdingTo(Bar... more) {
    List<Bar> all = new ArrayList<>(bars);
    all.addAll(List.of(more));
    return new Scenario(name, what, servers, sick, load, onset, well, end, steps, all);
  }

  static Deed begin(Collection<Integer> who, Map<io.fairlead.stub.server.Fault, ?> faults) {
    return pool -> pool.begin(who, faults);
  }

  static Deed clear(Collection<Integer> who) {
    return pool -> pool.clear(who);
  }
}
