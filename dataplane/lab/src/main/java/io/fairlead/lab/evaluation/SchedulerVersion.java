package io.fairlead.lab.evaluation;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/**
 * Tells one version of what decides from another: results of an older one say nothing sure of the
 * scheduler as it is.
 */
public final class SchedulerVersion {

  private static final int DIGITS = 12;

  private SchedulerVersion() {}

  /**
   * The version of the sources in a folder: {@value #DIGITS} hexadecimal digits.
   *
   * @throws IOException if the folder can't be read
   */
  public static String of(Path sources) throws IOException {
    MessageDigest digest = sha256();
    try (Stream<Path> files = Files.walk(sources)) {
      List<Path> sorted = files.filter(Files::isRegularFile).sorted().toList();
      for (Path file : sorted) {
        digest.update(Files.readAllBytes(file));
      }
    }
    return HexFormat.of().formatHex(digest.digest()).substring(0, DIGITS);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
