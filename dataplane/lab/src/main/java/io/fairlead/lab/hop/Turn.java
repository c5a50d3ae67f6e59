package io.fairlead.lab.hop;

import io.fairlead.lab.Way;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;

/**
 * Some seconds of load on a way: so many clients, each of which asks again when it has its answer.
 *
 * @param requests answered in full
 * @param failed any other
 * @param seconds from the first request to the last answer
 * @param micros until the end of the answer
 * @param cpuMicros CPU time of each process on the way
 * @param compilerTicks that of compilers of byte code in the last of them, which is ours
 */
record Turn(
    long requests,
    long failed,
    double seconds,
    Histogram micros,
    Map<String, Double> cpuMicros,
    long compilerTicks) {

  private static final long LONGEST_MICROS = 300_000_000;

  /** Of all kernels that Linux runs on today. */
  private static final double TICK_MICROS = 10_000;

  /** Nothing yet. */
  static Turn nothing() {
    return new Turn(0, 0, 0, new Histogram(LONGEST_MICROS, 3), Map.of(), 0);
  }

  /** Runs one. */
  static Turn run(Way way, List<byte[]> requests, int clients, Duration lasting)
      throws IOException, InterruptedException {
    long compiled = compilers(way);
    Map<String, Duration> before = Programs.cpu(way.processes());
    long start = System.nanoTime();
    long end = start + lasting.toNanos();
    LongAdder failed = new LongAdder();
    AtomicInteger next = new AtomicInteger();
    List<Histogram> all = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      Histogram own = new Histogram(LONGEST_MICROS, 3);
      all.add(own);
      threads.add(
          Thread.ofPlatform()
              .name("client-" + i)
              .start(() -> ask(way, requests, next, end, own, failed)));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    Map<String, Double> cpu = new LinkedHashMap<>();
    Programs.cpu(way.processes())
        .forEach(
            (name, used) ->
                cpu.put(
                    name, used.minus(before.getOrDefault(name, Duration.ZERO)).toNanos() / 1e3));
    Histogram micros = new Histogram(LONGEST_MICROS, 3);
    all.forEach(micros::add);
    long compiling = Math.max(0, compilers(way) - compiled);
    return new Turn(micros.getTotalCount(), failed.sum(), seconds, micros, cpu, compiling);
  }

  private static long compilers(Way way) throws IOException {
    List<Long> processes = List.copyOf(way.processes().values());
    return processes.isEmpty() ? 0 : Programs.compilerTicks(processes.getLast());
  }

  /** The part of our process's CPU time that went to compilers of byte code: 0 to 1. */
  double compiling() {
    double own = own();
    return own == 0 ? 0 : Math.min(1, compilerTicks * TICK_MICROS / own);
  }

  private double own() {
    return cpuMicros.values().stream().reduce(0.0, (before, last) -> last);
  }

  /**
   * CPU time of the last process on the way, which is ours, for each request: without what
   * compilers of byte code took, which ends some day, and of which one turn has more than another.
   */
  double ownMicros() {
    return (own() - compilerTicks * TICK_MICROS) / requests;
  }

  private static void ask(
      Way way,
      List<byte[]> requests,
      AtomicInteger next,
      long end,
      Histogram micros,
      LongAdder failed) {
    while (System.nanoTime() < end) {
      try (PlainConnection connection = new PlainConnection(way.url())) {
        while (System.nanoTime() < end) {
          byte[] request = requests.get(Math.floorMod(next.getAndIncrement(), requests.size()));
          long sent = System.nanoTime();
          connection.send(request);
          if (connection.read() == 200) {
            micros.recordValue(Math.min((System.nanoTime() - sent) / 1_000, LONGEST_MICROS));
          } else {
            failed.increment();
          }
        }
      } catch (IOException cut) {
        failed.increment();
      }
    }
  }

  /** Both together. */
  Turn and(Turn other) {
    Histogram both = micros.copy();
    both.add(other.micros);
    Map<String, Double> cpu = new LinkedHashMap<>(cpuMicros);
    other.cpuMicros.forEach((name, used) -> cpu.merge(name, used, Double::sum));
    return new Turn(
        requests + other.requests,
        failed + other.failed,
        seconds + other.seconds,
        both,
        cpu,
        compilerTicks + other.compilerTicks);
  }
}
