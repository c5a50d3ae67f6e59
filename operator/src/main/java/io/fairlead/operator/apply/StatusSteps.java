package io.fairlead.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * From which version to which our last write of a status has taken an object. Whoever knows the
 * former learns nothing from the latter.
 *
 * <p>Safe to use from any thread.
 */
public final class StatusSteps {
  private static final int MOST = 8_192;

  /** By UID, the oldest first. */
  private final Map<String, Step> steps = new LinkedHashMap<>();

  private record Step(String from, String to) {}

  /**
   * A status was written.
   *
   * @param from version that the object had, or the write would have been refused
   * @param left the object as the API server answered
   */
  public synchronized void took(String from, HasMetadata left) {
    String uid = left.getMetadata().getUid();
    steps.remove(uid);
    steps.put(uid, new Step(from, left.getMetadata().getResourceVersion()));
    if (steps.size() > MOST) {
      Iterator<Step> oldest = steps.values().iterator();
      oldest.next();
      oldest.remove();
    }
  }

  /**
   * The version that our last write of its status left.
   *
   * @param version that the object had before
   * @return empty where it had another, or nothing was written
   */
  public synchronized Optional<String> after(String uid, String version) {
    return Optional.ofNullable(steps.get(uid))
        .filter(step -> step.from().equals(version))
        .map(Step::to);
  }
}
