package io.fairlead.crds.compile;

import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a pool and its objects amount to.
 *
 * @param config null when there is none that could run: the pool is invalid, or its picker is and
 *     no scheduling ran before
 * @param accepted the InferenceModels in the config, in the order of their model names
 * @param findings about objects, first the pool, then the picker, then models by name, then
 *     rewrites by age
 */
public record Compilation(
    @Nullable PoolConfig config, List<AcceptedModel> accepted, List<Finding> findings) {
  public Compilation {
    accepted = List.copyOf(accepted);
    findings = List.copyOf(findings);
  }

  /**
   * A model in the config.
   *
   * @param object the InferenceModel
   * @param config what it says, also where there is no config that could run
   * @param message how its pool was found, for its conditions
   */
  public record AcceptedModel(ObjectRef object, ModelConfig config, String message) {}

  /**
   * Whether something is wrong with this field of the EndpointPicker, or below it, so that what was
   * in force of it stays.
   *
   * @param path such as {@code spec.scheduling}
   */
  public boolean refuses(String path) {
    return findings.stream()
        .filter(finding -> finding.severity() == Finding.Severity.REJECTS)
        .filter(finding -> finding.object().kind().equals("EndpointPicker"))
        .map(Finding::path)
        .anyMatch(at -> at.equals(path) || at.startsWith(path + ".") || at.startsWith(path + "["));
  }

  /** The findings about {@code object}. */
  public List<Finding> about(ObjectRef object) {
    return findings.stream().filter(finding -> finding.object().equals(object)).toList();
  }
}
