package io.fairlead.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * What was said of an object in its status, and somebody has put otherwise since. Two operators
 * that serve the same pools and don't agree would answer each other as fast as they can: each write
 * wakes the other. So the same is said again a few times at once, then rarely; what is new is said
 * at once.
 *
 * <p>Safe to use from any thread.
 */
public final class Contradictions {
  private static final int MOST = 4_096;

  private final Budget budget;
  private final BiConsumer<HasMetadata, String> told;

  /** By UID of the object, a hash of what was said last; the oldest first. */
  private final Map<String, Integer> said = new LinkedHashMap<>();

  /** UIDs of objects of which it was told. */
  private final Set<String> contended = ConcurrentHashMap.newKeySet();

  /**
   * @param oneMore how long until the same is said once more
   * @param nanos a clock that never jumps
   * @param told once of each object of which the same is said rarely from then on, and why
   */
  public Contradictions(
      Duration oneMore, LongSupplier nanos, BiConsumer<HasMetadata, String> told) {
    this.told = told;
    budget = new Budget(Budget.REPAIRS, oneMore, nanos);
  }

  /**
   * How long not to say it.
   *
   * @param statement all that is to be said, but for times
   * @return empty when it may be said now
   */
  Optional<Duration> left(HasMetadata object, Object statement) {
    String uid = object.getMetadata().getUid();
    if (isNew(uid, statement)) {
      return Optional.empty();
    }
    Optional<Duration> left = budget.left(uid);
    if (left.isPresent() && contended.add(uid)) {
      told.accept(
          object,
          "%s changes what %s says in status again and again, as another operator does that serves it, too; it is said rarely from now on: have one of the two leave it alone"
              .formatted(others(object), StatusApplier.FIELD_MANAGER));
    }
    return left;
  }

  /** It was said. */
  void said(HasMetadata object, Object statement) {
    String uid = object.getMetadata().getUid();
    if (!isNew(uid, statement)) {
      budget.take(uid);
    } else if (budget.left(uid).isEmpty()) {
      contended.remove(uid);
    }
    synchronized (said) {
      said.remove(uid);
      said.put(uid, statement.hashCode());
      if (said.size() > MOST) {
        var oldest = said.keySet().iterator();
        contended.remove(oldest.next());
        oldest.remove();
      }
    }
  }

  /** Who else writes the object's status. */
  static String others(HasMetadata object) {
    String managers =
        object.getMetadata().getManagedFields().stream()
            .filter(fields -> "status".equals(fields.getSubresource()))
            .map(ManagedFieldsEntry::getManager)
            .filter(manager -> !manager.startsWith("fairlead"))
            .distinct()
            .collect(Collectors.joining(" or "));
    return managers.isEmpty() ? "Another controller" : "Field manager " + managers;
  }

  private boolean isNew(String uid, Object statement) {
    synchronized (said) {
      Integer last = said.get(uid);
      return last == null || last != statement.hashCode();
    }
  }
}
