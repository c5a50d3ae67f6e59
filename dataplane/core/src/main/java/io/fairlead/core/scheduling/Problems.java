package io.fairlead.core.scheduling;

import io.fairlead.core.scheduling.InvalidConfigException.Problem;
import io.fairlead.plugin.InvalidParameterException;
import java.util.ArrayList;
import java.util.List;

/** What has been found wrong with a document so far. */
final class Problems {

  private final List<Problem> found = new ArrayList<>();

  void add(String path, String message) {
    found.add(new Problem(path, message));
  }

  void add(String path, InvalidParameterException refused) {
    String message = refused.getMessage();
    add(path, message == null ? "is refused" : message);
  }

  int count() {
    return found.size();
  }

  void throwIfAny() {
    if (!found.isEmpty()) {
      throw new InvalidConfigException(found);
    }
  }
}
