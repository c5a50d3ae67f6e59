package io.fairlead.epp.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointSpec;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.epp.datalayer.EndpointSet;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CheckpointFileTest {

  private static final String SOURCE = "ConfigMap ns/pool-epp";

  /** A machine that stands still for a moment must not keep it from writing at its end. */
  private static final long PATIENCE_MILLIS = 30_000;

  private static final Checkpoint CHECKPOINT =
      new Checkpoint(
          Instant.parse("2026-03-01T10:00:00Z"),
          new PoolConfig(
              "ns",
              "pool",
              Map.of("app", "vllm"),
              List.of(8000, 8001),
              "http",
              List.of(
                  new ModelConfig(
                      "chat", Criticality.CRITICAL, List.of(new TargetModel("chat-v1", 3)))),
              SchedulerConfig.DEFAULT),
          new EndpointSet(
              List.of(
                  new EndpointSpec("a-rank-0", "uid-0", "10.0.0.1", 8000, Map.of("app", "vllm")),
                  new EndpointSpec("b-rank-0", "uid-3", "fd00::7", 8001, Map.of())),
              5,
              Map.of("a-rank-0", "ns/a:8000")),
          3);

  @TempDir Path folder;

  private Path file() {
    return folder.resolve("made").resolve("checkpoint.json");
  }

  private CheckpointFile open(String source) {
    return new CheckpointFile(folder.resolve("made"), source, PATIENCE_MILLIS, PATIENCE_MILLIS);
  }

  private void saved() {
    try (CheckpointFile file = open(SOURCE)) {
      file.save(CHECKPOINT);
    }
  }

  @Test
  void givesBackWhatWasSaved() {
    saved();
    try (CheckpointFile file = open(SOURCE)) {
      assertThat(file.read()).isEqualTo(CHECKPOINT);
    }
  }

  @Test
  void whatIsSavedLastIsWhatIsThere() {
    Checkpoint newer =
        new Checkpoint(CHECKPOINT.savedAt(), CHECKPOINT.config(), EndpointSet.NONE, 1);
    try (CheckpointFile file = open(SOURCE)) {
      file.save(CHECKPOINT);
      file.save(newer);
      await().until(() -> newer.equals(file.read()));
      file.save(CHECKPOINT);
      await().until(() -> CHECKPOINT.equals(file.read()));
    }
    assertThat(folder.resolve("made")).isDirectoryContaining("glob:**checkpoint.json");
    assertThat(folder.resolve("made").toFile().list()).hasSize(1);
  }

  @Test
  void nobodyElseCanReadIt() throws Exception {
    saved();
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file())))
        .isEqualTo("rw-------");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file().getParent())))
        .isEqualTo("rwx------");
  }

  @Test
  void nothingIsThereAtFirst() {
    try (CheckpointFile file = open(SOURCE)) {
      assertThat(file.read()).isNull();
    }
  }

  @Test
  void whatAnotherPickerLeftIsNotUsed() {
    saved();
    try (CheckpointFile file = open("ConfigMap other/pool-epp")) {
      assertThat(file.read()).isNull();
    }
  }

  @Test
  void aFolderThatCanNotBeWrittenHarmsNothing() throws Exception {
    Files.writeString(folder.resolve("made"), "a file where the folder should be");
    try (CheckpointFile file = open(SOURCE)) {
      file.save(CHECKPOINT);
      assertThat(file.read()).isNull();
    }
    assertThat(folder.resolve("made")).hasContent("a file where the folder should be");
  }

  @Test
  void aFolderThatCanBeWrittenLaterGetsWhatItLacks() throws Exception {
    Path made = folder.resolve("made");
    Files.writeString(made, "a file where the folder should be");
    try (CheckpointFile file = new CheckpointFile(made, SOURCE, 50, PATIENCE_MILLIS)) {
      file.save(CHECKPOINT);
      await().until(() -> !Files.isDirectory(made) && file.failed());
      Files.delete(made);
      await().until(() -> CHECKPOINT.equals(file.read()));
      await().until(() -> !file.failed()); // known after the file is there
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'\"version\" : 1','\"version\" : 2',version",
    "10.0.0.1,example.com,endpoints.ready[0].address",
    "fd00::7,10.0.0.1.2,endpoints.ready[1].address",
    "b-rank-0,a-rank-0,endpoints.ready[1].name",
    "'\"port\" : 8001','\"port\" : 0',endpoints.ready[1].port",
    "'\"replicas\" : 3','\"replicas\" : 0',replicas",
    "'\"matching\" : 5','\"matching\" : 1',matching",
    "2026-03-01T10:00:00Z,yesterday,yesterday",
    "Critical,Urgent,criticality",
    "chat-v1,chat-v2,hash",
    "'\"incarnation\" : \"uid-0\",','',incarnation",
    "'\"labels\" : { }','\"labels\" : [ ]',no such JSON",
    "'\"places\"','\"places_\"',places",
    "'\"app\" : \"vllm\"','\"app\" : null',endpoints.ready[0].labels.app",
    "'\"ns/a:8000\"',null,endpoints.places.a-rank-0",
  })
  void whatWasChangedIsNotUsed(String from, String to, String named) throws Exception {
    String good = CheckpointText.write(SOURCE, CHECKPOINT);
    assertThat(good).contains(from);
    String bad = good.replace(from, to);
    try {
      CheckpointText.read(SOURCE, bad);
    } catch (CheckpointText.UnusableException e) {
      assertThat(e).hasMessageContaining(named);
      return;
    }
    throw new AssertionError("read: " + bad);
  }

  /** Whatever became of it on the disk: a picker starts, with it or without. */
  @Test
  void noDamageKeepsAPickerFromStarting() throws Exception {
    saved();
    String good = Files.readString(file());
    Matcher values =
        Pattern.compile("(?<=[:\\[,] ?)(\"(\\\\.|[^\"\\\\])*\"|-?[0-9]+)").matcher(good);
    List<MatchResult> places = values.results().toList();
    assertThat(places).hasSizeGreaterThan(15);
    List<String> others =
        List.of("null", "{}", "[]", "[null]", "{\"a\":null}", "-1", "1e99", "true", "\"\"", "");
    Random random = new Random(20260301);
    try (CheckpointFile damaged = open(SOURCE)) {
      for (int i = 0; i < 1_000; i++) {
        StringBuilder bad = new StringBuilder(good);
        if (i % 2 == 0) {
          MatchResult place = places.get(random.nextInt(places.size()));
          bad.replace(place.start(), place.end(), others.get(random.nextInt(others.size())));
        } else {
          for (int damages = 1 + random.nextInt(4); damages > 0; damages--) {
            bad.setCharAt(random.nextInt(bad.length()), (char) random.nextInt(256));
          }
        }
        Files.writeString(file(), bad);
        assertThatCode(damaged::read).as("%s", bad).doesNotThrowAnyException();
      }
    }
  }

  @Test
  void noPrefixOfItIsTakenForTheWhole() throws Exception {
    saved();
    byte[] whole = Files.readAllBytes(file());
    for (int length = 0; length < whole.length; length++) {
      Files.write(file(), Arrays.copyOf(whole, length));
      try (CheckpointFile cut = open(SOURCE)) {
        assertThat(cut.read()).as("%s of %s bytes", length, whole.length).isNull();
      }
    }
  }
}
