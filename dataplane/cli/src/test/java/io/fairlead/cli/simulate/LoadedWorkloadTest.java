package io.fairlead.cli.simulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class LoadedWorkloadTest {

  private static final String TRACE =
      """
      {"timestamp": 0, "input_length": 600, "output_length": 20, "hash_ids": [1, 2]}
      {"timestamp": 4000, "input_length": 600, "output_length": 20, "hash_ids": [1, 3]}
      """;

  @TempDir private Path folder = Path.of("");

  @ParameterizedTest
  @ValueSource(strings = {"chat", "chat@2"})
  void aShippedWorkloadIsNoFolderOfTheSameName(String text) throws IOException {
    Files.createDirectory(folder.resolve("chat"));
    LoadedWorkload loaded = LoadedWorkload.of(text, folder);
    assertThat(loaded.trace()).isNull();
    assertThat(loaded.whole().name()).isEqualTo(text);
    assertThat(loaded.preset().name()).isEqualTo("chat");
  }

  @Test
  void aFileOfTheNameIsNamedByItsPath() throws IOException {
    Files.writeString(folder.resolve("rag"), TRACE);
    assertThat(LoadedWorkload.of("rag", folder).trace()).isNull();
    assertThat(LoadedWorkload.of("./rag", folder).trace()).isNotNull();
  }

  @ParameterizedTest
  @CsvSource({
    "user@host/t.jsonl, t, 4",
    "user@host/t.jsonl@2, t@2, 2",
    "at@1.jsonl, at@1, 4",
    "at@1.jsonl@4, at@1@4, 1"
  })
  void aPathMayHaveAnAt(String text, String name, double seconds) throws IOException {
    Files.createDirectory(folder.resolve("user@host"));
    Files.writeString(folder.resolve("user@host/t.jsonl"), TRACE);
    Files.writeString(folder.resolve("at@1.jsonl"), TRACE);
    LoadedWorkload loaded = LoadedWorkload.of(text, folder);
    assertThat(loaded.whole().name()).isEqualTo(name);
    assertThat(loaded.preset().seconds()).isEqualTo(seconds);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "chat@much | the load in \"chat@much\" is not a number",
        "user@host/t.jsonl | workload: \"user@host/t.jsonl\" is none of",
      })
  void whatIsNotThereIsTold(String text, String problem) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> LoadedWorkload.of(text, folder))
        .withMessageContaining(problem);
  }
}
