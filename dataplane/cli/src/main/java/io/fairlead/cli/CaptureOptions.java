package io.fairlead.cli;

import io.fairlead.epp.capture.CaptureConfig;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** Options of every command whose requests can be captured. */
final class CaptureOptions {

  private static final long MIB = 1 << 20;

  @Option(
      names = "--capture",
      paramLabel = "DIR",
      description =
          "Write there what is asked and decided, to be replayed: sizes, times and salted hashes, no"
              + " text. The folder is made where it isn't there, and only the picker's own user can read what is in it. One process per folder.")
  private @Nullable Path folder;

  @Option(
      names = "--capture-share",
      paramLabel = "SHARE",
      description =
          "Share of requests that is captured, above 0 up to 1, drawn for each by its own random seed; only 1 replays exactly.",
      defaultValue = "1")
  private double share = 1;

  @Option(
      names = "--capture-file-size",
      paramLabel = "MIB",
      description = "Size at which a capture's file is ended and the next begun.",
      defaultValue = "64")
  private long fileMebibytes = CaptureConfig.DEFAULT_FILE_BYTES / MIB;

  @Option(
      names = "--capture-files",
      paramLabel = "N",
      description =
          "Pairs of files that a capture keeps, those of earlier processes too; the oldest are deleted.",
      defaultValue = "" + CaptureConfig.DEFAULT_FILES)
  private int files = CaptureConfig.DEFAULT_FILES;

  @Option(
      names = "--capture-header",
      paramLabel = "NAME",
      split = ",",
      description = "Request headers whose values are captured, for plugins that read them.")
  private List<String> headers = List.of();

  @Option(
      names = "--capture-salt-file",
      paramLabel = "FILE",
      description =
          "Secret bytes that prompts are hashed with while capturing; replicas need the same ones to"
              + " break ties alike. Random without it.")
  private @Nullable Path saltFile;

  @Spec(Target.MIXEE)
  private CommandSpec spec = CommandSpec.create();

  /** What to capture, or null for nothing. */
  @Nullable CaptureConfig config() {
    if (folder == null) {
      GivenOptions.refuse(
          spec,
          List.of(
              "--capture-share",
              "--capture-file-size",
              "--capture-files",
              "--capture-header",
              "--capture-salt-file"),
          "needs --capture");
      return null;
    }
    if (fileMebibytes > Long.MAX_VALUE / MIB) {
      throw new ParameterException(
          spec.commandLine(), "--capture-file-size " + fileMebibytes + " is too large");
    }
    try {
      return new CaptureConfig(folder, share, fileMebibytes * MIB, files, headers, saltFile);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), "--capture: " + e.getMessage(), e);
    }
  }
}
