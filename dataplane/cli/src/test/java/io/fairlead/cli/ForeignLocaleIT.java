package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the program writes is the same everywhere: programs read it, and docs show it. */
class ForeignLocaleIT {

  @Test
  void digitsAreThoseOfAsciiWhereOthersAreUsual() throws Exception {
    List<String> line =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Duser.language=ar",
            "-Duser.country=EG",
            "-cp",
            System.getProperty("java.class.path"),
            "io.fairlead.cli.Fairlead",
            "stub",
            "--servers=3",
            "--port=65535");
    Process program = new ProcessBuilder(line).redirectErrorStream(true).start();
    String said = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(program.waitFor()).isEqualTo(2);
    assertThat(said).startsWith("--servers: 3 from port 65535 on is past 65535\n");
  }
}
