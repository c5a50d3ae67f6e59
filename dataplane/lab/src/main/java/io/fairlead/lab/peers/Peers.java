package io.fairlead.lab.peers;

import io.fairlead.plugin.PluginFactory;
import io.fairlead.stub.engine.EngineProfile;
import java.util.List;

/** Plugin types that policies of the lab may name beside the built-in ones. */
public final class Peers {

  private Peers() {}

  /**
   * One of each type.
   *
   * @param engines those of the run's pool, by the number in their endpoint's name: what a peer is
   *     calibrated on, and what the oracle looks at
   */
  public static List<PluginFactory> factories(List<EngineProfile> engines) {
    PoolHardware hardware = new PoolHardware(engines);
    return List.of(
        new AibrixPrefixCachePicker.Factory(),
        new DynamoPicker.Factory(),
        new KubeAiHashPicker.Factory(),
        new LatencyOracleScorer.Factory(hardware),
        new LlmdAffinityFilter.Factory(hardware),
        new LlmdTokenLoadScorer.Factory(),
        new PolledMeanDetector.Factory(),
        new PolledQueueScorer.Factory(),
        new PowerOfTwoPicker.Factory(),
        new PreblePicker.Factory(hardware),
        new ProductFormScorer.Factory(),
        new RoundRobinPicker.Factory(),
        new SglangCacheAwarePicker.Factory());
  }
}
