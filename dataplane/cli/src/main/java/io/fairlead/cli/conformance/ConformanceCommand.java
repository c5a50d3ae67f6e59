package io.fairlead.cli.conformance;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Holds programs of others against what a picker expects of them. */
@Command(
    name = "conformance",
    description = "Holds a program of yours against what a picker expects of it.",
    mixinStandardHelpOptions = true,
    subcommands = SchedulerConformanceCommand.class)
public final class ConformanceCommand implements Runnable {

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Say of what: scheduler.");
  }
}
