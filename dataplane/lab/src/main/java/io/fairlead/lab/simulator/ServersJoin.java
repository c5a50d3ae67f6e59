package io.fairlead.lab.simulator;

import io.fairlead.stub.engine.EngineProfile;
import org.jspecify.annotations.Nullable;

/**
 * New servers join the pool, with nothing in their caches. They get the next free numbers.
 *
 * @param at when, in seconds from the start of the run
 * @param count how many, from 1 on
 * @param engine what they are; null for what the pool's first server is
 * @param firstRequestSeconds how long the first completion that each gets is held up, 0 for not
 */
public record ServersJoin(
    double at, int count, @Nullable EngineProfile engine, double firstRequestSeconds)
    implements ScenarioEvent {

  static final int MOST = 10_000;

  static final double LONGEST_FIRST = 3_600;

  public ServersJoin {
    ScenarioEvent.checkAt(at);
    if (count < 1 || count > MOST) {
      throw new IllegalArgumentException("count: is " + count + "; set 1 to " + MOST);
    }
    if (!(firstRequestSeconds >= 0 && firstRequestSeconds <= LONGEST_FIRST)) {
      throw new IllegalArgumentException(
          "firstRequest: is " + firstRequestSeconds + " s; set 0s to 3600s");
    }
  }

  @Override
  public ServersJoin movedTo(double otherAt) {
    return new ServersJoin(otherAt, count, engine, firstRequestSeconds);
  }
}
