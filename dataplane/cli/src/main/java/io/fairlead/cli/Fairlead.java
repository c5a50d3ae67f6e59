package io.fairlead.cli;

import io.fairlead.cli.conformance.ConformanceCommand;
import io.fairlead.cli.demo.DemoCommand;
import io.fairlead.cli.explain.ExplainCommand;
import io.fairlead.cli.simulate.CacheKnowledgeCommand;
import io.fairlead.cli.simulate.EvaluateCommand;
import io.fairlead.cli.simulate.SimulateCommand;
import io.fairlead.cli.status.StatusCommand;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** The one program of the data plane; what it does is its subcommand's business. */
@Command(
    name = "fairlead",
    description = "Leads LLM requests to the model server that will serve them soonest.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    footerHeading = "%nEnvironment:%n",
    footer = {
      "FAIRLEAD_LOG: plain, or json for ECS objects. Without it plain.",
      "FAIRLEAD_LOG_LEVEL: TRACE, DEBUG, INFO, WARN or ERROR. Without it INFO.",
      "FAIRLEAD_PLUGINS: Folder of jars with more plugin types, for ./hack/fairlead; an image has"
          + " them in /app/plugins.",
      "TERM: Without it, or with dumb, progress is told line by line.",
      "COLUMNS: Width of the terminal, for progress."
    },
    subcommands = {
      DemoCommand.class,
      GatewayCommand.class,
      EppCommand.class,
      StubCommand.class,
      SimulateCommand.class,
      CacheKnowledgeCommand.class,
      EvaluateCommand.class,
      ReplayCommand.class,
      TrainCommand.class,
      ExplainCommand.class,
      ShadowCommand.class,
      ConformanceCommand.class,
      ConvertCommand.class,
      StatusCommand.class,
    })
public final class Fairlead implements Runnable {

  private static final Set<String> OWN = Set.of("-h", "--help", "-V", "--version");

  @Spec private CommandSpec spec = CommandSpec.create();

  private Fairlead() {}

  /** Exits with 0, 1 when the run failed, or 2 when the command line is wrong. */
  public static void main(String[] args) {
    // Programs read what it writes: numbers have no digits or commas of a place.
    Locale.setDefault(Locale.ROOT);
    System.exit(commandLine().execute(withCommand(args)));
  }

  /** Flags alone are those of a picker: so a Deployment of another can run this image as it is. */
  static String[] withCommand(String[] args) {
    if (args.length == 0 || !args[0].startsWith("-") || OWN.contains(args[0])) {
      return args;
    }
    return Stream.concat(Stream.of("epp"), Arrays.stream(args)).toArray(String[]::new);
  }

  static CommandLine commandLine() {
    var commandLine = new CommandLine(new Fairlead());
    commandLine.registerConverter(HostPort.class, new HostPort.Converter());
    commandLine.setExecutionExceptionHandler(
        (failure, command, parsed) -> {
          if (expected(failure)) {
            command
                .getErr()
                .println(ShownText.lines(command.getCommandName() + ": " + said(failure)));
          } else {
            failure.printStackTrace(command.getErr());
          }
          return CommandLine.ExitCode.SOFTWARE;
        });
    commandLine.setParameterExceptionHandler((problem, args) -> refuse(problem));
    EppFlags.prepare(commandLine);
    return commandLine;
  }

  /** Below a page of usage nobody would see what is wrong. */
  private static int refuse(ParameterException problem) {
    CommandLine command = problem.getCommandLine();
    command.getErr().println(ShownText.lines(String.valueOf(problem.getMessage())));
    UnmatchedArgumentException.printSuggestions(problem, command.getErr());
    String name = command.getCommandSpec().qualifiedName();
    command.getErr().println("'" + name + " --help' has all options");
    return command.getCommandSpec().exitCodeOnInvalidInput();
  }

  /** Those say what is wrong and what to do; any other is ours and needs its trace. */
  private static boolean expected(Exception failure) {
    return failure.getMessage() != null
        && (failure instanceof IllegalArgumentException
            || failure instanceof IllegalStateException
            || failure instanceof IOException);
  }

  /** Of files the JDK says the name alone where it is missing or barred. */
  private static @Nullable String said(Exception failure) {
    return switch (failure) {
      case NoSuchFileException missing -> missing.getFile() + ": is not there";
      case FileAlreadyExistsException file -> file.getFile() + ": is a file, expected a folder";
      case AccessDeniedException barred -> barred.getFile() + ": may not be read or written";
      default -> failure.getMessage();
    };
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Say what to do: one of the commands below.");
  }
}
