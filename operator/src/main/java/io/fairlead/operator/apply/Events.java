package io.fairlead.operator.apply;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fairlead.operator.status.Notice;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Transition;
import java.time.Duration;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What kubectl describe shows below an object. Events are sent in their order by a thread of their
 * own, so that no status waits for them; one that cannot be sent is logged only. Those of a
 * namespace that goes away are dropped.
 *
 * <p>Safe to use from any thread.
 */
public final class Events {
  private static final Logger LOG = LoggerFactory.getLogger(Events.class);

  /** Events that wait to be sent. Of more than these the newest are dropped. */
  private static final int MOST_WAITING = 10_000;

  /** Of what is to be created it can only be the namespace. */
  private static final int NOT_FOUND = 404;

  /** A pool at its limit comes to the one and the other several times a minute. */
  private static final Set<Reason> IN_TURN =
      Set.of(Reason.EVERY_ENDPOINT_FULL, Reason.ROOM_FOR_REQUESTS);

  private final KubernetesClient client;
  private final InstantSource clock;

  /** That a pool is full, and that it has room again. */
  private final Turns turns =
      new Turns(
          Duration.ofMinutes(10),
          System::nanoTime,
          (telling, wait) ->
              CompletableFuture.delayedExecutor(wait.toMillis(), TimeUnit.MILLISECONDS)
                  .execute(telling));

  private final ThreadPoolExecutor sender =
      new ThreadPoolExecutor(
          0,
          1,
          1,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(MOST_WAITING),
          Thread.ofVirtual().name("events").factory(),
          (event, full) -> LOG.warn("an Event is dropped: too many wait to be sent"));

  public Events(KubernetesClient client, InstantSource clock) {
    this.client = client;
    this.clock = clock;
  }

  /** Warns of something that happened once; what lasts belongs into a condition. */
  public void warn(HasMetadata about, Notice notice, String message) {
    LOG.warn(
        "{} {}/{}: {}",
        about.getKind(),
        about.getMetadata().getNamespace(),
        about.getMetadata().getName(),
        message);
    send(about, "Warning", notice.wireName(), message);
  }

  /**
   * Tells of each transition of a condition, as a warning where somebody has to do something. Of
   * saturation, which comes and goes, it is told rarely.
   *
   * @param before conditions as they were in the API server
   * @param after as they were written
   */
  void tell(HasMetadata about, List<Condition> before, List<Condition> after) {
    for (Transition transition : Transition.between(before, after)) {
      if (IN_TURN.contains(transition.reason())) {
        turns.turn(about.getMetadata().getUid(), () -> send(about, transition));
      } else {
        send(about, transition);
      }
    }
  }

  private void send(HasMetadata about, Transition transition) {
    Reason reason = transition.reason();
    send(
        about,
        reason.kind() == Reason.Kind.WRONG ? "Warning" : "Normal",
        reason.wireName(),
        transition.message());
  }

  private void send(HasMetadata about, String type, String reason, String message) {
    String namespace = about.getMetadata().getNamespace();
    String now = clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
    Event event =
        new EventBuilder()
            .withNewMetadata()
            .withGenerateName("fairlead-")
            .withNamespace(namespace)
            .endMetadata()
            .withNewInvolvedObject()
            .withApiVersion(about.getApiVersion())
            .withKind(about.getKind())
            .withNamespace(namespace)
            .withName(about.getMetadata().getName())
            .withUid(about.getMetadata().getUid())
            .endInvolvedObject()
            .withType(type)
            .withReason(reason)
            .withMessage(message)
            .withNewSource()
            .withComponent("fairlead-operator")
            .endSource()
            .withFirstTimestamp(now)
            .withLastTimestamp(now)
            .withCount(1)
            .build();
    sender.execute(new Sending(event));
  }

  /** One that waits to be sent. */
  private final class Sending implements Runnable {
    private final Event event;

    Sending(Event event) {
      this.event = event;
    }

    @Override
    public void run() {
      try {
        client.resource(event).create();
      } catch (RuntimeException e) {
        // Refused, or this process leads no more, or it ends and the client is closed.
        if (isNamespaceGoing(e)) {
          sender.getQueue().removeIf(this::isOfTheSameNamespace);
        } else {
          LOG.warn("an Event could not be written: {}", e.getMessage());
        }
      }
    }

    private boolean isOfTheSameNamespace(Runnable waiting) {
      return waiting instanceof Sending other
          && other.event.getMetadata().getNamespace().equals(event.getMetadata().getNamespace());
    }
  }

  /** Nothing can be made there any more, and what is told of goes with it, or has gone. */
  private static boolean isNamespaceGoing(RuntimeException e) {
    return e instanceof KubernetesClientException refused
        && (refused.getCode() == NOT_FOUND
            || Optional.ofNullable(refused.getStatus()).map(Status::getDetails).stream()
                .flatMap(details -> details.getCauses().stream())
                .anyMatch(cause -> "NamespaceTerminating".equals(cause.getReason())));
  }
}
