package io.fairlead.lab.peers;

import io.fairlead.plugin.Endpoint;
import io.fairlead.stub.engine.EngineProfile;
import java.util.List;

/**
 * The engines that a run has.
 *
 * @param calibrated those that are there from the start; at least one
 * @param engines all that are ever there, by the number in their endpoint's name
 */
record PoolHardware(List<EngineProfile> calibrated, List<EngineProfile> engines) {

  PoolHardware {
    calibrated = List.copyOf(calibrated);
    engines = List.copyOf(engines);
  }

  /** The engine behind an endpoint; the first one for an endpoint without a number. */
  EngineProfile of(Endpoint endpoint) {
    String name = endpoint.name();
    String number = name.substring(name.lastIndexOf('-') + 1);
    boolean numbered = !number.isEmpty() && number.chars().allMatch(Character::isDigit);
    int index = numbered && number.length() < 9 ? Integer.parseInt(number) : 0;
    return engines.get(index % engines.size());
  }

  /**
   * Prompt tokens that an engine computes in a second when it does nothing else, in steps as large
   * as it takes: what calibration on an idle engine measures. The mean of the engines, as peers
   * have one number for all.
   */
  double prefillTokensPerSecond() {
    return calibrated.stream()
        .mapToDouble(
            engine ->
                1_000.0
                    * engine.maxBatchedTokens()
                    / Math.max(engine.d0(), engine.a() + engine.b() * engine.maxBatchedTokens()))
        .average()
        .orElseThrow();
  }
}
