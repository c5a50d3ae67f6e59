package io.fairlead.epp.capture;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What to capture, and how much room it may take: at most {@code files} pairs of files of {@code
 * fileBytes} each.
 *
 * @param folder where the files go, one process at a time; made when it is not there
 * @param share of requests that are captured, above 0 and up to 1
 * @param fileBytes after which a file is ended and the next begun; at least 1 MiB
 * @param files pairs of files that are kept, at least 2; older ones are deleted
 * @param headers names of request headers whose values are written, else none are
 * @param saltFile at least 16 secret bytes that prompts are hashed with, the same for processes
 *     whose hashes are to be the same; null for random ones that nobody ever knows
 */
public record CaptureConfig(
    Path folder,
    double share,
    long fileBytes,
    int files,
    List<String> headers,
    @Nullable Path saltFile) {

  /** Size of a file when nothing else is said. */
  public static final long DEFAULT_FILE_BYTES = 64 << 20;

  /** Pairs of files when nothing else is said. */
  public static final int DEFAULT_FILES = 16;

  private static final long MIB = 1 << 20;

  public CaptureConfig {
    headers = headers.stream().map(name -> name.toLowerCase(Locale.ROOT)).toList();
    if (!(share > 0 && share <= 1)) {
      throw new IllegalArgumentException(
          "share is " + share + "; set a number above 0 and up to 1");
    }
    if (fileBytes < MIB) {
      throw new IllegalArgumentException("fileBytes is " + fileBytes + "; set at least " + MIB);
    }
    if (files < 2) {
      throw new IllegalArgumentException("files is " + files + "; set at least 2");
    }
  }

  /** Every request, with the default bounds, a random salt and no headers. */
  public static CaptureConfig to(Path folder) {
    return new CaptureConfig(folder, 1, DEFAULT_FILE_BYTES, DEFAULT_FILES, List.of(), null);
  }
}
