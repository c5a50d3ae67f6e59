package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Requests go through a gateway that has shadows, and the program says how these would have done.
 */
final class ShadowIT {

  private static final String RANDOM = "{plugins: [{type: random-picker}]}";
  private static final String BY_PREFIX =
      "{plugins: [{type: prefix-cache-scorer}, {type: max-score-picker}]}";

  /** A shadow of a slow machine is asked about a part of them. */
  private static final int MOST_ASKED = 1_200;

  @TempDir private Path temporary;

  private final HttpClient client = HttpClient.newHttpClient();
  private @Nullable GatewayUnderTest gateway;

  @AfterEach
  void stop() {
    client.close();
    if (gateway != null) {
      gateway.close();
    }
  }

  private GatewayUnderTest start(String scheduling, String shadows) throws Exception {
    GatewayUnderTest made =
        new GatewayUnderTest(temporary, scheduling, shadows, parts -> parts.admin("127.0.0.1", 0));
    gateway = made;
    return made;
  }

  @Test
  void saysHowEachShadowWouldHaveDone() throws Exception {
    GatewayUnderTest with =
        start(
            RANDOM,
            "[{name: same, scheduling: %s}, {name: by-prefix, scheduling: %s}]"
                .formatted(RANDOM, BY_PREFIX));
    int asked = 0;
    boolean enough = false;
    while (!enough && asked < MOST_ASKED) {
      for (int i = 0; i < 60; i++) {
        // Others each time: a prompt that all servers hold says nothing of who chose them.
        int tenant = asked + i % 20;
        ask(with, "tenant " + tenant + " ".repeat(10) + "has a long prompt. ".repeat(200));
      }
      asked += 60;
      awaitTold(with, "same", asked);
      awaitTold(with, "by-prefix", asked);
      enough = judged(with, "same") >= 40 && judged(with, "by-prefix") >= 40;
    }
    assertThat(enough).as("%d were enough", asked).isTrue();
    await().until(() -> page(with).contains("fairlead_shadow_running{shadow=\"same\"} 1.0"));

    String[] same = row(run(with), "same");
    String[] byPrefix = row(run(with), "by-prefix");
    int judged = judged(with, "same");
    assertThat(run(with, "--json").out()).contains("\"requests\":" + judged);
    assertThat(same[2]).isEqualTo("100.0 %");
    assertThat(same[3]).as("cached tokens, as really").isEqualTo(same[4]);
    assertThat(percent(byPrefix[2])).isLessThan(80);
    assertThat(percent(byPrefix[3])).isGreaterThan(percent(byPrefix[4]) + 5);
    assertThat(page(with))
        .contains(
            "fairlead_shadow_requests_total{shadow=\"same\",result=\"agreed\"} " + judged + ".0")
        .contains("fairlead_shadow_requests_total{shadow=\"same\",result=\"differed\"} 0.0")
        .containsPattern("fairlead_shadow_cpu_seconds_total\\{shadow=\"same\"} 0\\.");
  }

  /** A busy machine leaves requests out, and says so: none is lost. */
  private void awaitTold(GatewayUnderTest with, String shadow, int requests) {
    await().until(() -> judged(with, shadow) + leftOut(with, shadow) == requests);
  }

  private static int judged(GatewayUnderTest with, String shadow) {
    return Integer.parseInt(row(run(with), shadow)[1].replace(",", ""));
  }

  private int leftOut(GatewayUnderTest with, String shadow) throws Exception {
    Matcher count =
        Pattern.compile(
                "fairlead_shadow_requests_total\\{shadow=\"%s\",result=\"left_out\"} (\\d+)"
                    .formatted(shadow))
            .matcher(page(with));
    assertThat(count.find()).isTrue();
    return Integer.parseInt(count.group(1));
  }

  @Test
  void anEditStartsAndEndsThemAndTwoNamesChangePlaces() throws Exception {
    GatewayUnderTest with = start(RANDOM, "[]");
    assertThat(run(with).out()).contains("This picker has no shadows");

    with.configure(RANDOM, "[{name: next, scheduling: %s}]".formatted(BY_PREFIX));
    await().until(() -> run(with).out().contains("next"));
    int asked = 0;
    do {
      for (int i = 0; i < 20; i++) {
        ask(with, "always the same prompt, and a long one. ".repeat(200));
      }
      asked += 20;
      awaitTold(with, "next", asked);
    } while (judged(with, "next") < 20 && asked < MOST_ASKED);
    assertThat(percent(row(run(with), "next")[2])).as("one of three").isLessThan(90);

    with.configure(BY_PREFIX, "[{name: next, scheduling: %s}]".formatted(BY_PREFIX));
    for (int i = 0; i < 20; i++) {
      ask(with, "another prompt that is always the same. ".repeat(200));
    }
    with.configure(BY_PREFIX, "[]");
    await().until(() -> run(with).out().contains("This picker has no shadows"));
    assertThat(page(with)).doesNotContain("fairlead_shadow");
  }

  private void ask(GatewayUnderTest with, String prompt) throws Exception {
    HttpResponse<String> answer =
        client.send(
            HttpRequest.newBuilder(URI.create(with.url() + "/v1/completions"))
                .header("content-type", "application/json")
                .POST(
                    BodyPublishers.ofString(
                        "{\"model\": \"m\", \"max_tokens\": 4, \"prompt\": \"" + prompt + "\"}"))
                .build(),
            BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
  }

  private String page(GatewayUnderTest with) throws Exception {
    return client
        .send(
            HttpRequest.newBuilder(URI.create(with.adminUrl() + "/metrics")).build(),
            BodyHandlers.ofString())
        .body();
  }

  private static ProgramRun run(GatewayUnderTest with, String... more) {
    return ProgramRun.of(
        "shadow",
        Stream.concat(Stream.of("--picker", with.adminUrl()), Stream.of(more))
            .toArray(String[]::new));
  }

  private static String[] row(ProgramRun run, String shadow) {
    return run.out()
        .lines()
        .filter(line -> line.startsWith(shadow + " "))
        .map(line -> line.split(" {2,}", -1))
        .findFirst()
        .orElseThrow(() -> new AssertionError(run.out()));
  }

  private static double percent(String cell) {
    return Double.parseDouble(cell.replace(" %", ""));
  }
}
