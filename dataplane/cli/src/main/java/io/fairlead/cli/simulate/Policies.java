package io.fairlead.cli.simulate;

import io.fairlead.cli.InputText;
import io.fairlead.lab.simulator.Policy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Policies as the command line names them. */
final class Policies {

  private Policies() {}

  /**
   * A shipped policy, or one in a file, which is named for the file.
   *
   * @throws IllegalArgumentException if it is neither, or the file is no config
   */
  static Policy read(String nameOrFile) throws IOException {
    Path file = Path.of(nameOrFile);
    if (isShipped(nameOrFile, file)) {
      return Policy.named(nameOrFile);
    }
    String name = file.getFileName().toString().replaceFirst("\\.ya?ml$", "");
    return Policy.read(name, nameOrFile, InputText.read(file));
  }

  /**
   * The text of the same, with files in this folder.
   *
   * @throws IllegalArgumentException if it is neither
   */
  static String text(String nameOrFile, Path folder) {
    Path file = folder.resolve(nameOrFile);
    if (isShipped(nameOrFile, file)) {
      return Policy.text(nameOrFile);
    }
    try {
      return InputText.read(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isShipped(String nameOrFile, Path file) {
    return Policy.names().contains(nameOrFile) || !Files.exists(file);
  }
}
