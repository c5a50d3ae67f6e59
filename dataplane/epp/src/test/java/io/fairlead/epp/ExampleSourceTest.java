package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The data source in CONTRIBUTING.md is the one that the tests run. */
class ExampleSourceTest {

  @Test
  void theDocumentShowsTheCodeThatIsTested() throws IOException {
    String code = Files.readString(Path.of("src/test/java/com/example/GpuSource.java"));
    String indented =
        code.lines()
            .map(line -> line.isEmpty() ? line : "   " + line)
            .collect(Collectors.joining("\n"));
    assertThat(Files.readString(Path.of("../../CONTRIBUTING.md")))
        .contains("   ```java\n" + indented + "\n   ```\n");
  }
}
