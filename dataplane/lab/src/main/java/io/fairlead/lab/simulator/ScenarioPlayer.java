package io.fairlead.lab.simulator;

import io.fairlead.lab.simulator.Membership.Change;
import java.util.List;

/** Lets happen what happens to servers and pickers in the course of a run. */
final class ScenarioPlayer {

  private final Timeline timeline;
  private final SimulatedPool pool;
  private final PickerReplicas pickers;
  private final Flights flights;
  private final Scrapes scrapes;
  private final RunRecorder recorder;

  ScenarioPlayer(
      Timeline timeline,
      SimulatedPool pool,
      PickerReplicas pickers,
      Flights flights,
      Scrapes scrapes,
      RunRecorder recorder) {
    this.timeline = timeline;
    this.pool = pool;
    this.pickers = pickers;
    this.flights = flights;
    this.scrapes = scrapes;
    this.recorder = recorder;
  }

  /** All this is to happen; what is due at the same time happens in this order. */
  void play(List<Change> changes, List<ScenarioEvent> events) {
    changes.forEach(change -> timeline.at(Timeline.nanos(change.at()), now -> change(now, change)));
    events.forEach(this::play);
  }

  private void change(long now, Change change) {
    SimulatedServer server = pool.change(change);
    List<SimulatedServer> members = pool.members();
    pickers.processes().forEach(picker -> picker.endpoints(now, members));
    if (change.there()) {
      scrapes.come(now, server);
    }
  }

  private void play(ScenarioEvent event) {
    switch (event) {
      case ServerEvent of -> {
        SimulatedServer server = pool.servers().get(of.server());
        timeline.at(Timeline.nanos(of.at()), now -> begin(now, server, of));
        if (of.kind().lasts() && Double.isFinite(of.end())) {
          timeline.at(Timeline.nanos(of.end()), now -> end(now, server, of));
        }
      }
      case PickerRestart restart -> {
        timeline.at(Timeline.nanos(restart.at()), _ -> retire(restart));
        if (Double.isFinite(restart.end())) {
          timeline.at(Timeline.nanos(restart.end()), now -> replace(now, restart));
        }
      }
      case ServersJoin _, PoolScale _ -> {}
    }
  }

  private void retire(PickerRestart restart) {
    recorder.pickerLeft(restart.picker());
    pickers.retire(restart.picker());
  }

  private void replace(long now, PickerRestart restart) {
    pickers.replace(now, restart.picker(), pool.members());
  }

  private void begin(long now, SimulatedServer server, ServerEvent event) {
    if (event.kind().lasts()) {
      server.condition().begin(event);
      server.adapt(now);
    }
    switch (event.kind()) {
      case REFUSE -> flights.drop(now, server);
      case RESTART -> {
        flights.drop(now, server);
        server.restart(now);
      }
      case RESET_CACHE -> server.resetCache(now);
      case SWALLOW,
          FAIL_FAST,
          FAIL_LATE,
          FREEZE,
          FREEZE_LIVE,
          SLOW,
          DRAIN,
          METRICS_GONE,
          UNHEALTHY,
          LEAVE -> {}
    }
  }

  private void end(long now, SimulatedServer server, ServerEvent event) {
    server.condition().end(event);
    if (event.kind() == ServerEvent.Kind.SWALLOW) {
      flights.drop(now, server);
    }
    server.adapt(now);
  }
}
