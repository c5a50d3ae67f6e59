package io.fairlead.operator.desire;

import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.status.Replica;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The models that are as they should be in what every ready picker runs. */
final class RunningModels {
  private RunningModels() {}

  /**
   * Entries of {@code config} that all of them run: an edit of one model leaves the others what
   * they are.
   *
   * @param config what should run
   * @param wanted its hash
   * @param held where the documents are that they may still run
   */
  static Set<ModelConfig> of(
      Observation seen, PoolConfig config, ConfigHash wanted, HeldConfig held) {
    List<Replica> ready =
        seen.pods().stream()
            .map(pod -> Replica.of(pod, seen.report(pod)))
            .filter(Replica::ready)
            .toList();
    if (ready.isEmpty()) {
      return Set.of();
    }
    Set<ModelConfig> running = new HashSet<>(config.models());
    Set<Optional<ConfigHash>> others = new HashSet<>();
    ready.forEach(replica -> others.add(hash(replica)));
    others.remove(Optional.of(wanted));
    for (Optional<ConfigHash> other : others) {
      running.retainAll(
          new HashSet<>(other.flatMap(held::document).map(PoolConfig::models).orElse(List.of())));
    }
    return Set.copyOf(running);
  }

  private static Optional<ConfigHash> hash(Replica replica) {
    PickerReport report = replica.report();
    return report == null ? Optional.empty() : Optional.ofNullable(report.configHash());
  }
}
