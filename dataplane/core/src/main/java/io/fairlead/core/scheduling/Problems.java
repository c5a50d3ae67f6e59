package io.fairlead.core.scheduling;

import io.fairlead.core.scheduling.InvalidConfigException.Problem;
import io.fairlead.plugin.InvalidParameterException;
import java.util.ArrayList;
import java.util.List;

/** What has been found wrong with a document so far. */
final class Problems {

  private final List<Problem> found = new ArrayList<>();
  private final List<Throwable> thrown = new ArrayList<>();

  void add(String path, String message) {
    found.add(new Problem(path, message));
  }

  void add(String path, InvalidParameterException refused) {
    String message = refused.getMessage();
    add(path, message == null ? "is refused" : message);
  }

  /** What a plugin's own code threw unexpectedly. */
  void failed(String path, String what, Throwable failure) {
    add(path, what + ": " + failure + "; mend the plugin or take it out");
    thrown.add(failure);
  }

  /** What plugins threw of a part that was compiled by itself, and whose problems are added. */
  void thrown(List<Throwable> failures) {
    thrown.addAll(failures);
  }

  int count() {
    return found.size();
  }

  void throwIfAny() {
    if (!found.isEmpty()) {
      throw new InvalidConfigException(found, thrown);
    }
  }
}
