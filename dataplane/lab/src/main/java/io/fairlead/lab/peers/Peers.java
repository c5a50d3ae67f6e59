package io.fairlead.lab.peers;

import io.fairlead.plugin.PluginFactory;
import io.fairlead.stub.engine.EngineProfile;
import java.util.List;
import java.util.function.Predicate;

/** Plugin types that policies of the lab may name beside the built-in ones. */
public final class Peers {

  private Peers() {}

  /**
   * One of each type.
   *
   * @param calibrated engines that the run's pool has from the start: what peers are calibrated on
   * @param engines all that it ever has, by the number in their endpoint's name: what the oracle
   *     looks at
   * @param there whether the pool has the endpoint of a name now
   */
  public static List<PluginFactory> factories(
      List<EngineProfile> calibrated, List<EngineProfile> engines, Predicate<String> there) {
    PoolHardware hardware = new PoolHardware(calibrated, engines);
    return List.of(
        new AibrixPrefixCachePicker.Factory(),
        new DynamoPicker.Factory(),
        new KubeAiHashPicker.Factory(),
        new LatencyOracleScorer.Factory(hardware),
        new LlmdAffinityFilter.Factory(hardware),
        new LlmdTokenLoadScorer.Factory(),
        new PolledMeanDetector.Factory(there),
        new PolledQueueScorer.Factory(),
        new PowerOfTwoPicker.Factory(),
        new PreblePicker.Factory(hardware),
        new ProductFormScorer.Factory(),
        new RoundRobinPicker.Factory(),
        new SglangCacheAwarePicker.Factory());
  }
}
