package io.fairlead.cli.simulate;

import io.fairlead.cli.InputText;
import io.fairlead.lab.simulator.Policy;
import java.io.IOException;
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
    if (Policy.names().contains(nameOrFile) || !Files.exists(Path.of(nameOrFile))) {
      return Policy.named(nameOrFile);
    }
    Path file = Path.of(nameOrFile);
    String name = file.getFileName().toString().replaceFirst("\\.ya?ml$", "");
    return Policy.read(name, nameOrFile, InputText.read(file));
  }
}
