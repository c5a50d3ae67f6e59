package io.fairlead.operator;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.spi.FilterReply;
import co.elastic.logging.logback.EcsEncoder;
import io.fairlead.crds.v1alpha2.OldInferencePool;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;

/** Where log lines go and how they look. */
final class Logs {
  /** Forms of a log line. */
  enum Format {
    /** For people. */
    PLAIN,
    /** One JSON object a line, fields named by the Elastic Common Schema. */
    ECS
  }

  private Logs() {}

  /** Writes log lines to standard output from now on. */
  static void configure(Format format) {
    if (!(LoggerFactory.getILoggerFactory() instanceof LoggerContext context)) {
      return;
    }
    context.reset();
    Encoder<ILoggingEvent> encoder = encoder(format, context);
    encoder.setContext(context);
    encoder.start();
    ConsoleAppender<ILoggingEvent> console = new ConsoleAppender<>();
    console.setContext(context);
    console.setEncoder(encoder);
    console.start();
    context.addTurboFilter(new AbsentKinds());
    var root = context.getLogger(Logger.ROOT_LOGGER_NAME);
    root.setLevel(Level.INFO);
    root.addAppender(console);
  }

  /**
   * The client warns, with a trace, each time it finds that the cluster lacks a kind that it need
   * not have.
   */
  private static final class AbsentKinds extends TurboFilter {
    private static final String REFLECTOR =
        "io.fabric8.kubernetes.client.informers.impl.cache.Reflector";
    private static final Pattern KINDS =
        Pattern.compile(
            "/(inferenceobjectives|inferencemodelrewrites|podmonitors)\\b|"
                + Pattern.quote(OldInferencePool.GROUP)
                + "/\\S*\\binferencepools\\b");

    @Override
    public FilterReply decide(
        @Nullable Marker marker,
        ch.qos.logback.classic.Logger logger,
        Level level,
        @Nullable String format,
        Object @Nullable [] parameters,
        @Nullable Throwable thrown) {
      return REFLECTOR.equals(logger.getName())
              && parameters != null
              && Arrays.stream(parameters).anyMatch(AbsentKinds::isOne)
          ? FilterReply.DENY
          : FilterReply.NEUTRAL;
    }

    /** Among what is told are the attempt, whose it was, and what came of it. */
    private static boolean isOne(@Nullable Object parameter) {
      return !(parameter instanceof Throwable) && KINDS.matcher(String.valueOf(parameter)).find();
    }
  }

  private static Encoder<ILoggingEvent> encoder(Format format, LoggerContext context) {
    return switch (format) {
      case ECS -> {
        EcsEncoder ecs = new EcsEncoder();
        ecs.setServiceName("fairlead-operator");
        yield ecs;
      }
      case PLAIN -> {
        PatternLayoutEncoder plain = new PatternLayoutEncoder();
        plain.setContext(context);
        plain.setPattern("%d{HH:mm:ss.SSS} %-5level %logger{20} %msg%n");
        yield plain;
      }
    };
  }
}
