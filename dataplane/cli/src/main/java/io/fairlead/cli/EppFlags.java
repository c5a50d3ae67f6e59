package io.fairlead.cli;

import io.fairlead.crds.config.Spelling;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** The flags of upstream's pickers on {@code epp}: those that do nothing here, and wrong ones. */
final class EppFlags {

  private static final Logger LOG = LoggerFactory.getLogger(EppFlags.class);

  private static final String ENGINE_CONFIG =
      " of an entry of engineConfigs of a core-metrics-extractor in the EndpointPickerConfig";

  private static final String METRICS_PLAIN =
      "/metrics is served in plain text; keep others off its port by a NetworkPolicy, or put a"
          + " proxy in front";

  private static final String TLS =
      "ext_proc takes TLS 1.2 and 1.3 with the cipher suites of the JDK";

  /** Those that do nothing here. */
  static final List<UpstreamFlag> WITHOUT_EFFECT =
      List.of(
          UpstreamFlag.bool(
              "--ha-enable-leader-election",
              false,
              "there is no leader: every replica is ready and picks"),
          UpstreamFlag.bool(
              "--health-checking", true, "the port of ext_proc always answers health checks, too"),
          UpstreamFlag.text("--metrics-client-ca-file", "", METRICS_PLAIN),
          UpstreamFlag.text("--metrics-cert-dir", "", METRICS_PLAIN),
          UpstreamFlag.bool(
              "--enable-pprof",
              false,
              "a JVM has no pprof; record with Flight Recorder:"
                  + " JAVA_TOOL_OPTIONS=-XX:StartFlightRecording"),
          UpstreamFlag.bool(
              "--enable-cert-reload",
              true,
              "the pair in --cert-path is always read again when it changes"),
          UpstreamFlag.text("--tls-min-version", "", TLS),
          UpstreamFlag.text("--tls-cipher-suites", "", TLS),
          UpstreamFlag.bool(
              "--enable-grpc-stream-metrics",
              true,
              "fairlead_ext_proc_streams_total and its like are always there"),
          UpstreamFlag.bool(
              "--emit-endpoint-scores", false, "no scores are put into the metadata of requests"),
          UpstreamFlag.bool(
              "--allow-experimental-plugins",
              true,
              "no plugin type needs leave: those that are there may be used"),
          UpstreamFlag.bool(
              "--enable-multi-engine",
              true,
              "each pod's label always says which engine's metrics are read"),
          UpstreamFlag.text(
              "--engine-label-key",
              "inference.networking.k8s.io/engine-type",
              "set engineLabelKey of a core-metrics-extractor in the EndpointPickerConfig"),
          UpstreamFlag.text(
              "--refresh-prometheus-metrics-interval",
              null,
              "what /metrics shows is taken when it is read"),
          UpstreamFlag.text(
              "--grpc-max-recv-msg-size", "", "request bodies are bound by --max-body-bytes"),
          UpstreamFlag.text("--grpc-max-send-msg-size", "", "messages are sent in small pieces"),
          UpstreamFlag.bool("--zap-devel", null, "the log's form is set by --zap-encoder"),
          UpstreamFlag.text(
              "--zap-stacktrace-level", null, "errors of the picker's own have their traces"),
          UpstreamFlag.text(
              "--zap-time-encoding", null, "times are written as the log's form has them"),
          UpstreamFlag.refused(
              "--total-queued-requests-metric", "queuedRequestsSpec" + ENGINE_CONFIG),
          UpstreamFlag.refused(
              "--total-running-requests-metric", "runningRequestsSpec" + ENGINE_CONFIG),
          UpstreamFlag.refused("--kv-cache-usage-percentage-metric", "kvUsageSpec" + ENGINE_CONFIG),
          UpstreamFlag.refused("--lora-info-metric", "loraSpec" + ENGINE_CONFIG),
          UpstreamFlag.refused("--cache-info-metric", "cacheInfoSpec" + ENGINE_CONFIG));

  private EppFlags() {}

  /** Lets {@code epp} take them, the last one where a flag comes twice, and names wrong ones. */
  static void prepare(CommandLine fairlead) {
    CommandLine epp = Objects.requireNonNull(fairlead.getSubcommands().get("epp"));
    WITHOUT_EFFECT.forEach(flag -> epp.getCommandSpec().addOption(flag.option()));
    epp.setOverwrittenOptionsAllowed(true);
    CommandLine.IParameterExceptionHandler usual = fairlead.getParameterExceptionHandler();
    fairlead.setParameterExceptionHandler(
        (problem, args) -> {
          if (problem instanceof UnmatchedArgumentException unmatched
              && unmatched.getCommandLine().equals(epp)) {
            epp.getErr().println(unknown(epp, unmatched.getUnmatched().getFirst()));
            return epp.getCommandSpec().exitCodeOnInvalidInput();
          }
          return usual.handleParseException(problem, args);
        });
  }

  /**
   * Refuses what upstream refuses, too.
   *
   * @throws ParameterException with what to use instead
   */
  static void refuse(ParseResult parsed) {
    for (UpstreamFlag flag : WITHOUT_EFFECT) {
      if (flag.refused() && parsed.hasMatchedOption(flag.name())) {
        throw new ParameterException(
            parsed.commandSpec().commandLine(),
            flag.name() + " is no longer a flag, upstream neither; use " + flag.said());
      }
    }
  }

  /** Logs a line for each flag given that asks for something that is not done. */
  static void tell(ParseResult parsed) {
    for (UpstreamFlag flag : WITHOUT_EFFECT) {
      if (!flag.refused() && parsed.hasMatchedOption(flag.name())) {
        String value = String.valueOf(parsed.matchedOption(flag.name()).<Object>getValue());
        if (!value.equals(flag.anyway())) {
          LOG.warn("{}={} has no effect: {}", flag.name(), value, flag.said());
        }
      }
    }
  }

  private static String unknown(CommandLine epp, String argument) {
    if (!argument.startsWith("-")) {
      return "epp: '" + argument + "' is no flag; write flags as --name=value";
    }
    String name = argument.split("=", 2)[0];
    List<String> known = new ArrayList<>();
    for (OptionSpec option : epp.getCommandSpec().options()) {
      known.add(option.longestName());
    }
    // Older pickers of upstream's have their flags in camel case, with one dash.
    String meant =
        "--"
            + name.replaceFirst("^-+", "")
                .replaceAll("(?<=[a-z])(?=[A-Z])", "-")
                .toLowerCase(Locale.ROOT);
    String near = Spelling.near(meant, known);
    return "epp: unknown flag "
        + name
        + (near.isEmpty() ? ";" : "; is it " + near + "?")
        + " 'fairlead epp --help' has all flags.";
  }
}
