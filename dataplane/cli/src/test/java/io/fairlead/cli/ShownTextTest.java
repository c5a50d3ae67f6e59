package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.joran.spi.JoranException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What clients and objects are called never moves the cursor, or anything else of a terminal's. */
class ShownTextTest {
  private static final String RECEIPT =
      """
      {"version": 1, "id": "r\\u001b[2J", "arrived": "now", "model": "m\\u009b31m\\nrequest forged", "outcome": "completed\\u0007",
       "waited": false, "streamed": false,
       "decisions": [
        {"at": "then", "configHash": "ab", "endpoint": "e\\u001b]0;title", "profile": "only",
         "excluded": [{"endpoint": "x\\r", "why": "is out\\u001b[1m"}], "candidates": [], "moreCandidates": 0,
         "profiles": [
          {"name": "only", "picker": "p", "preference": "", "picked": ["e"], "rejected": [],
           "scored": [{"endpoint": "e\\u001b]0;title", "score": 1, "scores": []}]}]}]}
      """;

  @TempDir private Path folder;

  @Test
  void aReceiptsNamesAreShownAndDoNothing() throws IOException {
    String file = Files.writeString(folder.resolve("receipt"), RECEIPT).toString();
    ProgramRun run = ProgramRun.of("explain", "--file", file);
    assertThat(run.exitCode()).as(run.err()).isZero();
    harmless(run);
    assertThat(run.out())
        .contains("request r\\u001b[2J for m\\u009b31m\\nrequest forged")
        .contains("e\\u001b]0;title", "x\\u000d: is out\\u001b[1m")
        .doesNotContainPattern("(?m)^request forged");
  }

  @Test
  void jsonStaysWhatItIs() throws IOException {
    String page = "{\"model\": \"a\u009b\",\n \"id\": \"ü\"}";
    String file = Files.writeString(folder.resolve("receipt"), page).toString();
    ProgramRun run = ProgramRun.of("explain", "--json", "--file", file);
    harmless(run);
    assertThat(run.out()).isEqualTo(page.replace("\u009b", "\\u009b") + "\n");
  }

  /** A character beyond 16 bits, which JSON writes as two: a tag, as flags are made of. */
  @Test
  void jsonOfATagStaysWhatItIs() throws IOException {
    String page = "{\"model\": \"a\udb40\udc67b\"}";
    String file = Files.writeString(folder.resolve("receipt"), page).toString();
    ProgramRun run = ProgramRun.of("explain", "--json", "--file", file);
    assertThat(run.out()).isEqualTo("{\"model\": \"a\\udb40\\udc67b\"}\n");
    assertThat(new ObjectMapper().readTree(run.out())).isEqualTo(new ObjectMapper().readTree(page));
  }

  @Test
  void whatAPickerAnswersIsShownAndDoesNothing() throws IOException {
    String list =
        "{\"requests\": [{\"id\": \"a\\u001b[2J\", \"model\": \"m\\nforged\", \"endpoint\": \"\\u202egnp\"}]}";
    ProgramRun run = asked(200, list, "explain");
    harmless(run);
    assertThat(run.out()).contains("a\\u001b[2J", "m\\nforged", "\\u202egnp");
    assertThat(run.out().lines()).hasSize(2);

    ProgramRun refused = asked(404, "no\u001b[2J such request", "explain", "id");
    harmless(refused);
    assertThat(refused.err()).contains("no\\u001b[2J such request");

    String shadows =
        "{\"version\": 1, \"shadows\": [{\"name\": \"s\\u001b[1m\", \"off\": \"why\\u0007\","
            + " \"infersCaches\": true}]}";
    ProgramRun shadow = asked(200, shadows, "shadow");
    harmless(shadow);
    assertThat(shadow.out())
        .contains("s\\u001b[1m is off: why\\u0007", "s\\u001b[1m infers what caches hold");
  }

  @Test
  void whatObjectsSayIsShownAndDoesNothing() throws IOException {
    String file =
        Files.writeString(
                folder.resolve("objects.yaml"),
                """
                apiVersion: inference.networking.k8s.io/v1
                kind: InferencePool
                metadata: {name: "p\\e[2J", namespace: "n\\u009b"}
                ---
                apiVersion: inference.networking.x-k8s.io/v1alpha2
                kind: InferenceModel
                metadata: {name: m, namespace: n}
                spec: {modelName: "a\\e[31m", poolRef: {name: p}, "mine\\e[1m": 1}
                status:
                  conditions:
                    - {type: Ready, status: "False", reason: Bad, message: "first\\nsecond\\e[2J"}
                """)
            .toString();
    ProgramRun status = ProgramRun.of("status", "-A", "-o", "wide", file);
    assertThat(status.exitCode()).as(status.err()).isZero();
    harmless(status);
    assertThat(status.out()).contains("p\\u001b[2J", "a\\u001b[31m", "first\\nsecond\\u001b[2J");
    assertThat(status.out().lines()).hasSize(5);

    ProgramRun convert = ProgramRun.of("convert", file);
    assertThat(convert.err()).contains("mine\\u001b[1m").doesNotContain("\u001b");
  }

  /** Lines of the log have what clients ask for in them. */
  @Test
  void aLineOfTheLogDoesNothing() throws JoranException {
    LoggerContext context = new LoggerContext();
    JoranConfigurator configurator = new JoranConfigurator();
    configurator.setContext(context);
    configurator.doConfigure(Objects.requireNonNull(Fairlead.class.getResource("/logback.xml")));
    var plain =
        (ConsoleAppender<ILoggingEvent>)
            context.getLogger(Logger.ROOT_LOGGER_NAME).getAppender("plain");
    LoggingEvent event =
        new LoggingEvent(
            "", context.getLogger("log"), Level.WARN, "a\u001b[2J\u009b\r\n\tü", null, null);
    assertThat(new String(plain.getEncoder().encode(event), StandardCharsets.UTF_8))
        .endsWith(" WARN  log a?[2J??\n\tü\n");
    context.stop();
  }

  /** The program, asking a picker that answers so whatever it is asked. */
  private static ProgramRun asked(int code, String answer, String... command) throws IOException {
    HttpServer picker =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    picker.createContext(
        "/",
        exchange -> {
          byte[] body = answer.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(code, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    picker.start();
    try {
      String[] words = new String[command.length + 1];
      words[0] = "--picker=http://127.0.0.1:" + picker.getAddress().getPort();
      System.arraycopy(command, 1, words, 1, command.length - 1);
      return ProgramRun.of(command[0], Arrays.copyOf(words, command.length));
    } finally {
      picker.stop(0);
    }
  }

  private static void harmless(ProgramRun run) {
    assertThat((run.out() + run.err()).codePoints().filter(c -> c != '\n'))
        .noneMatch(c -> Character.isISOControl(c) || Character.getType(c) == Character.FORMAT);
  }
}
