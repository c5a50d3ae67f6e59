package io.fairlead.cli;

import io.fairlead.epp.handover.HandOverSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** How pickers of one pool hand over what they know. */
final class HandOverOptions {

  private static final Pattern PEER = Pattern.compile("[^\\s]+:[1-9][0-9]{0,4}");

  @Option(
      names = "--handover-secret-file",
      paramLabel = "FILE",
      description =
          "Secret that all pickers of the pool share, at least 16 bytes. With it a picker that"
              + " starts asks another what it knows of caches and speeds before it is ready, and"
              + " tells others.")
  private @Nullable Path secretFile;

  @Option(
      names = "--handover-port",
      paramLabel = "PORT",
      description = "With --handover-secret-file: where others may ask.",
      defaultValue = "9004")
  private int port = 9004;

  @Option(
      names = "--handover-peer",
      paramLabel = "HOST:PORT",
      split = ",",
      description =
          "With --handover-secret-file: whom to ask, instead of those that the pickers' Service"
              + " lists as ready.")
  private List<String> peers = List.of();

  @Option(
      names = "--handover-timeout",
      paramLabel = "DURATION",
      converter = Tuning.GoDuration.class,
      description =
          "With --handover-secret-file: how long readiness waits for another's answer at most, up to"
              + " a minute.",
      defaultValue = "5s")
  private Duration patience = HandOverSettings.USUAL_PATIENCE;

  @Spec(Target.MIXEE)
  private CommandSpec spec = CommandSpec.create();

  /**
   * What was asked for; null for nothing.
   *
   * @throws ParameterException if that makes no sense
   */
  @Nullable HandOverSettings settings() {
    if (secretFile == null) {
      GivenOptions.refuse(
          spec,
          List.of("--handover-port", "--handover-peer", "--handover-timeout"),
          "needs --handover-secret-file");
      return null;
    }
    for (String peer : peers) {
      if (!PEER.matcher(peer).matches()
          || Integer.parseInt(peer.substring(peer.lastIndexOf(':') + 1)) > 65_535) {
        throw new ParameterException(
            spec.commandLine(), "--handover-peer: '" + peer + "' is not HOST:PORT");
      }
    }
    try {
      return new HandOverSettings("0.0.0.0", port, secretFile, peers, patience);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--handover: " + e.getMessage());
    }
  }
}
