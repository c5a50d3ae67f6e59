package io.fairlead.core;

import io.fairlead.plugin.HeaderWriter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Observer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The config's observers: told of each attempt that is sent, and of its end once. The end is {@link
 * #over noted} while the attempt is on the accounts, and told when it is off them.
 */
final class Observers {

  private final ActiveConfig config;
  private final EndedRequest completion = new EndedRequest();

  /** How many were told that the request which is being sent is. */
  private int told;

  Observers(ActiveConfig config) {
    this.config = config;
  }

  /** A request is to be sent: nobody was told yet. */
  void beforeSend() {
    told = 0;
  }

  /** Tells that the request is sent; ends with the first one that throws. */
  void sent(InferenceRequest request, EndpointState endpoint, HeaderWriter headers) {
    for (Observer observer : config.observers()) {
      observer.dispatched(request, endpoint, headers);
      told++;
    }
  }

  /** Notes the end of the current attempt, which is still on the accounts. */
  void over(long now, Flight flight, EndpointState endpoint, Outcome outcome, Usage usage) {
    if (!config.observers().isEmpty()) {
      completion.set(now, flight, endpoint, outcome, usage);
    }
  }

  /** The attempt is not over after all. */
  void notOver() {
    completion.clear();
  }

  /** Tells the end that was noted, if one was: every observer, however many of them fail. */
  void tellEnd() {
    if (completion.isSet()) {
      tellEnd(config.observers());
    }
  }

  /** Notes the end of what could not be sent, if somebody was told that it was. */
  void unsent(long now, Flight flight) {
    EndpointState endpoint = flight.attempt.at;
    if (endpoint != null && told > 0) {
      completion.set(now, flight, endpoint, Outcome.FAILED, Usage.UNKNOWN);
    }
  }

  /**
   * Tells that end to those who were told of the send: not to the one that threw, nor to those
   * after it.
   */
  void tellUnsent(Throwable thrown) {
    if (told > 0) {
      try {
        tellEnd(config.observers().subList(0, told));
      } catch (RuntimeException | Error e) {
        thrown.addSuppressed(e);
      }
    }
  }

  private void tellEnd(List<Observer> observers) {
    @Nullable Throwable failure = null;
    for (Observer observer : observers) {
      try {
        observer.completed(completion);
      } catch (RuntimeException | Error e) {
        failure = e;
      }
    }
    completion.clear();
    switch (failure) {
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      case null, default -> {}
    }
  }
}
