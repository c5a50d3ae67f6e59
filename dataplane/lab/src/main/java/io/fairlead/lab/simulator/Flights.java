package io.fairlead.lab.simulator;

import io.fairlead.core.Failure;
import io.fairlead.core.Rejection;
import io.fairlead.lab.simulator.ServerCondition.Answer;
import io.fairlead.lab.workload.RequestShape;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Requests between pickers and servers: does with them what their pickers want, and tells these
 * what comes of it.
 */
final class Flights implements SimulatedServer.Answers {

  private static final int SERVER_ERRORS = 500;

  private final Timeline timeline;
  private final ArrivingRequests requests;
  private final Senses senses;
  private final KvLink link;
  private final RunRecorder recorder;

  /** Requests whose prompts are computed elsewhere than where they were sent, or on their way. */
  private final Set<Flight> inTwoPlaces = new LinkedHashSet<>();

  /**
   * None yet.
   *
   * @param link by which prompts go from one server to another
   */
  Flights(
      Timeline timeline,
      ArrivingRequests requests,
      Senses senses,
      KvLink link,
      RunRecorder recorder) {
    this.timeline = timeline;
    this.requests = requests;
    this.senses = senses;
    this.link = link;
    this.recorder = recorder;
  }

  /**
   * Sends one to a server; where it was before, it is given up.
   *
   * @param prefiller who computes its prompt; null for the server itself
   */
  void send(long now, Flight flight, SimulatedServer server, @Nullable SimulatedServer prefiller) {
    abandon(now, flight);
    if (flight.over) {
      return;
    }
    int attempt = ++flight.attempts;
    flight.server = server;
    flight.prefiller = prefiller;
    flight.transferred = 0;
    if (prefiller != null) {
      inTwoPlaces.add(flight);
    }
    recorder.sent(now, server.number());
    Timeline.Event reaches =
        later -> {
          if (flight.isAt(server, attempt)) {
            reach(later, flight, server, attempt);
          }
        };
    if (flight.waited) {
      // What made room may be this very server's step, which has to end first.
      timeline.at(now + senses.jitterNanos(), reaches);
    } else {
      timeline.nowOrAt(now, now + senses.jitterNanos(), reaches);
    }
  }

  private void reach(long now, Flight flight, SimulatedServer server, int attempt) {
    long heldUp = server.firstHeldUp();
    if (heldUp > 0) {
      timeline.at(
          now + heldUp,
          later -> {
            if (flight.isAt(server, attempt)) {
              reach(later, flight, server, attempt);
            }
          });
      return;
    }
    if (!server.fits(flight.shape)) {
      flight.picker.refused(now, flight);
      turnedAway(now, flight);
      return;
    }
    switch (server.condition().completion()) {
      case Answer.Served _ -> {
        SimulatedServer prefiller = flight.prefiller;
        if (prefiller == null) {
          server.submit(now, flight);
        } else {
          havePrefilled(now, flight, prefiller);
        }
      }
      case Answer.Failed(Failure failure, long after) ->
          timeline.at(
              now + after,
              later -> {
                if (!flight.over && flight.attempts == attempt) {
                  flight.picker.attemptFailed(later, flight, failure);
                }
              });
    }
  }

  /** The server that was to answer has the other compute the prompt, as its sidecar does. */
  private void havePrefilled(long now, Flight flight, SimulatedServer prefiller) {
    int attempt = flight.attempts;
    switch (prefiller.condition().completion()) {
      case Answer.Served _ -> prefiller.submit(now, flight);
      case Answer.Failed(_, long after) ->
          timeline.at(
              now + after,
              later -> {
                if (!flight.over && flight.attempts == attempt) {
                  // The sidecar answers for whom it can't reach.
                  flight.picker.attemptFailed(later, flight, Failure.UNAVAILABLE);
                }
              });
    }
  }

  @Override
  public void prefilled(long now, Flight flight) {
    SimulatedServer server = Objects.requireNonNull(flight.server);
    SimulatedServer from = Objects.requireNonNull(flight.prefiller);
    int attempt = flight.attempts;
    RequestShape shape = flight.shape;
    int held = server.engine().heldTokens(flight.blocks, shape.promptTokens());
    long there = server.transfer(now, from, shape.promptTokens() - held, link);
    flight.prefiller = null;
    flight.transferred = shape.promptTokens();
    timeline.at(
        there,
        later -> {
          if (flight.isAt(server, attempt)) {
            inTwoPlaces.remove(flight);
            reach(later, flight, server, attempt);
          }
        });
  }

  /** Nobody waits any more for whom it was sent to. */
  private void abandon(long now, Flight flight) {
    SimulatedServer holder = flight.holder();
    if (holder != null) {
      inTwoPlaces.remove(flight);
      holder.cancel(now, flight);
      flight.server = null;
      flight.prefiller = null;
    }
  }

  /** The server's connections end. */
  void drop(long now, SimulatedServer server) {
    for (Flight flight : server.drop(now)) {
      lost(now, flight);
    }
    for (Flight flight : List.copyOf(inTwoPlaces)) {
      if (flight.server == server) {
        abandon(now, flight);
        lost(now, flight);
      }
    }
  }

  private void lost(long now, Flight flight) {
    if (flight.answered) {
      fail(now, flight);
    } else {
      // A first token on its way is lost with its connection.
      abandon(now, flight);
      flight.picker.attemptFailed(now, flight, Failure.DIED);
    }
  }

  /** Turns one away, or breaks it off. */
  void reject(long now, Flight flight, Rejection rejection) {
    abandon(now, flight);
    if (flight.over) {
      return;
    }
    if (rejection.reason().status() < SERVER_ERRORS) {
      turnedAway(now, flight);
    } else {
      recorder.failed(now, flight);
      over(now, flight, false);
    }
  }

  /** Turns one away unless its answer has begun. */
  void evict(long now, Flight flight) {
    if (!flight.over && !flight.answered) {
      abandon(now, flight);
      flight.over = true;
      flight.picker.gaveUp(now, flight);
      turnedAway(now, flight);
    }
  }

  /** The client gets a failure, or half an answer. */
  void fail(long now, Flight flight) {
    flight.server = null;
    if (!flight.over) {
      recorder.failed(now, flight);
      flight.over = true;
      flight.picker.failed(now, flight);
      over(now, flight, false);
    }
  }

  private void turnedAway(long now, Flight flight) {
    recorder.rejected(now, flight);
    over(now, flight, false);
  }

  @Override
  public void firstToken(long now, Flight flight) {
    if (!flight.streamed) {
      return;
    }
    SimulatedServer server = flight.server;
    int attempt = flight.attempts;
    flight.firstTokenAt = now + senses.jitterNanos();
    timeline.nowOrAt(
        now,
        flight.firstTokenAt,
        later -> {
          if (flight.isAt(server, attempt)) {
            firstByte(later, flight);
          }
        });
  }

  private void firstByte(long now, Flight flight) {
    flight.answered = true;
    recorder.firstToken(flight);
    flight.picker.firstByte(now, flight);
  }

  @Override
  public void finished(long now, Flight flight) {
    SimulatedServer server = flight.server;
    int attempt = flight.attempts;
    long end = now + senses.jitterNanos();
    timeline.nowOrAt(
        now,
        // The end of a stream does not overtake its beginning.
        flight.streamed ? Math.max(end, flight.firstTokenAt) : end,
        later -> {
          if (flight.isAt(server, attempt)) {
            end(later, flight);
          }
        });
  }

  /** The last of an answer is there. */
  private void end(long now, Flight flight) {
    if (!flight.streamed) {
      flight.firstTokenAt = now;
      firstByte(now, flight);
    }
    flight.server = null;
    flight.over = true;
    recorder.finished(now, flight);
    flight.picker.finished(now, flight);
    over(now, flight, true);
  }

  private void over(long now, Flight flight, boolean served) {
    flight.over = true;
    flight.server = null;
    flight.prefiller = null;
    inTwoPlaces.remove(flight);
    requests.ended(now, flight.shape, served);
  }
}
