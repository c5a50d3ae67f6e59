package io.fairlead.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.util.ContextInitializer;
import ch.qos.logback.core.joran.spi.JoranException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** What is logged and how, by upstream's flags; without them the environment says. */
final class LogOptions {

  private static final String FORM = "FAIRLEAD_LOG";

  /** Upstream's verbosity from which on it is a debug log, and a trace. */
  private static final int DEBUG = 4;

  private static final int TRACE = 5;

  @Option(
      names = {"-v", "--v"},
      paramLabel = "N",
      description =
          "Verbosity: up to 3 what happens, 4 debug, 5 trace. Without it FAIRLEAD_LOG_LEVEL says.")
  private @Nullable Integer verbosity;

  @Option(
      names = "--zap-log-level",
      paramLabel = "LEVEL",
      description = "debug, info, error, panic, or a verbosity; comes before -v.")
  private @Nullable String level;

  @Option(
      names = "--zap-encoder",
      paramLabel = "FORM",
      description = "console, or json for ECS objects. Without it FAIRLEAD_LOG says.")
  private @Nullable String encoder;

  @Spec(Target.MIXEE)
  private CommandSpec spec = CommandSpec.create();

  /**
   * Sets what was asked for, for the whole process.
   *
   * @throws ParameterException if a value makes no sense
   */
  void apply() {
    String form = form();
    Level wanted = level();
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    if (form != null) {
      System.setProperty(FORM, form);
      try {
        context.reset();
        new ContextInitializer(context).autoConfig();
      } catch (JoranException e) {
        throw new IllegalStateException("the log can't be set up: " + e.getMessage(), e);
      }
    }
    if (wanted != null) {
      Logger own = context.getLogger("io.fairlead");
      own.setLevel(wanted);
    }
  }

  private @Nullable String form() {
    if (encoder == null) {
      return null;
    }
    return switch (encoder) {
      case "json" -> "json";
      case "console" -> "plain";
      default -> throw wrong("--zap-encoder", encoder, "set json or console");
    };
  }

  @Nullable Level level() {
    if (level == null) {
      return verbosity == null ? null : of(verbosity);
    }
    return switch (level.toLowerCase(Locale.ROOT)) {
      case "debug" -> Level.DEBUG;
      case "info" -> Level.INFO;
      case "error", "panic" -> Level.ERROR;
      default -> {
        try {
          yield of(Integer.parseInt(level));
        } catch (NumberFormatException e) {
          throw wrong("--zap-log-level", level, "set debug, info, error, panic or a number");
        }
      }
    };
  }

  private static Level of(int verbosity) {
    return verbosity >= TRACE ? Level.TRACE : verbosity >= DEBUG ? Level.DEBUG : Level.INFO;
  }

  private ParameterException wrong(String flag, String value, String fix) {
    return new ParameterException(spec.commandLine(), flag + " is \"" + value + "\"; " + fix);
  }
}
