package io.fairlead.lab.hop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.sun.net.httpserver.HttpServer;
import io.fairlead.lab.NamedArguments;
import io.fairlead.lab.Way;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Beside a process that takes its settings some questions after they were written. */
class SettingsTest {
  private static final Way PLAIN = Way.parse("plain,http://x:1");
  private static final Way SHADOW = Way.parse("shadow,http://x:1");
  private static final Way OTHER = Way.parse("other,http://x:1");

  @TempDir private Path folder;
  private HttpServer process;
  private final AtomicInteger asked = new AtomicInteger();
  private volatile String inForce = "";

  @BeforeEach
  void start() throws IOException {
    Files.writeString(folder.resolve("file"), "plain");
    Files.writeString(folder.resolve("plain"), "plain");
    Files.writeString(folder.resolve("shadow"), "shadow");
    inForce = "plain";
    process = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    process.createContext(
        "/debug/config",
        exchange -> {
          try (exchange) {
            if (asked.incrementAndGet() % 3 == 0) {
              inForce = Files.readString(folder.resolve("file"));
            }
            byte[] page = "{\"inForce\":{\"hash\":\"%s\"}}".formatted(inForce).getBytes(UTF_8);
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
          }
        });
    process.start();
  }

  @AfterEach
  void stop() {
    process.stop(0);
  }

  private NamedArguments arguments(String... more) {
    String[] all = new String[more.length + 4];
    System.arraycopy(more, 0, all, 0, more.length);
    all[more.length] = "--settings-file";
    all[more.length + 1] = folder.resolve("file").toString();
    all[more.length + 2] = "--settings-page";
    all[more.length + 3] =
        "http://127.0.0.1:%d/debug/config".formatted(process.getAddress().getPort());
    return new NamedArguments(all);
  }

  @Test
  void waitsUntilTheProcessHasTakenThem() throws Exception {
    Settings settings =
        new Settings(
            arguments(
                "--settings",
                "plain=" + folder.resolve("plain"),
                "--settings",
                "shadow=" + folder.resolve("shadow")));
    assertThat(settings.differ(SHADOW)).isTrue();
    assertThat(settings.differ(OTHER)).isFalse();
    settings.putInForce(PLAIN);
    settings.putInForce(OTHER);
    assertThat(asked).as("they are in force").hasValue(0);
    settings.putInForce(SHADOW);
    assertThat(inForce).isEqualTo("shadow");
    settings.putInForce(PLAIN);
    assertThat(inForce).isEqualTo("plain");
  }

  @Test
  void namesAFileThatIsNotThere() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Settings(arguments("--settings", "plain=" + folder.resolve("none"))))
        .withMessageContaining("--settings WAY=FILE");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                new Settings(new NamedArguments("--settings", "plain=" + folder.resolve("plain"))))
        .withMessageContaining("--settings-file is missing");
  }
}
