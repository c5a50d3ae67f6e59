package io.fairlead.lab.simulator;

import io.fairlead.stub.engine.EngineProfile;
import org.jspecify.annotations.Nullable;

/**
 * The pool is brought to a number of servers: new ones join, or the latest leave for good.
 *
 * @param at when, in seconds from the start of the run
 * @param servers how many there are from then on, 0 or more
 * @param engine what new ones are; null for what the pool's first server is
 * @param firstRequestSeconds how long the first completion of each new one is held up, 0 for not
 */
public record PoolScale(
    double at, int servers, @Nullable EngineProfile engine, double firstRequestSeconds)
    implements ScenarioEvent {

  public PoolScale {
    ScenarioEvent.checkAt(at);
    if (servers < 0 || servers > ServersJoin.MOST) {
      throw new IllegalArgumentException(
          "servers: is " + servers + "; set 0 to " + ServersJoin.MOST);
    }
    if (!(firstRequestSeconds >= 0 && firstRequestSeconds <= ServersJoin.LONGEST_FIRST)) {
      throw new IllegalArgumentException(
          "firstRequest: is " + firstRequestSeconds + " s; set 0s to 3600s");
    }
  }

  @Override
  public PoolScale movedTo(double otherAt) {
    return new PoolScale(otherAt, servers, engine, firstRequestSeconds);
  }
}
