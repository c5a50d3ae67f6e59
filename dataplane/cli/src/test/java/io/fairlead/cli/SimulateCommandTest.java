package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

final class SimulateCommandTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @TempDir private Path folder = Path.of("");

  private int run(String... arguments) {
    CommandLine commandLine = Fairlead.commandLine();
    commandLine.setOut(new PrintWriter(out));
    commandLine.setErr(new PrintWriter(err));
    String[] all = new String[arguments.length + 1];
    all[0] = "simulate";
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    return commandLine.execute(all);
  }

  @Test
  void listsWhatThereIs() {
    assertThat(run("--list")).isZero();
    assertThat(out.toString()).contains("  chat ").contains("  cost\n").contains("  h100-8b\n");
  }

  @Test
  void comparesPoliciesAndWritesTheReport() throws IOException {
    Path own = folder.resolve("mine.yaml");
    Files.writeString(
        own,
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha1
        kind: EndpointPickerConfig
        plugins:
        - type: work-cost
          parameters: {theta: 0}
        """);
    int exit =
        run(
            "--workload=b2b@0.5",
            "--policy=cost," + own + ",round-robin",
            "--seconds=20",
            "--seeds=2",
            "--reference=round-robin",
            "--out=" + folder.resolve("report"));

    assertThat(err.toString()).isEmpty();
    assertThat(exit).isZero();
    assertThat(out.toString())
        .contains("b2b@0.5 on 8xh100x2-32b")
        .contains("mine ")
        .contains("6 runs, ");
    assertThat(folder.resolve("report/report.html")).content().contains("--workload=b2b@0.5");
    assertThat(folder.resolve("report/report.md")).content().contains("round-robin");
    assertThat(folder.resolve("report/report.json")).content().contains("\"seed\"");
  }

  @Test
  void shadowsAreAskedBesideEachPolicy() {
    int exit =
        run(
            "--workload=b2b@0.5",
            "--policy=cost,random",
            "--shadow=cost,weighted",
            "--seconds=20",
            "--seeds=2");

    assertThat(err.toString()).isEmpty();
    assertThat(exit).isZero();
    List<String> lines = out.toString().lines().toList();
    int first = lines.indexOf("b2b@0.5 on 8xh100x2-32b, beside cost:");
    assertThat(lines.get(first + 1)).startsWith("SHADOW ").contains("AGREED");
    assertThat(lines.get(first + 2)).matches("cost +\\d+ +(9\\d|100)\\.\\d % .*");
    assertThat(lines.get(first + 3)).matches("weighted +\\d+ +[1-8]\\d\\.\\d % .*");
    assertThat(lines.get(first + 4)).isEqualTo("b2b@0.5 on 8xh100x2-32b, beside random:");
    assertThat(lines.get(first + 6)).matches("cost +\\d+ +1\\d\\.\\d % .*");
  }

  @Test
  void aShadowThatIsNoneIsRefusedByName() {
    int exit = run("--shadow=no-such", "--seconds=1");

    assertThat(exit).isNotZero();
    assertThat(err.toString()).contains("no-such");
  }

  @Test
  void runsTheSeedsAskedFor() throws IOException {
    int exit =
        run(
            "--workload=b2b@0.5",
            "--policy=cost",
            "--seconds=5",
            "--seeds=6..7",
            "--out=" + folder.resolve("report"));

    assertThat(exit).isZero();
    assertThat(out.toString()).contains("2 runs, ");
    assertThat(folder.resolve("report/report.json"))
        .content()
        .containsPattern("\"seed\": ?6\\b")
        .containsPattern("\"seed\": ?7\\b")
        .doesNotContainPattern("\"seed\": ?1\\b");
  }

  @Test
  void takesSeedsThatNothingWasTunedOnUnlessToldOtherwise() throws IOException {
    int exit =
        run(
            "--workload=b2b@0.1",
            "--policy=round-robin",
            "--seconds=2",
            "--out=" + folder.resolve("report"));

    assertThat(exit).isZero();
    assertThat(folder.resolve("report/report.json"))
        .content()
        .containsPattern("\"seeds\": ?\\[ ?6, ?7, ?8, ?9, ?10 ?]");
  }

  @Test
  void tellsWhatEventsCost() throws IOException {
    int exit =
        run(
            "--workload=sharegpt-low-hit@0.1",
            "--policy=cost,round-robin",
            "--seconds=20",
            "--seeds=1",
            "--scrape=200",
            "--client=EXT_PROC",
            "--unstreamed=0.5",
            "--scenario=kind=fail-fast,server=0-1,at=5s,for=5s;kind=slow,server=2,factor=3",
            "--out=" + folder.resolve("report"));

    assertThat(err.toString()).isEmpty();
    assertThat(exit).isZero();
    assertThat(out.toString()).contains("failed").contains("seconds until right");
    assertThat(folder.resolve("report/report.md"))
        .content()
        .contains("- scenario: kind=fail-fast,server=0-1,at=5s,for=5s;kind=slow,server=2,factor=3")
        .contains("- client: EXT\\_PROC")
        .contains("seconds until right");
    assertThat(folder.resolve("report/report.json")).content().contains("\"disruption\"");
    assertThat(folder.resolve("report/report.html")).content().contains("Sent to each endpoint");
  }

  @Test
  void tellsWhenServersGetWhatIsRightForThem() throws IOException {
    Path scenario = folder.resolve("mine.yaml");
    Files.writeString(
        scenario,
        """
        events:
        - {kind: slow, server: 1, factor: 2, at: 20s, for: 30s}
        - {kind: join, at: 80s}
        """);
    int exit =
        run(
            "--workload=sharegpt-low-hit@0.1",
            "--policy=round-robin",
            "--pool=4xh100-8b",
            "--seconds=120",
            "--seeds=2",
            "--scenario=" + scenario);

    assertThat(err.toString()).isEmpty();
    assertThat(exit).isZero();
    assertThat(out.toString())
        .contains(
            "sharegpt-low-hit@0.1 on 4xh100-8b, round-robin: server-1 slow factor=2 at 20 s:"
                + " 14.3 % of the requests are right; at most 20 % more never, within 20 % never;"
                + " 25.0 % then until 50 s",
            "server-1 as usual at 50 s: 25.0 % of the requests are right; at most 20 % more after"
                + " 0.0 s, within 20 % after 0.0 s; 25.0 % then until 80 s",
            "server-4 there at 80 s: 20.0 % of the requests are right; at most 20 % more after"
                + " 0.0 s, within 20 % after 0.0 s; 20.0 % then until 120 s");
  }

  @Test
  void takesWorkloadAndPoolFromDocuments() throws IOException {
    Path workload = folder.resolve("support.yaml");
    Files.writeString(workload, "{load: 20, length: 10s, requests: {question: 300, answer: 50}}");
    Path pool = folder.resolve("small.yaml");
    Files.writeString(pool, "servers: [{count: 2, engine: h100-8b}, {engine: l40s-8b}]");
    int exit =
        run("--workload=" + workload + "@1.5", "--policy=cost", "--pool=" + pool, "--seeds=2");

    assertThat(err.toString()).isEmpty();
    assertThat(exit).isZero();
    assertThat(out.toString()).contains("support@1.5 on small");

    assertThat(run("--pool=" + folder.resolve("none.yaml"))).isNotZero();
    assertThat(err.toString()).contains("pool: there is no file");
  }

  @Test
  void seesOtherEnginesAsARealPickerWould() throws IOException {
    Path profiles = folder.resolve("engines.yaml");
    Files.writeString(
        profiles,
        """
        engines:
          - {name: mine, source: a guess, a: 2, b: 0.01, c: 1e-7, d0: 3, d1: 0.01, d2: 1e-5,
             kvTokens: 100000, maxBatchedTokens: 4096}
        """);
    int exit =
        run(
            "--workload=chat@0.1",
            "--policy=cost",
            "--pool=2xmine+1xl4-8b",
            "--profiles=" + profiles,
            "--engine-noise",
            "--perception=real,images=0.5",
            "--seconds=10",
            "--seeds=1",
            "--out=" + folder.resolve("report"));

    assertThat(err.toString()).isEmpty();
    assertThat(exit).isZero();
    assertThat(out.toString()).contains("chat@0.1 on 2xmine+1xl4-8b");
    assertThat(folder.resolve("report/report.json"))
        .content()
        .contains("engine noise")
        .contains("images=0.5");
  }

  @Test
  void tellsWhatIsWrongWithAPerception() {
    assertThat(run("--perception=rael", "--seeds=1")).isNotZero();
    assertThat(err.toString()).contains("perception: \"rael\" is neither ideal, real nor one of");
  }

  @Test
  void replaysATrace() throws IOException {
    Path trace = folder.resolve("few.jsonl");
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 40; i++) {
      lines.append(
          """
          {"timestamp": %d, "input_length": 1100, "output_length": 20, "hash_ids": [1, 2, %d]}
          """
              .formatted(i * 500, 10 + i));
    }
    Files.writeString(trace, lines.toString());

    int exit = run("--workload=" + trace + "@2", "--policy=cost", "--seeds=1");

    assertThat(err.toString()).isEmpty();
    assertThat(exit).isZero();
    assertThat(out.toString()).contains("few@2 on 8xh100x2-32b").contains("1 runs, 10 simulated");
  }

  @Test
  void tellsOfCapturedRequestsWithoutAnAnswer() throws IOException {
    Path capture = folder.resolve("pool.requests.jsonl");
    Files.writeString(
        capture,
        """
        {"timestamp": 0, "input_length": 99, "output_length": 20, "hash_ids": [1], "outcome": "completed"}
        {"timestamp": 900, "input_length": 99, "output_length": 0, "hash_ids": [1], "outcome": "rejected"}
        """);

    assertThat(run("--workload=" + capture, "--policy=cost", "--seeds=1")).isZero();
    assertThat(out.toString()).startsWith("pool.requests: 1 requests were captured without");
  }

  @Test
  void replaysAnotherWindowOfATraceForEachSeed() throws IOException {
    Path trace = folder.resolve("denser.jsonl");
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 40; i++) {
      // The first ten seconds have ten requests, the next ten have thirty.
      int millis = i < 10 ? i * 1_000 : 10_000 + (i - 10) * 330;
      lines.append(
          """
          {"timestamp": %d, "input_length": 160, "output_length": 20, "hash_ids": [%d]}
          """
              .formatted(millis, i));
    }
    Files.writeString(trace, lines.toString());

    run(
        "--workload=" + trace,
        "--policy=cost",
        "--seconds=9.5",
        "--warm-up=0",
        "--seeds=1..2",
        "--out=" + folder.resolve("report"));

    assertThat(err.toString()).isEmpty();
    assertThat(folder.resolve("report/report.json"))
        .content()
        .containsPattern("\"completed\": ?10\\b")
        .containsPattern("\"completed\": ?28\\b");
  }

  @Test
  void severalPickersTellOneAnotherWhatTheySendUnlessTheyAreToldNotTo() throws IOException {
    JsonNode following = severalPickers("--following");
    JsonNode alone = severalPickers("--no-following");
    JsonNode usual = severalPickers("--front=RANDOM");

    assertThat(usual.path("runs")).isEqualTo(following.path("runs"));
    assertThat(following.path("parameters").path("pickers").asText()).isEqualTo("3, front RANDOM");
    assertThat(alone.path("parameters").path("pickers").asText())
        .isEqualTo("3, front RANDOM, that tell one another nothing");
    assertThat(alone.path("runs")).isNotEqualTo(following.path("runs"));
  }

  private JsonNode severalPickers(String option) throws IOException {
    int exit =
        run(
            "--workload=chat@0.2",
            "--policy=cost",
            "--seconds=30",
            "--seeds=1",
            "--pickers=3",
            option,
            "--out=" + folder.resolve("report"));
    assertThat(exit).isZero();
    return new ObjectMapper().readTree(folder.resolve("report/report.json").toFile());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--workload=chats | workload: \"chats\" is none of",
        "--workload=chat@much | the load in \"chat@much\" is not a number",
        "--policy=best | policy: \"best\" is neither a file nor one of cost, ",
        "--pool=8h100 | pool: \"8h100\" is not a count and an engine",
        "--handicap=luck=1 | --handicap is \"luck=1\"; set a share of requests",
        "--handicap=hit-rate=2 | lostHits is 2.0; set 0.0 to 1.0",
        "--seeds=0 | --seeds is 0; set 1 or more",
        "--seeds=7..6 | --seeds is 7..6; set 1 or more, or a first and a last seed as in 6..10",
        "--pickers=0 | pickers is 0",
        "--update=x | --update goes with --gate",
        "--scenario=drain | scenario: \"drain\" is neither a file nor one of slow-server, ",
        "--scenario=kind=drain | scenario: events[0].server: is missing; set a number from 0 on",
        "--scenario=kind=drain,server=8 | server is 8, but 8xh100-8b has the servers 0 to 7 then",
        "--unstreamed=2 | unstreamed is 2.0; set 0.0 to 1.0",
      })
  void aWrongOptionIsTold(String option, String problem) {
    assertThat(run(option)).isNotZero();
    assertThat(err.toString()).contains(problem);
  }

  /** The runs themselves would take hours. */
  @ParameterizedTest
  @Timeout(60)
  @CsvSource(
      delimiter = '|',
      value = {
        "--policy=cost,product --reference=typo | 2 | --reference is typo; name one of the"
            + " policies: cost, product",
        "--policy=cost,cost                     | 2 | --policy has \"cost\" twice",
        "--policy=cost,FOLDER/cost.yaml         | 2 | --policy has \"cost\" twice",
        "--workload=chat,chat                   | 2 | --workload has \"chat on 8xh100-8b\" twice",
        "--policy=cost,FOLDER/wrong.yaml        | 1 | policy wrong: ",
      })
  void whatIsWrongIsToldBeforeAnythingIsRun(String options, int exit, String problem)
      throws IOException {
    String document =
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha1
        kind: EndpointPickerConfig
        plugins:
        - type: %s
        """;
    Files.writeString(folder.resolve("cost.yaml"), document.formatted("work-cost"));
    Files.writeString(folder.resolve("wrong.yaml"), document.formatted("no-such-plugin"));
    List<String> all = new ArrayList<>(List.of("--seconds=1e6"));
    all.addAll(List.of(options.replace("FOLDER", folder.toString()).split(" ", -1)));

    assertThat(run(all.toArray(String[]::new))).isEqualTo(exit);
    assertThat(err.toString()).contains(problem);
    assertThat(out.toString()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"--pool=1xh100-8b", "--profiles=x", "--workload=chat", "--seeds=2"})
  void theGateRefusesWhatItWouldPassOver(String option) {
    assertThat(run("--gate", option)).isEqualTo(2);
    assertThat(err.toString())
        .contains(option.substring(0, option.indexOf('=')) + " does not go with --gate");
  }

  @Test
  void aPolicyThatCantBeReadIsToldWithItsPath() throws IOException {
    Path own = folder.resolve("mine.yaml");
    Files.writeString(
        own,
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha1
        kind: EndpointPickerConfig
        plugins:
        - type: work-cost
          parameters: {thetta: 0}
        """);

    assertThat(run("--policy=" + own, "--seconds=1", "--seeds=1")).isEqualTo(1);
    assertThat(err.toString()).contains("thetta");
  }
}
