package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
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
  private static final String COST = "{plugins: [{type: work-cost}]}";
  private static final String BY_QUEUE = "{plugins: [{type: queue-scorer}]}";
  private static final String BY_PREFIX =
      "{plugins: [{type: prefix-cache-scorer}, {type: max-score-picker}]}";

  /** A shadow of a slow machine is asked about a part of them. */
  private static final int MOST_ASKED = 1_200;

  @TempDir private Path temporary;

  private final HttpClient client = HttpClient.newHttpClient();
  private final AtomicInteger prompts = new AtomicInteger();
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
  void anEditStartsAndEndsThem() throws Exception {
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

    with.configure(BY_PREFIX, "[]");
    await().until(() -> run(with).out().contains("This picker has no shadows"));
    assertThat(page(with)).doesNotContain("fairlead_shadow");
  }

  /** Amid requests, none of which fails. */
  @Test
  void twoChangePlacesAndBack() throws Exception {
    GatewayUnderTest with = start(COST, shadow(BY_QUEUE));
    AtomicBoolean enough = new AtomicBoolean();
    AtomicInteger answered = new AtomicInteger();
    try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> asking = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        asking.add(
            clients.submit(
                () -> {
                  while (!enough.get()) {
                    ask(with, prompt());
                    answered.incrementAndGet();
                  }
                  return null;
                }));
      }
      try {
        awaitMore(answered);
        for (String[] two : List.of(new String[] {BY_QUEUE, COST}, new String[] {COST, BY_QUEUE})) {
          String before = configInForce(with);
          with.configure(two[0], shadow(two[1]));
          await().until(() -> !configInForce(with).equals(before));
          awaitMore(answered);
          await().until(() -> judged(with, "next") > 0);
          assertThat(page(with)).contains("fairlead_shadow_running{shadow=\"next\"} 1.0");
        }
      } finally {
        enough.set(true);
      }
      for (Future<?> one : asking) {
        one.get(60, TimeUnit.SECONDS);
      }
    }
  }

  /** The servers are far faster than what is assumed of them. */
  @Test
  void whatTheSchedulingInForceHasLearnedStaysWhileItIsAShadow() throws Exception {
    GatewayUnderTest with = start(COST, shadow(BY_QUEUE));
    double unlearned = expected(with);
    await().until(() -> expected(with) < unlearned / 4);
    for (String[] two : List.of(new String[] {BY_QUEUE, COST}, new String[] {COST, BY_QUEUE})) {
      String before = configInForce(with);
      with.configure(two[0], shadow(two[1]));
      await().until(() -> !configInForce(with).equals(before));
    }
    assertThat(expected(with)).isLessThan(unlearned / 2);
  }

  private static String shadow(String scheduling) {
    return "[{name: next, scheduling: %s}]".formatted(scheduling);
  }

  private void awaitMore(AtomicInteger answered) {
    int before = answered.get();
    await().until(() -> answered.get() >= before + 20);
  }

  /** Another one each time, and a long one. */
  private String prompt() {
    return "request " + prompts.incrementAndGet() + " of many. " + "It is long. ".repeat(2_000);
  }

  /** In how many milliseconds a long prompt's first token is expected that nobody holds. */
  private double expected(GatewayUnderTest with) throws Exception {
    String prompt = prompt();
    ask(with, prompt);
    return newest(with).path("expectedFirstTokenMillis").asDouble();
  }

  private JsonNode newest(GatewayUnderTest with) throws Exception {
    return JsonMapper.builder()
        .build()
        .readTree(get(with, "/debug/decisions"))
        .path("requests")
        .path(0);
  }

  private String configInForce(GatewayUnderTest with) throws Exception {
    return get(with, "/debug/config");
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
    return get(with, "/metrics");
  }

  private String get(GatewayUnderTest with, String path) throws Exception {
    return client
        .send(
            HttpRequest.newBuilder(URI.create(with.adminUrl() + path)).build(),
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
