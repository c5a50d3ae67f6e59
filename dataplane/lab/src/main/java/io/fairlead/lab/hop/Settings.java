package io.fairlead.lab.hop;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fairlead.lab.NamedArguments;
import io.fairlead.lab.Way;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Settings of one running process that take turns. Two processes differ by what their compilers
 * happened to make of the same program, often by more than the settings that are to be compared;
 * one that runs now these and now those does not.
 */
final class Settings {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(20);

  private final Map<String, Path> byWay = new HashMap<>();
  private final @Nullable Path file;
  private final @Nullable URI page;

  /**
   * Takes {@code --settings WAY=FILE}, any number of them, and if there are any {@code
   * --settings-file}, where the process reads its settings, and {@code --settings-page}, where it
   * tells the hash of those in force.
   */
  Settings(NamedArguments given) {
    List<String> texts = given.all("--settings");
    for (String text : texts) {
      String[] parts = text.split("=", 2);
      if (parts.length != 2 || !Files.isReadable(Path.of(parts[1]))) {
        throw new IllegalArgumentException(
            "expected --settings WAY=FILE with a file that is there, got " + text);
      }
      byWay.put(parts[0], Path.of(parts[1]));
    }
    file = texts.isEmpty() ? null : Path.of(given.text("--settings-file"));
    page = texts.isEmpty() ? null : URI.create(given.text("--settings-page"));
  }

  /** Whether a way has settings of its own. */
  boolean differ(Way way) {
    return byWay.containsKey(way.name());
  }

  /**
   * Puts the way's settings in force, if it has any and they are not.
   *
   * @throws IllegalStateException when the process doesn't take them
   */
  void putInForce(Way way) throws IOException, InterruptedException {
    Path wanted = byWay.get(way.name());
    Path read = file;
    URI told = page;
    if (wanted == null || read == null || told == null || Files.mismatch(wanted, read) < 0) {
      return;
    }
    try (HttpClient client = HttpClient.newHttpClient()) {
      String before = hash(client, told);
      Path beside = read.resolveSibling("." + read.getFileName() + ".next");
      Files.copy(wanted, beside, StandardCopyOption.REPLACE_EXISTING);
      Files.move(beside, read, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      long end = System.nanoTime() + PATIENCE.toNanos();
      for (String now = before; now.isEmpty() || now.equals(before); now = hash(client, told)) {
        if (System.nanoTime() > end) {
          throw new IllegalStateException("the settings of %s are not in force".formatted(wanted));
        }
        Thread.sleep(LOOK_AGAIN);
      }
    }
  }

  private static String hash(HttpClient client, URI page) throws IOException, InterruptedException {
    String answer =
        client
            .send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString())
            .body();
    return new ObjectMapper().readTree(answer).path("inForce").path("hash").asText();
  }
}
