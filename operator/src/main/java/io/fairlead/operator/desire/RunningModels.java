package io.fairlead.operator.desire;

import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.operator.status.Replica;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** The models that are as they should be in what every ready picker runs. */
final class RunningModels {
  private RunningModels() {}

  /**
   * Entries of {@code config} that all of them run: an edit of one model leaves the others what
   * they are.
   *
   * @param replicas with what each says of itself, as far as that counts
   * @param config what should run
   * @param models of a config that may run still, by its hash; empty where it is not known
   */
  static Set<ModelConfig> of(
      List<Replica> replicas,
      PoolConfig config,
      Function<ConfigHash, Optional<List<ModelConfig>>> models) {
    Set<Optional<ConfigHash>> hashes = new HashSet<>();
    replicas.stream().filter(Replica::ready).map(RunningModels::hash).forEach(hashes::add);
    if (hashes.isEmpty()) {
      return Set.of();
    }
    Set<ModelConfig> running = new HashSet<>(config.models());
    for (Optional<ConfigHash> hash : hashes) {
      running.retainAll(new HashSet<>(hash.flatMap(models).orElse(List.of())));
    }
    return Set.copyOf(running);
  }

  private static Optional<ConfigHash> hash(Replica replica) {
    PickerReport report = replica.report();
    return report == null ? Optional.empty() : Optional.ofNullable(report.configHash());
  }
}
