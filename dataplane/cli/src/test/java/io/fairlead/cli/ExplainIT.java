package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests go through a gateway, and the program says why they went where they did. */
final class ExplainIT {

  @TempDir private Path temporary;

  private final HttpClient client = HttpClient.newHttpClient();
  private static final Pattern LATER =
      Pattern.compile("(one|two|three): .*later than it asked for costs [\\d.,]+ ms more");

  private GatewayUnderTest gateway;

  @BeforeEach
  void start() throws Exception {
    gateway = new GatewayUnderTest(temporary, parts -> parts.admin("127.0.0.1", 0));
  }

  @AfterEach
  void stop() {
    client.close();
    gateway.close();
  }

  @Test
  void saysWhoGotARequestAndWhyNotTheOthers() throws Exception {
    String again = askTwice();

    ProgramRun run = explain(again);
    assertThat(run.exitCode()).as(run.err()).isZero();
    List<String> lines = run.out().lines().toList();
    assertThat(lines.getFirst())
        .matches("request " + again + " for m, [\\d,]+ prompt tokens, Critical");
    String winner = endpointOf(again);
    int head = lines.indexOf(lines.stream().filter(l -> l.contains("ENDPOINT")).findFirst().get());
    assertThat(lines.get(head)).contains("work-cost x 1", "COST", "IN FLIGHT", "CACHED");
    assertThat(lines.get(head + 1).strip()).startsWith(winner + " ");
    assertThat(run.out())
        .containsOnlyOnce("COST: what work-cost expects the request to cost there")
        .contains("why not the others")
        .doesNotContain("    " + winner + ":")
        .containsPattern("(one|two|three): .*its own prefill costs [\\d.,]+ ms more")
        .doesNotContain("rope");

    ProgramRun list = explain();
    assertThat(list.out().lines().toList().get(1)).contains(again, "m", winner, "completed");
  }

  /**
   * The same prompt twice, and returns the id of the second, which got to the server that holds it.
   * It is another's where one request in a hundred tries that, or where the first answer came so
   * late that the server looks slow.
   */
  private String askTwice() {
    AtomicInteger tries = new AtomicInteger();
    await()
        .until(
            () -> {
              int i = tries.incrementAndGet();
              String prompt = (i + " ropes run through the fairlead. ").repeat(400);
              ask("first-" + i, prompt);
              ask("again-" + i, prompt);
              awaitCompleted("again-" + i);
              return !isTry("again-" + i)
                  && endpointOf("again-" + i).equals(endpointOf("first-" + i));
            });
    return "again-" + tries.get();
  }

  private boolean isTry(String id) {
    return explain(id).out().contains("one request in a hundred");
  }

  /** A client may have its answer before the receipt says so. */
  private void awaitCompleted(String id) {
    await().until(() -> explain(id).out().contains("  completed after "));
  }

  /** The objective comes as a header and ends as a cost, through all that is in between. */
  @Test
  void saysWhatWouldHaveBeenLaterThanTheRequestAskedFor() throws Exception {
    String prompt = "The rope runs through the fairlead. ".repeat(400);
    ask("first", prompt);
    ask("again", prompt);
    List<String> asked = new ArrayList<>(List.of("again"));
    Set<String> holders = new HashSet<>(List.of(endpointOf("first"), endpointOf("again")));
    // How fast the servers are is learned from each answer, and with it what they can't keep.
    await()
        .until(
            () -> {
              long between = betweenCachedAndNot(asked.getLast());
              asked.add("urgent-" + asked.size());
              ask(asked.getLast(), prompt, "x-slo-ttft-ms", Long.toString(between));
              if (!isTry(asked.getLast()) && LATER.matcher(explain(asked.getLast()).out()).find()) {
                return true;
              }
              holders.add(endpointOf(asked.getLast()));
              return false;
            });
    assertThat(holders).as("those that hold its prompt").contains(endpointOf(asked.getLast()));
    ask("patient", prompt, "x-slo-ttft-ms", "60000");
    assertThat(explain("patient").out()).doesNotContain("later than it asked for");
  }

  /** Milliseconds to the first token that a server keeps only with the prompt in its cache. */
  private long betweenCachedAndNot(String id) throws IOException {
    JsonNode page = JsonMapper.builder().build().readTree(explain(id, "--json").out());
    double prefill = 0;
    for (JsonNode one : page.at("/decisions/0/profiles/0/scored")) {
      for (JsonNode term : one.path("terms")) {
        if (term.path("name").asText().equals("its own prefill")) {
          prefill = Math.max(prefill, term.path("millis").asDouble());
        }
      }
    }
    return Math.max(1, Math.round(page.path("expectedFirstTokenMillis").asDouble() + prefill / 2));
  }

  @Test
  void readsWhatWasSavedAndSaysWhatItCannotRead() throws Exception {
    ask("kept", "hello");
    awaitCompleted("kept");
    Path saved = temporary.resolve("receipt.json");
    ProgramRun json = explain("kept", "--json");
    Files.writeString(saved, json.out());
    assertThat(ProgramRun.of("explain", "--file", saved.toString()).out())
        .isEqualTo(explain("kept").out());

    Files.writeString(saved, json.out().replace("\"version\":1,", "\"version\":7,"));
    ProgramRun newer = ProgramRun.of("explain", "--file", saved.toString());
    assertThat(newer.exitCode()).isEqualTo(1);
    assertThat(newer.err()).contains("is of version 7, and this program reads version 1");
    assertThat(ProgramRun.of("explain", "--file", "no-such-file").err())
        .contains("no-such-file: is not there");
    assertThat(ProgramRun.of("explain", "x", "--file", "y").exitCode()).isEqualTo(2);
    ProgramRun unknown = explain("nobody's");
    assertThat(unknown.exitCode()).isEqualTo(1);
    assertThat(unknown.err())
        .contains(
            "no decision on a request of this id is kept: every request that can be read has one")
        .contains("the newest 10000 are kept as far as memory allows; 1 is there of 2");
    ProgramRun nobody = ProgramRun.of("explain", "x", "--picker", "http://127.0.0.1:1");
    assertThat(nobody.exitCode()).isEqualTo(1);
    assertThat(nobody.err()).contains("http://127.0.0.1:1/debug/decisions/x: nobody answers");
  }

  @Test
  void decidesAgainUnderAnotherConfig() throws Exception {
    String again = askTwice();
    String winner = endpointOf(again);
    Path prefix =
        config("prefix.yaml", "plugins: [{type: prefix-cache-scorer}, {type: queue-scorer}]");
    ProgramRun run = explain(again, "--with", prefix.toString());
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out())
        .contains(
            "under " + prefix + ": sent to " + winner + " too, by profile default",
            "prefix-cache-scorer x 1",
            "prefix-cache-scorer says 0.000 instead of")
        .doesNotContain("can't be asked");

    Path saved = temporary.resolve("receipt.json");
    Files.writeString(saved, explain(again, "--json").out());
    assertThat(
            ProgramRun.of("explain", "--file", saved.toString(), "--with", prefix.toString()).out())
        .isEqualTo(run.out());

    // What it had learned is not in the receipt: the same says what it said, another is named.
    Path same = config("same.yaml", "plugins: [{type: work-cost}]");
    assertThat(explain(again, "--with", same.toString()).out())
        .contains("sent to " + winner + " too", "says what it said then: work-cost");
    Path other =
        config(
            "other.yaml",
            "plugins: [{type: work-cost, parameters: {omega: 1}}, {type: prefix-cache-scorer}]");
    assertThat(explain(again, "--with", other.toString()).out())
        .contains(
            "decided without work-cost, which can't be asked again:"
                + " it goes by requests that came before");
    Path nobody =
        config(
            "nobody.yaml",
            "plugins: [{type: by-label, parameters: {label: tier, validValues: [gold]}}]");
    assertThat(explain(again, "--with", nobody.toString()).out())
        .contains("under " + nobody + ": sent to nobody: filters leave none of its candidates");

    // A draw follows from the request's own bits: now and then it falls on another.
    Path drawn = config("drawn.yaml", "plugins: [{type: random-picker}]");
    boolean elsewhere = false;
    for (int i = 0; i < 20 && !elsewhere; i++) {
      ask("drawn-" + i, "The rope runs through the fairlead. ".repeat(400));
      awaitCompleted("drawn-" + i);
      String out = explain("drawn-" + i, "--with", drawn.toString()).out();
      assertThat(out).containsPattern("sent to (one|two|three) (too|instead)");
      assertThat(explain("drawn-" + i, "--with", drawn.toString()).out()).isEqualTo(out);
      elsewhere = out.contains(" instead, by profile");
    }
    assertThat(elsewhere).isTrue();
  }

  @Test
  void saysWhatIsWrongWithTheOtherConfig() throws Exception {
    ask("kept", "hello");
    Path unknown = config("unknown.yaml", "plugins: [{type: no-such-scorer}]");
    ProgramRun run = explain("kept", "--with", unknown.toString());
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).contains(unknown + ": plugins[0].type", "no-such-scorer");
    Path picker =
        Files.writeString(
            temporary.resolve("picker.yaml"),
            """
            apiVersion: fairlead.io/v1alpha1
            kind: EndpointPicker
            metadata: {name: sample}
            spec:
              poolRef: {name: sample}
              scheduling: {plugins: [{type: queue-scorer, parameters: {depth: 3}}]}
            """);
    assertThat(explain("kept", "--with", picker.toString()).err())
        .contains("spec.scheduling.plugins[0].parameters.depth");
    Files.writeString(picker, Files.readString(picker).replace(", parameters: {depth: 3}", ""));
    assertThat(explain("kept", "--with", picker.toString()).out())
        .contains("under " + picker + ": sent to", "queue-scorer x 1");
    Path pod = Files.writeString(temporary.resolve("pod.yaml"), "{apiVersion: v1, kind: Pod}");
    assertThat(explain("kept", "--with", pod.toString()).err())
        .contains(pod + ": kind: set EndpointPickerConfig, EndpointPicker or PoolConfig");
    assertThat(explain("kept", "--with", "no-such-file").err())
        .contains("no-such-file: is not there");
    assertThat(explain("--with", picker.toString()).exitCode()).isEqualTo(2);
    assertThat(explain("kept", "--json", "--with", picker.toString()).exitCode()).isEqualTo(2);

    // A receipt of a picker that has kept no inputs.
    Path saved = temporary.resolve("receipt.json");
    Files.writeString(saved, explain("kept", "--json").out().replace("\"inputs\"", "\"input\""));
    assertThat(
            ProgramRun.of("explain", "--file", saved.toString(), "--with", picker.toString()).out())
        .contains("can't be told: the receipt is of a picker that keeps no inputs");
  }

  /** Nobody got it: each endpoint's reason, in words. */
  @Test
  void saysOfEachEndpointWhyNobodyGotARequest() throws Exception {
    gateway.configure(
        "{featureGates: [flowControl=false], plugins:"
            + " [{type: by-label, parameters: {label: tier, validValues: [gold]}}]}",
        "[]");
    String id = "refused";
    await().until(() -> send(id, "hello").statusCode() != 200);
    ProgramRun run = explain(id);
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.out())
        .contains(
            "was sent to nobody",
            "rejected, since of 3 endpoints none got it, under config",
            "    one, two, three: each was rejected by by-label, which keeps endpoints labelled"
                + " tier in (gold)");
  }

  /** How each attempt failed, why there was no other, and that it went to one that was out. */
  @Test
  void saysHowServersFailedARequest() throws Exception {
    List.of("one", "two", "three").forEach(gateway::kill);
    List<String> ids = new ArrayList<>();
    await()
        .until(
            () -> {
              ids.add("failed-" + ids.size());
              assertThat(send(ids.getLast(), "hello").statusCode()).isEqualTo(502);
              return explain(ids.getLast()).out().contains("it was out, since ");
            });
    String first = explain(ids.getFirst()).out();
    assertThat(first)
        .contains(
            "attempt 1, ", "attempt 2, ", "  upstream_failed after ", "  was not sent again: ")
        .containsPattern("  failed after [\\d.,]+ ms: (refuses|resets) connections");
    assertThat(explain(ids.getLast()).out())
        .containsPattern(
            "it was out, since [\\dT:.-]+Z: \\w+ connections; one that is out is used where too few")
        .contains("HEALTH");
  }

  /** A server's own word, which its client got too. */
  @Test
  void saysWithWhatStatusAServerRefusedARequest() throws Exception {
    String hot = "hello\", \"temperature\": 9, \"user\": \"me";
    assertThat(send("hot", hot).statusCode()).isEqualTo(400);
    await().until(() -> explain("hot").out().contains("  invalid after "));
    assertThat(explain("hot").out()).contains("  its answer had status 400\n");
  }

  @Test
  void saysWhyThereIsNoReceipt() {
    assertThat(explain().out())
        .startsWith("no request: every request that can be read has one")
        .contains("none is there yet");
  }

  private Path config(String name, String scheduling) throws IOException {
    return Files.writeString(
        temporary.resolve(name),
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha1
        kind: EndpointPickerConfig
        %s
        """
            .formatted(scheduling));
  }

  /** Who asks is told in the response what the receipt has; who does not is told nothing. */
  @Test
  void tellsAClientThatAsksInItsResponse() throws Exception {
    String prompt = "The rope runs through the fairlead. ".repeat(400);
    assertThat(ask("first", prompt).headers().firstValue("x-fairlead-decision")).isEmpty();
    AtomicInteger asked = new AtomicInteger();
    String told =
        await()
            .until(
                () ->
                    ask("again-" + asked.incrementAndGet(), prompt, "x-fairlead-explain", "true")
                        .headers()
                        .firstValue("x-fairlead-decision")
                        .orElseThrow(),
                any -> !isTry("again-" + asked.get()));
    assertThat(told)
        .matches("\\w+; cost=[\\d.]+; \\w+=\\+[\\d.]+; \\w+=\\+[\\d.]+; candidates=3")
        .startsWith(endpointOf("again-" + asked.get()) + "; ");
    assertThat(ask("no", prompt, "x-fairlead-explain", "perhaps").headers().map())
        .doesNotContainKey("x-fairlead-decision");
  }

  private HttpResponse<String> ask(String id, String prompt, String... headers)
      throws IOException, InterruptedException {
    HttpResponse<String> answer = send(id, prompt, headers);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer;
  }

  private HttpResponse<String> send(String id, String prompt, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(gateway.url() + "/v1/completions"))
            .header("content-type", "application/json")
            .header("x-request-id", id);
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return client.send(
        request
            .POST(
                BodyPublishers.ofString(
                    "{\"model\": \"m\", \"max_tokens\": 4, \"prompt\": \"" + prompt + "\"}"))
            .build(),
        BodyHandlers.ofString());
  }

  /** As the list has it. */
  private String endpointOf(String id) {
    return explain()
        .out()
        .lines()
        .filter(line -> line.startsWith(id + " "))
        .map(line -> line.split(" +", -1)[3])
        .findFirst()
        .orElseThrow();
  }

  private ProgramRun explain(String... args) {
    return ProgramRun.of(
        "explain",
        Stream.concat(Stream.of("--picker", gateway.adminUrl()), Stream.of(args))
            .toArray(String[]::new));
  }
}
