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
   * Runs them all without shadows; see {@link #run(List, List, int, Consumer)}.
   *
   * @throws InterruptedException if the thread is interrupted; runs under way are given up
   */
  public static List<RunResult> run(
      List<SimulationSpec> specs, int threads, Consumer<RunResult> ended)
      throws InterruptedException {
    return ShadowedRun.results(run(specs, List.of(), threads, ended));
  }

  /**
   * Runs them all, after it has checked that all can be run.
   *
   * @param shadows of each run's first picker, as many as a pool may have
   * @param threads runs at a time
   * @param ended told of each run when it has ended, from any thread
   * @return one result per spec, in their order
   * @throws IllegalArgumentException if a run can't be run, before any is
   * @throws InterruptedException if the thread is interrupted; runs under way are given up
   */
  public static List<ShadowedRun> run(
      List<SimulationSpec> specs, List<Policy> shadows, int threads, Consumer<RunResult> ended)
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
        Simulation.check(spec, shadows);
      }
    }
    try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
      List<Future<ShadowedRun>> runs = new ArrayList<>();
      for (SimulationSpec spec : specs) {
        runs.add(
            executor.submit(
                () -> {
                  ShadowedRun run = Simulation.run(spec, shadows);
                  ended.accept(run.result());
                  return run;
                }));
      }
      List<ShadowedRun> results = new ArrayList<>();
      try {
        for (Future<ShadowedRun> run : runs) {
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
