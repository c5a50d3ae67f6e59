package io.fairlead.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fairlead.operator.status.Notice;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Objects of which the API server does not take the status, by a policy or a webhook say. What is
 * there is no longer true, or says nothing, so it is told in an Event: once for each thing that the
 * API server says.
 *
 * <p>Safe to use from any thread.
 */
public final class RefusedStatuses {
  private static final int MOST = 4_096;
  private static final int BAD_REQUEST = 400;
  private static final int SERVER_ERROR = 500;

  /** How long an API server may fail before that is told: most often it is back in a moment. */
  private static final Duration PASSING = Duration.ofSeconds(5);

  /** Not found, in conflict with what others wrote, too many: none of it lasts. */
  private static final Set<Integer> PASS = Set.of(401, 404, 409, 429);

  private final Events events;
  private final LongSupplier nanos;

  /** By UID of the object, the oldest first. */
  private final Map<String, Refusal> refusals = new LinkedHashMap<>();

  /**
   * @param since when it was first refused
   * @param told what was told of it; null for nothing yet
   */
  private record Refusal(long since, @Nullable String told) {}

  /**
   * @param nanos a clock that never jumps
   */
  public RefusedStatuses(Events events, LongSupplier nanos) {
    this.events = events;
    this.nanos = nanos;
  }

  /** The API server did not take the object's status. */
  void refused(HasMetadata object, KubernetesClientException e) {
    if (e.getCode() < BAD_REQUEST || PASS.contains(e.getCode())) {
      return;
    }
    String message = Refusals.status(object, e);
    if (isNew(object.getMetadata().getUid(), e.getCode() >= SERVER_ERROR, message)) {
      events.warn(object, Notice.STATUS_REFUSED, message);
    }
  }

  private synchronized boolean isNew(String uid, boolean passes, String message) {
    long now = nanos.getAsLong();
    Refusal last = refusals.getOrDefault(uid, new Refusal(now, null));
    boolean tells =
        !message.equals(last.told()) && (!passes || now - last.since() >= PASSING.toNanos());
    refusals.put(uid, tells ? new Refusal(last.since(), message) : last);
    if (refusals.size() > MOST) {
      var oldest = refusals.keySet().iterator();
      oldest.next();
      oldest.remove();
    }
    return tells;
  }

  /** It did, or there is nothing to be said that is not there, or the object is gone. */
  synchronized void taken(String uid) {
    refusals.remove(uid);
  }

  /** What was told of an object whose status the API server refuses still; else empty. */
  synchronized Optional<String> told(HasMetadata object) {
    return Optional.ofNullable(refusals.get(object.getMetadata().getUid())).map(Refusal::told);
  }
}
