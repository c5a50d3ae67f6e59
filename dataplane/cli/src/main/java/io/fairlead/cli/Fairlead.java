package io.fairlead.cli;

import io.fairlead.cli.demo.DemoCommand;
import io.fairlead.cli.simulate.SimulateCommand;
import java.io.IOException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The one program of the data plane; what it does is its subcommand's business. */
@Command(
    name = "fairlead",
    description = "Leads LLM requests to the model server that will serve them soonest.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    subcommands = {
      DemoCommand.class,
      GatewayCommand.class,
      EppCommand.class,
      StubCommand.class,
      SimulateCommand.class,
      ReplayCommand.class,
      TrainCommand.class,
    })
public final class Fairlead implements Runnable {

  @Spec private CommandSpec spec = CommandSpec.create();

  private Fairlead() {}

  /** Exits with 0, 1 when the run failed, or 2 when the command line is wrong. */
  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    var commandLine = new CommandLine(new Fairlead());
    commandLine.registerConverter(HostPort.class, new HostPort.Converter());
    commandLine.setExecutionExceptionHandler(
        (failure, command, parsed) -> {
          if (expected(failure)) {
            command.getErr().println(command.getCommandName() + ": " + failure.getMessage());
          } else {
            failure.printStackTrace(command.getErr());
          }
          return CommandLine.ExitCode.SOFTWARE;
        });
    return commandLine;
  }

  /** Those say what is wrong and what to do; any other is ours and needs its trace. */
  private static boolean expected(Exception failure) {
    return failure.getMessage() != null
        && (failure instanceof IllegalArgumentException
            || failure instanceof IllegalStateException
            || failure instanceof IOException);
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Say what to do: one of the commands below.");
  }
}
