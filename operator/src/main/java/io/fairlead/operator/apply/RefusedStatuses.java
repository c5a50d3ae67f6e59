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
 * API server says, see {@link VaryingMessages}.
 *
 * <p>Safe to use from any thread.
 */
public final class RefusedStatuses {
  private static final int MOST = 4_096;
  private static final int BAD_REQUEST = 400;
  private static final int SERVER_ERROR = 500;

  /** How long an API server may fail before that is told: most often it is back in a moment. */
  private static final Duration PASSING = Duration.ofSeconds(5);

  /** Each time it is one more Event, which says the same. */
  private static final Duration TELL_AGAIN = Duration.ofMinutes(10);

  /** Not found, in conflict with what others wrote, too many: none of it lasts. */
  private static final Set<Integer> PASS = Set.of(401, 404, 409, 429);

  private final Events events;
  private final LongSupplier nanos;
  private final VaryingMessages<String> messages;

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
    messages = new VaryingMessages<>(TELL_AGAIN, nanos);
  }

  /** The API server did not take the object's status. */
  void refused(HasMetadata object, KubernetesClientException e) {
    if (e.getCode() < BAD_REQUEST || PASS.contains(e.getCode())) {
      return;
    }
    news(object.getMetadata().getUid(), e.getCode(), Refusals.status(object, e))
        .ifPresent(message -> events.warn(object, Notice.STATUS_REFUSED, message));
  }

  /** What is to be told now; empty where that is told already, or may pass. */
  private synchronized Optional<String> news(String uid, int code, String message) {
    boolean passes = code >= SERVER_ERROR;
    long now = nanos.getAsLong();
    Refusal last = refusals.getOrDefault(uid, new Refusal(now, null));
    String told =
        passes && now - last.since() < PASSING.toNanos()
            ? last.told()
            : messages.of(uid, code, message);
    refusals.put(uid, new Refusal(last.since(), told));
    if (refusals.size() > MOST) {
      var oldest = refusals.keySet().iterator();
      oldest.next();
      oldest.remove();
    }
    return Optional.ofNullable(told).filter(any -> !any.equals(last.told()));
  }

  /** It did, or there is nothing to be said that is not there, or the object is gone. */
  synchronized void taken(String uid) {
    refusals.remove(uid);
    messages.end(uid);
  }

  /** What was told of an object whose status the API server refuses still; else empty. */
  synchronized Optional<String> told(HasMetadata object) {
    return Optional.ofNullable(refusals.get(object.getMetadata().getUid())).map(Refusal::told);
  }
}
