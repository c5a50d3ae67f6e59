package io.fairlead.lab.simulator;

import io.fairlead.lab.simulator.SimulationSpec.Front;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.Arrival;
import io.fairlead.lab.workload.RequestShape;
import io.fairlead.lab.workload.Traffic;
import java.util.List;
import java.util.SplittableRandom;

/** Requests as they come, each to one of the pickers, until the run's time is up. */
final class ArrivingRequests {

  /** A prompt's head by which a hashing front spreads requests, in blocks: 2,048 tokens. */
  private static final int FRONT_BLOCKS = 128;

  private final Settings settings;
  private final Timeline timeline;
  private final PickerReplicas pickers;
  private final Senses senses;
  private final RunRecorder recorder;
  private final SplittableRandom random;
  private final Traffic traffic;
  private final long endNanos;
  private long lastNanos;

  /** Requests that are to come or on their way. */
  private long open;

  ArrivingRequests(
      SimulationSpec spec,
      Timeline timeline,
      PickerReplicas pickers,
      Senses senses,
      RunRecorder recorder) {
    this.timeline = timeline;
    this.pickers = pickers;
    this.senses = senses;
    this.recorder = recorder;
    settings = spec.settings();
    random = new SplittableRandom(spec.seed());
    traffic = spec.workload().start(random.nextLong());
    endNanos = Timeline.nanos(settings.seconds());
  }

  /** When none comes any more. */
  long endNanos() {
    return endNanos;
  }

  /** When the last one came so far. */
  long lastNanos() {
    return lastNanos;
  }

  /** Whether any is to come or on its way. */
  boolean open() {
    return open > 0;
  }

  /** The next that waits for nobody is to come; the one after it is pulled when it has. */
  void pull() {
    Arrival next = traffic.next();
    if (next != null && next.atNanos() < endNanos) {
      open++;
      timeline.at(
          next.atNanos(),
          now -> {
            pull();
            arrive(now, next.request());
          });
    }
  }

  /** One is over, which others may have waited for. */
  void ended(long now, RequestShape shape, boolean served) {
    open--;
    traffic.ended(now, shape, served, this::follow);
  }

  private void follow(Arrival next) {
    if (next.atNanos() < endNanos) {
      open++;
      timeline.at(next.atNanos(), now -> arrive(now, next.request()));
    }
  }

  private void arrive(long now, RequestShape shape) {
    lastNanos = now;
    SimulatedPicker picker = front(shape);
    long seed = random.nextLong();
    boolean lost = settings.lostHits() > random.nextDouble();
    Flight flight =
        new Flight(
            shape, now, picker, senses.streams(shape), lost ? forgotten(shape) : shape.blocks());
    recorder.arrived(flight);
    picker.arrive(now, flight, seed);
  }

  private SimulatedPicker front(RequestShape shape) {
    List<SimulatedPicker> current = pickers.current();
    if (current.size() == 1) {
      return current.getFirst();
    }
    int known = Math.min(shape.promptBlocks(), FRONT_BLOCKS);
    return current.get(
        settings.front() == Front.HASHED && known > 0
            ? Math.floorMod(shape.blocks()[known - 1], current.size())
            : random.nextInt(current.size()));
  }

  /** The same request with blocks that nobody has. */
  private long[] forgotten(RequestShape shape) {
    return random.longs(shape.blocks().length).toArray();
  }
}
