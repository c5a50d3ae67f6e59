package io.fairlead.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Text that is named on the command line: that of a file, or of standard input as {@code -}. */
public final class InputText {

  /** In bytes: a list of all objects of a large cluster, in a heap of a small machine. */
  private static final int MOST = 32 << 20;

  private InputText() {}

  /**
   * Reads all of it.
   *
   * @throws IOException if it can't be read, is too long or is no text; the message names the file
   */
  public static String read(Path file) throws IOException {
    if (Files.isDirectory(file)) {
      throw new IOException(file + ": is a folder, expected a file");
    }
    byte[] bytes;
    try (InputStream in = isStandardInput(file) ? System.in : Files.newInputStream(file)) {
      bytes = in.readNBytes(MOST + 1);
    } catch (NoSuchFileException e) {
      throw new IOException(file + ": is not there", e);
    }
    if (bytes.length > MOST) {
      throw new IOException(
          "%s: is longer than %d MiB; split it".formatted(name(file), MOST >> 20));
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new IOException(name(file) + ": is not UTF-8 text; save it as UTF-8", e);
    }
  }

  /** What messages call it. */
  public static String name(Path file) {
    return isStandardInput(file) ? "stdin" : file.toString();
  }

  private static boolean isStandardInput(Path file) {
    return file.toString().equals("-");
  }
}
