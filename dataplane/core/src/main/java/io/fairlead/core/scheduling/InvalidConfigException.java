package io.fairlead.core.scheduling;

import java.util.List;
import java.util.stream.Collectors;

/** A config document that can't be run. Nothing of it has been applied. */
public final class InvalidConfigException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final transient List<Problem> problems;

  /** All that is wrong with one document; at least one problem. */
  public InvalidConfigException(List<Problem> problems) {
    super(problems.stream().map(Problem::toString).collect(Collectors.joining("; ")));
    this.problems = List.copyOf(problems);
  }

  /** What is wrong, in document order. */
  public List<Problem> problems() {
    return problems;
  }

  /**
   * One thing to mend.
   *
   * @param path field, e.g. {@code scheduling.plugins[2].parameters.queueDepthThreshold}
   * @param message what is wrong with it and what would be right
   */
  public record Problem(String path, String message) {
    @Override
    public String toString() {
      return path + " " + message;
    }
  }
}
