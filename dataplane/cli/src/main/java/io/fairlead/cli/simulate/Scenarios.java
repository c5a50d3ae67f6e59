package io.fairlead.cli.simulate;

import io.fairlead.cli.InputText;
import io.fairlead.lab.simulator.Scenario;
import io.fairlead.stub.profile.EngineProfiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Scenarios as the command line names them. */
final class Scenarios {

  private Scenarios() {}

  /**
   * A shipped scenario, one in a file, which is named for the file, or events on a line.
   *
   * @throws IllegalArgumentException if it is none of them, or can't be read
   */
  static Scenario read(String text, EngineProfiles profiles) throws IOException {
    if (Scenario.names().contains(text)) {
      return Scenario.named(text);
    }
    if (text.contains("=")) {
      return Scenario.line(text);
    }
    Path file = Path.of(text);
    if (!Files.exists(file)) {
      return Scenario.named(text);
    }
    String name = file.getFileName().toString().replaceFirst("\\.ya?ml$", "");
    return Scenario.read(name, text, InputText.read(file), profiles);
  }
}
