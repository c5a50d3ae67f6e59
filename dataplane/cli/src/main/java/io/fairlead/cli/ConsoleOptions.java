package io.fairlead.cli;

import io.fairlead.epp.console.ConsoleConfig;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** Whether there is a page that shows what the picker does, and who may see it. */
final class ConsoleOptions {

  @Option(
      names = "--console",
      paramLabel = "true|false",
      arity = "0..1",
      fallbackValue = "true",
      converter = GoBoolean.class,
      description =
          "Serve a page that shows what the picker does: /console/ on --metrics-port. Without"
              + " --console-token-file for browsers on this host alone, as a forwarded port is.",
      defaultValue = "false")
  private boolean console;

  @Option(
      names = "--console-token-file",
      paramLabel = "FILE",
      description =
          "With --console: file with a secret of 16 characters or more, which lets browsers and"
              + " programs of other hosts see the page and /debug/…; read again when it changes.")
  private @Nullable Path tokenFile;

  @Spec(Target.MIXEE)
  private CommandSpec spec = CommandSpec.create();

  /**
   * What was asked for; null for no page.
   *
   * @throws ParameterException if that makes no sense
   */
  @Nullable ConsoleConfig config() {
    if (!console && tokenFile != null) {
      throw new ParameterException(spec.commandLine(), "--console-token-file needs --console");
    }
    return console ? new ConsoleConfig(tokenFile) : null;
  }
}
