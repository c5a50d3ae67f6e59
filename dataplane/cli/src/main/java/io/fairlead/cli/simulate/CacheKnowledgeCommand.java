package io.fairlead.cli.simulate;

import io.fairlead.lab.cache.CacheKnowledge;
import io.fairlead.lab.simulator.PoolSpec;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.Workloads;
import io.fairlead.lab.workload.Workloads.Options;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Prints how well pickers know caches that are far too small for what comes. */
@Command(
    name = "cache-knowledge",
    description =
        "How far what the picker believes to be cached is off, with what engines tell of their"
            + " caches and without, on caches that are too small for the workload.",
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
public final class CacheKnowledgeCommand implements Callable<Integer> {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--workload",
      paramLabel = "NAME@LOAD",
      split = ",",
      description = "What comes, in the workload's own unit of load.",
      defaultValue = "chat@2.5,agent@0.15,rag@1")
  private List<String> workloads = List.of();

  @Option(
      names = "--pool",
      paramLabel = "COUNTxENGINE",
      description = "On what.",
      defaultValue = "4xl40s-8b")
  private String pool = "";

  @Option(
      names = "--pickers",
      paramLabel = "N",
      split = ",",
      description = "Replicas of the picker, each of which knows what it has sent itself.",
      defaultValue = "1,3")
  private List<Integer> pickers = List.of();

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "Length of a run in virtual time; the first quarter is not measured.",
      defaultValue = "600")
  private double seconds;

  @Option(
      names = "--seeds",
      paramLabel = "N",
      split = ",",
      description = "Their numbers are taken together.",
      defaultValue = "6,7,8")
  private List<Long> seeds = List.of();

  @Override
  public Integer call() {
    CacheKnowledge knowledge = new CacheKnowledge();
    try {
      PoolSpec on = PoolSpec.parse(pool);
      for (String workload : workloads) {
        int at = workload.indexOf('@');
        String name = at < 0 ? workload : workload.substring(0, at);
        Options load =
            at < 0
                ? Options.DEFAULT
                : new Options(OptionalDouble.of(number(workload.substring(at + 1))), 1);
        for (int count : pickers) {
          knowledge.add(
              Workloads.named(name, load),
              on,
              Settings.builder(seconds, seconds / 4).pickers(count).build(),
              seeds);
        }
      }
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()));
    }
    knowledge.lines().forEach(System.out::println);
    return 0;
  }

  private static double number(String text) {
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "--workload: the load \"" + text + "\" is not a number", e);
    }
  }
}
