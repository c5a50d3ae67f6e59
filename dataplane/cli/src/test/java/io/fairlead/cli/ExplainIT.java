package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests go through a gateway, and the program says why they went where they did. */
final class ExplainIT {

  @TempDir private Path temporary;

  private final HttpClient client = HttpClient.newHttpClient();
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
    String prompt = "The rope runs through the fairlead. ".repeat(400);
    ask("first", prompt);
    ask("again", prompt);

    ProgramRun run = explain("again");
    assertThat(run.exitCode()).as(run.err()).isZero();
    List<String> lines = run.out().lines().toList();
    assertThat(lines.getFirst()).matches("request again for m, [\\d,]+ prompt tokens, Critical");
    String winner = endpointOf("first");
    assertThat(endpointOf("again")).as("its prompt is cached there").isEqualTo(winner);
    int head = lines.indexOf(lines.stream().filter(l -> l.contains("ENDPOINT")).findFirst().get());
    assertThat(lines.get(head)).contains("work-cost x 1", "COST", "IN FLIGHT", "CACHED");
    assertThat(lines.get(head + 1).strip()).startsWith(winner + " ");
    assertThat(run.out())
        .contains("why not the others")
        .doesNotContain("    " + winner + ":")
        .containsPattern("(one|two|three): .*its own prefill costs [\\d.,]+ ms more")
        .doesNotContain("rope");

    ProgramRun list = explain();
    assertThat(list.out().lines().toList().get(1)).contains("again", "m", winner, "completed");
  }

  /** The objective comes as a header and ends as a cost, through all that is in between. */
  @Test
  void saysWhatWouldHaveBeenLaterThanTheRequestAskedFor() throws Exception {
    String prompt = "The rope runs through the fairlead. ".repeat(400);
    ask("first", prompt);
    ask("urgent", prompt, "x-slo-ttft-ms", "60");
    assertThat(endpointOf("urgent")).isEqualTo(endpointOf("first"));
    assertThat(explain("urgent").out())
        .containsPattern("(one|two|three): later than it asked for costs [\\d.,]+ ms more");
    ask("patient", prompt, "x-slo-ttft-ms", "60000");
    assertThat(explain("patient").out()).doesNotContain("later than it asked for");
  }

  @Test
  void readsWhatWasSavedAndSaysWhatItCannotRead() throws Exception {
    ask("kept", "hello");
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
    assertThat(unknown.err()).contains("no decision on a request of this id is kept");
    ProgramRun nobody = ProgramRun.of("explain", "x", "--picker", "http://127.0.0.1:1");
    assertThat(nobody.exitCode()).isEqualTo(1);
    assertThat(nobody.err()).contains("http://127.0.0.1:1/debug/decisions/x: nobody answers");
  }

  /** Who asks is told in the response what the receipt has; who does not is told nothing. */
  @Test
  void tellsAClientThatAsksInItsResponse() throws Exception {
    String prompt = "The rope runs through the fairlead. ".repeat(400);
    assertThat(ask("first", prompt).headers().firstValue("x-fairlead-decision")).isEmpty();
    String told =
        ask("again", prompt, "x-fairlead-explain", "true")
            .headers()
            .firstValue("x-fairlead-decision")
            .orElseThrow();
    assertThat(told)
        .matches("\\w+; cost=[\\d.]+; \\w+=\\+[\\d.]+; \\w+=\\+[\\d.]+; candidates=3")
        .startsWith(endpointOf("again") + "; ");
    assertThat(ask("no", prompt, "x-fairlead-explain", "perhaps").headers().map())
        .doesNotContainKey("x-fairlead-decision");
  }

  private HttpResponse<String> ask(String id, String prompt, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(gateway.url() + "/v1/completions"))
            .header("content-type", "application/json")
            .header("x-request-id", id);
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    HttpResponse<String> answer =
        client.send(
            request
                .POST(
                    BodyPublishers.ofString(
                        "{\"model\": \"m\", \"max_tokens\": 4, \"prompt\": \"" + prompt + "\"}"))
                .build(),
            BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer;
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
