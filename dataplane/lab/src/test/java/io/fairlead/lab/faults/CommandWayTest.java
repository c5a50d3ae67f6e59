package io.fairlead.lab.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CommandWayTest {

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "/tmp/work, run --folder /tmp/work --port 80",
        "/tmp/my work, run --folder '/tmp/my work' --port 80",
        "/tmp/it's, run --folder '/tmp/it'\\''s' --port 80",
        "/tmp/$HOME, run --folder '/tmp/$HOME' --port 80"
      })
  void aPathIsOneWordForTheShell(String folder, String command) {
    assertThat(
            CommandWay.filled(
                "run --folder {folder} --port {port}", Map.of("folder", folder, "port", "80")))
        .isEqualTo(command);
  }
}
