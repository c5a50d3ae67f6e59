package io.fairlead.epp.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FileConfigSourceTest {

  @TempDir Path folder;

  private final Queue<String> offers = new ConcurrentLinkedQueue<>();

  @Test
  void neverOffersAFolderWithAFileMissingWhileItIsReplaced() throws Exception {
    for (int i = 0; i < 20; i++) {
      replace("f" + i + ".yaml", "0");
    }
    try (FileConfigSource source = source(folder)) {
      source.start(offer -> offers.add(offer.contentHash()));
      await().until(() -> !offers.isEmpty());
      for (int i = 1; i <= 3_000; i++) {
        replace("f" + i % 20 + ".yaml", String.valueOf(i));
      }
      replace("f0.yaml", "end");
      await().until(() -> offers.stream().anyMatch(texts -> texts.startsWith("end ")));
    }
    assertThat(offers).allSatisfy(texts -> assertThat(texts.split(" ")).hasSize(20));
  }

  @Test
  void tellsWhatCannotBeReadAndReadsItOnceItCan() throws Exception {
    try (FileConfigSource source = source(folder.resolve("later.yaml"))) {
      source.start(this::note);
      await().until(() -> offers.size() == 1);
      replace("later.yaml", "now");
      await().until(() -> offers.size() == 2);
    }
    assertThat(offers)
        .containsExactly(folder.resolve("later.yaml") + ": there is no such file", "now");
  }

  /** As a shell leaves it until the program writes whose output is to go there. */
  @ParameterizedTest
  @ValueSource(strings = {"", "\n"})
  void aFileThatIsEmptySaysNotThatThereIsNothing(String empty) throws Exception {
    replace("endpoints.yaml", "text");
    Path file = folder.resolve("endpoints.yaml");
    try (FileConfigSource source = source(file)) {
      source.start(this::note);
      await().until(() -> offers.size() == 1);
      // At once: a file that is written anew is empty at first, which is offered, too.
      replace("endpoints.yaml", empty);
      await().until(() -> offers.size() == 2);
      replace("endpoints.yaml", "next");
      await().until(() -> offers.size() == 3);
    }
    assertThat(offers)
        .containsExactly(
            "text",
            file + ": is empty; where there is nothing to say, write so, such as endpoints: []",
            "next");
  }

  /** Docker makes one where it is to mount a file that is not there. */
  @Test
  void aFolderInThePlaceOfAFileSaysNotThatThereIsNothing() throws Exception {
    Path file = Files.writeString(folder.resolve("endpoints.yaml"), "endpoints: []");
    Path other = Files.createDirectory(folder.resolve("other.yaml"));
    FileState state = FileState.read(List.of(file, other));
    assertThat(
            List.of(
                ConfigReaders.files(state, other, null),
                ConfigReaders.files(state, file, other),
                ConfigReaders.scheduling(state, other)))
        .allSatisfy(
            offer ->
                assertThat(offer)
                    .isInstanceOfSatisfying(
                        ConfigOffer.Unreadable.class,
                        unreadable ->
                            assertThat(unreadable.message())
                                .isEqualTo(other + ": is a folder, expected a file")));
  }

  /** To read it would be to wait until somebody writes to it, and to follow nothing till then. */
  @Test
  void aPipeInThePlaceOfAFileIsNotWaitedFor() throws Exception {
    Path file = folder.resolve("endpoints.yaml");
    assertThat(new ProcessBuilder("mkfifo", file.toString()).start().waitFor()).isZero();
    try (FileConfigSource source = source(file)) {
      source.start(this::note);
      await().until(() -> offers.size() == 1);
      replace("endpoints.yaml", "text");
      await().until(() -> offers.size() == 2);
    }
    assertThat(offers)
        .containsExactly(file + ": is no regular file; write to a file, and name that", "text");
  }

  @Test
  void aReaderThatFailsIsToldOfAndWhatComesAfterItIsRead() throws Exception {
    replace("a.yaml", "bad");
    try (FileConfigSource source =
        new FileConfigSource(
            List.of(folder.resolve("a.yaml")),
            Duration.ofMillis(20),
            state -> {
              if (state.texts().containsValue("bad")) {
                throw new StackOverflowError("deep");
              }
              return new ConfigOffer.Unreadable("test", state.hash(), "good");
            })) {
      source.start(offer -> offers.add(((ConfigOffer.Unreadable) offer).message()));
      await().until(() -> offers.size() == 1);
      replace("a.yaml", "mended");
      await().until(() -> offers.size() == 2);
    }
    assertThat(offers)
        .satisfiesExactly(
            first -> assertThat(first).contains("a.yaml").contains("StackOverflowError: deep"),
            second -> assertThat(second).isEqualTo("good"));
  }

  @Test
  void aSinkThatFailsIsOfferedTheSameAgain() throws Exception {
    replace("a.yaml", "text");
    try (FileConfigSource source = source(folder)) {
      source.start(
          offer -> {
            offers.add(offer.contentHash());
            if (offers.size() < 3) {
              throw new IllegalStateException("not now");
            }
          });
      await().until(() -> offers.size() == 3);
      replace("a.yaml", "next");
      await().until(() -> offers.size() == 4);
    }
    assertThat(offers).containsExactly("text", "text", "text", "next");
  }

  /** Whatever was put there by mistake: the heap is for requests. */
  @Test
  void namesTheFileThatIsTooLarge() throws IOException {
    Path file = folder.resolve("model.yaml");
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(1L << 40);
    }
    assertThatThrownBy(() -> FileState.read(List.of(folder)))
        .isInstanceOf(IOException.class)
        .hasMessage(file + ": with it the config has more than 16 MiB; remove what is no config");
  }

  @Test
  void namesTheFileThatIsNoText() throws IOException {
    Path file = Files.write(folder.resolve("latin.yaml"), new byte[] {'a', (byte) 0xe9});
    assertThatThrownBy(() -> FileState.read(List.of(folder)))
        .isInstanceOf(IOException.class)
        .hasMessage(file + ": is not UTF-8 text; save it as UTF-8");
  }

  @Test
  void takesOnlyResourceFilesOfAFolder() throws IOException {
    for (String name : List.of("b.yml", "a.yaml", "c.json")) {
      replace(name, name);
    }
    for (String name : List.of(".hidden.yaml", "kustomization.yaml", "notes.txt")) {
      replace(name, "no");
    }
    Files.createDirectory(folder.resolve("sub.yaml"));
    assertThat(FileState.read(List.of(folder)).texts().values())
        .containsExactly("a.yaml", "b.yml", "c.json");
  }

  /** What could not be read, or what was. */
  private void note(ConfigOffer offer) {
    offers.add(
        offer instanceof ConfigOffer.Unreadable unreadable && !offer.origin().equals("test")
            ? unreadable.message()
            : offer.contentHash());
  }

  /** Its offers carry the texts in the hash. */
  private static FileConfigSource source(Path path) {
    return new FileConfigSource(
        List.of(path),
        Duration.ofMillis(20),
        state ->
            new ConfigOffer.Unreadable(
                "test",
                state.files().stream()
                    .map(FileState.TextFile::text)
                    .collect(Collectors.joining(" ")),
                state.hash()));
  }

  private void replace(String name, String text) throws IOException {
    Path temporary = Files.writeString(folder.resolve(name + ".tmp"), text);
    Files.move(temporary, folder.resolve(name), StandardCopyOption.REPLACE_EXISTING);
  }
}
