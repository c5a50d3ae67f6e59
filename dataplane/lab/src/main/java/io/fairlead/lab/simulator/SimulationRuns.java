package io.fairlead.lab.simulator;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/** Many runs, several at a time; which one ends first changes no result. */
public final class SimulationRuns {

  private SimulationRuns() {}

  /**
   * Runs them all, after it has checked that all can be run.
   *
   * @param threads runs at a time
   * @param ended told of each run when it has ended, from any thread
   * @return one result per spec, in their order
   * @throws IllegalArgumentException if a run can't be run, before any is
   * @throws InterruptedException if the thread is interrupted; runs under way are given up
   */
  public static List<RunResult> run(
      List<SimulationSpec> specs, int threads, Consumer<RunResult> ended)
      throws InterruptedException {
    Set<Object> checked = new HashSet<>();
    for (SimulationSpec spec : specs) {
      // Nothing that is checked hangs on the seed.
      if (checked.add(
          List.of(
              spec.workload().name(),
              spec.policy(),
              spec.pool(),
              spec.settings(),
              spec.events()))) {
        Simulation.check(spec);
      }
    }
    try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
      List<Future<RunResult>> runs = new ArrayList<>();
      for (SimulationSpec spec : specs) {
        runs.add(
            executor.submit(
                () -> {
                  RunResult result = Simulation.run(spec);
                  ended.accept(result);
                  return result;
                }));
      }
      List<RunResult> results = new ArrayList<>();
      try {
        for (Future<RunResult> run : runs) {
          results.add(run.get());
        }
      } catch (ExecutionException e) {
        if (e.getCause() instanceof IllegalArgumentException refused) {
          throw refused;
        }
        throw new IllegalStateException("a run failed: " + e.getCause(), e.getCause());
      } finally {
        executor.shutdownNow();
      }
      return results;
    }
  }
}
