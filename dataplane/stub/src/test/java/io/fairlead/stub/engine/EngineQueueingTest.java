package io.fairlead.stub.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.stub.profile.EngineProfiles;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * An engine with one seat and Poisson arrivals is the queue M/G/1, whose mean wait is known; and
 * whatever arrives, the mean number in the engine is rate times mean stay.
 */
final class EngineQueueingTest {

  private static final long[] NO_BLOCKS = {};
  private static final int BATCHES = 40;
  private static final int BATCH = 2_500;
  private static final EngineProfile ONE_SEAT =
      EngineProfiles.shipped().named("h100-8b").withMaxSequences(1);

  @ParameterizedTest(name = "load {0}, spread {1}, seed {2}")
  @CsvSource({
    "0.3, false, 1",
    "0.7, false, 2",
    "0.85, false, 3",
    "0.3, true, 4",
    "0.7, true, 5",
    "0.85, true, 6"
  })
  void theMeanWaitIsPollaczekAndKhinchines(double load, boolean spread, long seed) {
    int[][] shapes = spread ? new int[][] {{10, 1}, {500, 2}, {4_000, 12}} : new int[][] {{800, 3}};
    double first = 0;
    double second = 0;
    for (int[] shape : shapes) {
      double service = ClosedForm.aloneMillis(ONE_SEAT, shape[0], shape[1]);
      first += service / shapes.length;
      second += service * service / shapes.length;
    }
    double rate = load / first;
    double expected = rate * second / (2 * (1 - load));

    double[] means = meanWaits(shapes, rate, seed);
    double sum = 0;
    double squares = 0;
    for (double mean : means) {
      sum += mean;
      squares += mean * mean;
    }
    double mean = sum / BATCHES;
    double error = Math.sqrt((squares / BATCHES - mean * mean) / (BATCHES - 1));
    assertThat(Math.abs(mean - expected) / error)
        .as("mean wait %.3f ms, expected %.3f ms, in standard errors", mean, expected)
        .isLessThan(3);
    assertThat(error).as("the run is long enough to tell").isLessThan(0.1 * expected);
  }

  /** Mean waits in ms of consecutive batches of requests, the first batch left out. */
  private static double[] meanWaits(int[][] shapes, double perMilli, long seed) {
    Random random = new Random(seed);
    int requests = BATCH * (BATCHES + 1);
    double[] waits = new double[BATCHES + 1];
    long[] arrived = new long[requests];
    int[][] shapeOf = new int[requests][];
    Engine engine =
        new Engine(
            ONE_SEAT,
            new EngineListener() {
              @Override
              public void firstToken(long id, int cachedTokens, long time) {
                double prefill = ClosedForm.prefillMillis(ONE_SEAT, shapeOf[(int) id][0]);
                waits[(int) id / BATCH] += ((time - arrived[(int) id]) / 1e6 - prefill) / BATCH;
              }

              @Override
              public void finished(long id, long time) {}
            });
    double now = 0;
    for (int id = 0; id < requests; id++) {
      now -= Math.log(1 - random.nextDouble()) / perMilli * 1e6;
      arrived[id] = (long) now;
      shapeOf[id] = shapes[random.nextInt(shapes.length)];
      engine.submit(arrived[id], id, NO_BLOCKS, shapeOf[id][0], shapeOf[id][1]);
    }
    engine.advance(Long.MAX_VALUE - 1);
    double[] counted = new double[BATCHES];
    System.arraycopy(waits, 1, counted, 0, BATCHES);
    return counted;
  }

  @ParameterizedTest(name = "seed {0}")
  @CsvSource({"1", "2", "3"})
  void theMeanNumberInTheEngineIsRateTimesMeanStay(long seed) {
    Random random = new Random(seed);
    EngineProfile profile = EngineProfiles.shipped().named("l4-8b").withMaxSequences(12);
    RecordingListener effects = new RecordingListener(false);
    Engine engine = new Engine(profile, effects);
    long now = 0;
    long area = 0;
    long arrivals = 0;
    int requests = 2_000;
    for (long id = 0; id < requests; id++) {
      long next = now + random.nextInt(2_000_000_000);
      area += areaUntil(engine, now, next);
      now = next;
      arrivals += now;
      engine.submit(now, id, NO_BLOCKS, 1 + random.nextInt(4_000), 1 + random.nextInt(40));
    }
    area += areaUntil(engine, now, Long.MAX_VALUE - 1);

    assertThat(effects.finishedAt).hasSize(requests);
    long finishes = effects.finishedAt.values().stream().mapToLong(Long::longValue).sum();
    // Both sides times the length of the run: exact, in nanoseconds.
    assertThat(area).isEqualTo(finishes - arrivals);
    assertThat(engine.busyNanos()).isPositive().isLessThan(area);
  }

  /** Requests in the engine, integrated over the time until {@code end}, to which it moves on. */
  private static long areaUntil(Engine engine, long now, long end) {
    long area = 0;
    while (engine.nextEventNanos() <= end) {
      long next = engine.nextEventNanos();
      area += (engine.running() + engine.waiting()) * (next - now);
      now = next;
      engine.advance(next);
    }
    int left = engine.running() + engine.waiting();
    return left == 0 ? area : area + left * (end - now);
  }
}
