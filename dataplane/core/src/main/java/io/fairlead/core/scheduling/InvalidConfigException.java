package io.fairlead.core.scheduling;

import java.util.List;
import java.util.stream.Collectors;

/** A config document that can't be run. Nothing of it has been applied. */
public final class InvalidConfigException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final transient List<Problem> problems;
  private final transient List<Throwable> thrown;

  /** All that is wrong with one document; at least one problem. */
  public InvalidConfigException(List<Problem> problems) {
    this(problems, List.of());
  }

  InvalidConfigException(List<Problem> problems, List<Throwable> thrown) {
    super(problems.stream().map(Problem::toString).collect(Collectors.joining("; ")));
    this.problems = List.copyOf(problems);
    this.thrown = List.copyOf(thrown);
  }

  /** What is wrong, in document order. */
  public List<Problem> problems() {
    return problems;
  }

  /** What the code of plugins threw, of which the problems say where: for logs. */
  public List<Throwable> thrown() {
    return thrown;
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
