package io.fairlead.lab.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.crds.config.Criticality;
import io.fairlead.lab.workload.Arrival;
import io.fairlead.lab.workload.RequestShape;
import io.fairlead.lab.workload.ServedModel;
import io.fairlead.lab.workload.Traffic;
import io.fairlead.lab.workload.Workload;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class TraceWorkloadTest {

  @TempDir private Path folder;

  @Test
  void readsMooncakeInOrderOfTime() throws Exception {
    TraceWorkload workload = TraceWorkload.read(resource("small.jsonl"));
    List<Arrival> arrivals = all(workload);

    assertThat(workload.name()).isEqualTo("small");
    assertThat(workload.size()).isEqualTo(3);
    assertThat(workload.remark()).isEmpty();
    assertThat(workload.models())
        .containsExactly(new ServedModel(TraceWorkload.DEFAULT_MODEL, Criticality.STANDARD, false));
    assertThat(arrivals)
        .extracting(Arrival::atNanos)
        .containsExactly(0L, 1_000_000_000L, 1_500_000_000L);
    assertThat(arrivals)
        .extracting(arrival -> arrival.request().promptTokens())
        .containsExactly(1100, 700, 1030);
    assertThat(arrivals)
        .extracting(arrival -> arrival.request().outputTokens())
        .containsExactly(20, 5, 1);
  }

  @Test
  void cutsBlocksSoThatWhatWasSharedStaysShared() throws Exception {
    List<Arrival> arrivals = all(TraceWorkload.read(resource("small.jsonl")));
    long[] first = arrivals.get(0).request().blocks();
    long[] short700 = arrivals.get(1).request().blocks();
    long[] third = arrivals.get(2).request().blocks();

    // The prompt's whole blocks: 68 of 1,100 tokens, 43 of 700, 64 of 1,030.
    assertThat(first).hasSize(68);
    assertThat(short700).hasSize(43);
    assertThat(third).hasSize(64);
    assertThat(Arrays.mismatch(first, short700)).isEqualTo(32);
    assertThat(Arrays.mismatch(first, third)).isEqualTo(64);
    assertThat(Arrays.stream(first).distinct().count()).isEqualTo(68);
    Set<Long> beyond = new HashSet<>();
    Arrays.stream(first).skip(32).forEach(beyond::add);
    assertThat(Arrays.stream(short700).skip(32)).noneMatch(beyond::contains);
  }

  @Test
  void whatComesAfterADifferenceIsDifferent() {
    long[] one = new TraceRequest(0, "", 1024, 1, 0, new long[] {1, 5}, 512).shape("m").blocks();
    long[] other = new TraceRequest(0, "", 1024, 1, 0, new long[] {2, 5}, 512).shape("m").blocks();

    for (int i = 0; i < 64; i++) {
      assertThat(one[i]).isNotEqualTo(other[i]);
    }
  }

  @Test
  void readsAzureWithoutBlocks() throws Exception {
    List<Arrival> arrivals = all(TraceWorkload.read(resource("small.csv")));

    assertThat(arrivals)
        .extracting(Arrival::atNanos)
        .containsExactly(0L, 250_000_000L, 4_319_410_000L);
    assertThat(arrivals)
        .extracting(arrival -> arrival.request().promptTokens())
        .containsExactly(374, 396, 1);
    assertThat(arrivals)
        .extracting(arrival -> arrival.request().outputTokens())
        .containsExactly(44, 109, 1);
    assertThat(arrivals).allSatisfy(a -> assertThat(a.request().blocks()).isEmpty());
  }

  /** An overloaded pool would seem to have had little to do. */
  @Test
  void whatWasTurnedAwayAsksForAsMuchAsTheOthers() throws IOException {
    Path file =
        Files.writeString(
            folder.resolve("a.requests.jsonl"),
            """
            {"timestamp":1,"input_length":40,"output_length":100,"hash_ids":[1],"model":"a","max_output_tokens":-1,"outcome":"completed"}
            {"timestamp":2,"input_length":40,"output_length":300,"hash_ids":[1],"model":"a","max_output_tokens":-1,"outcome":"completed"}
            {"timestamp":3,"input_length":40,"output_length":0,"hash_ids":[1],"model":"a","max_output_tokens":-1,"outcome":"rejected"}
            {"timestamp":4,"input_length":40,"output_length":0,"hash_ids":[1],"model":"a","max_output_tokens":50,"outcome":"failed"}
            {"timestamp":5,"input_length":40,"output_length":0,"hash_ids":[1],"model":"b","max_output_tokens":900,"outcome":"refused"}
            {"timestamp":6,"input_length":40,"output_length":7,"hash_ids":[1],"model":"a","max_output_tokens":-1,"outcome":"disconnected"}
            {"timestamp":7,"input_length":40,"output_length":0,"hash_ids":[1],"model":"a","max_output_tokens":-1,"outcome":"completed"}
            {"timestamp":8,"input_length":40,"output_length":0,"hash_ids":[1],"model":"a","max_output_tokens":-1,"outcome":"invalid"}
            """);

    TraceWorkload trace = TraceWorkload.read(file);

    // The mean of 100, 300, 7 and those two that are 1.
    assertThat(all(trace))
        .extracting(arrival -> arrival.request().outputTokens())
        .containsExactly(100, 300, 82, 50, 82, 7, 1, 1);
    assertThat(trace.remark().orElseThrow())
        .startsWith("a.requests: 3 requests were captured without an answer");
    assertThat(trace.withSpeed(2).remark()).isEqualTo(trace.remark());
  }

  @Test
  void readsWhatACaptureAdds() throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putLong(-3).putLong(Long.MAX_VALUE);
    String blocks = Base64.getEncoder().encodeToString(bytes.array());
    Path file =
        Files.writeString(
            folder.resolve("a.requests.jsonl"),
            """
            {"timestamp":12.5,"input_length":0,"output_length":0,"hash_ids":[]}
            {"timestamp":12.5,"input_length":40,"output_length":0,"hash_ids":[9],"model":"chat","blocks":"%s"}
            """
                .formatted(blocks));

    for (Path path : List.of(file, folder)) {
      List<Arrival> arrivals = all(TraceWorkload.read(path));
      assertThat(arrivals).hasSize(1);
      RequestShape request = arrivals.getFirst().request();
      assertThat(request.model()).isEqualTo("chat");
      assertThat(request.blocks()).containsExactly(-3, Long.MAX_VALUE);
      assertThat(request.outputTokens()).isEqualTo(1);
    }
  }

  @Test
  void goesFasterEndsEarlierAndAsksForAnotherModel() throws Exception {
    TraceWorkload workload =
        TraceWorkload.read(resource("small.jsonl")).withSpeed(4).withLimit(2).withModel("mine");

    assertThat(all(workload)).extracting(Arrival::atNanos).containsExactly(0L, 250_000_000L);
    assertThat(workload.models()).extracting(ServedModel::name).containsExactly("mine");
    assertThat(all(workload).getFirst().request().model()).isEqualTo("mine");
    assertThatIllegalArgumentException().isThrownBy(() -> workload.withSpeed(0));
    assertThatIllegalArgumentException().isThrownBy(() -> workload.withLimit(0));
  }

  /** Requests at 0, 1, …, 9 s; each is told from the others by the length of its prompt. */
  @ParameterizedTest
  @CsvSource({
    "1, '0, 1, 2, 3', '0, 1, 2, 3'",
    "2, '4, 5, 6, 7', '0, 1, 2, 3'",
    "3, '8, 9, 0, 1, 2', '0, 1, 1, 2, 3'",
    "4, '3, 4, 5, 6', '0, 1, 2, 3'",
    "10, '9, 0, 1, 2, 3', '0, 0, 1, 2, 3'",
    "9000000002, '0, 1, 2, 3', '0, 1, 2, 3'",
  })
  void givesEachSeedAWindowOfItsOwnAroundTheEnd(long seed, String requests, String seconds)
      throws IOException {
    TraceWorkload trace = TraceWorkload.read(tenRequests());

    List<Arrival> arrivals = all(trace.inWindows(4), seed);

    assertThat(arrivals)
        .extracting(arrival -> arrival.request().promptTokens() - 100)
        .containsExactly(numbers(requests));
    assertThat(arrivals)
        .extracting(arrival -> (int) (arrival.atNanos() / 1_000_000_000L))
        .containsExactly(numbers(seconds));
  }

  @Test
  void countsAWindowInTheTimeOfTheReplay() throws IOException {
    Workload windows = TraceWorkload.read(tenRequests()).withSpeed(2).inWindows(2);

    assertThat(all(windows, 2))
        .extracting(Arrival::atNanos)
        .containsExactly(0L, 500_000_000L, 1_000_000_000L, 1_500_000_000L);
    assertThat(all(windows, 2).getFirst().request().promptTokens()).isEqualTo(104);
  }

  @Test
  void isWholeForEverySeedWhereAWindowIsNoShorter() throws IOException {
    TraceWorkload trace = TraceWorkload.read(tenRequests());

    assertThat(all(trace.inWindows(9), 3)).hasSize(10);
    assertThat(all(trace.inWindows(8.5), 2)).hasSizeLessThan(10);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> trace.inWindows(0))
        .withMessageContaining("window is 0.0 s; set more than 0");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"input_length\":5,\"output_length\":1,\"hash_ids\":[1]} | timestamp is missing",
        "{\"timestamp\":\"x\",\"input_length\":5,\"output_length\":1,\"hash_ids\":[1]} | timestamp is \"x\"",
        "{\"timestamp\":1,\"input_length\":-5,\"output_length\":1,\"hash_ids\":[1]} | input_length is -5",
        "{\"timestamp\":1,\"input_length\":5,\"output_length\":1.5,\"hash_ids\":[1]} | output_length is 1.5",
        "{\"timestamp\":1,\"input_length\":5,\"output_length\":1} | hash_ids is missing",
        "{\"timestamp\":1,\"input_length\":5,\"output_length\":1,\"hash_ids\":[1,2]} | hash_ids has 2 entries",
        "{\"timestamp\":1,\"input_length\":5,\"output_length\":1,\"hash_ids\":[\"a\"]} | hash_ids[0] is \"a\"",
        "{\"timestamp\":1,\"input_length\":16,\"output_length\":1,\"blocks\":\"AAA\"} | blocks is \"AAA\"",
        "[1] | is not a JSON object",
        "{\"timestamp\" | is not JSON at column",
      })
  void namesFileLineAndField(String line, String problem) throws IOException {
    String good = "{\"timestamp\":1,\"input_length\":5,\"output_length\":1,\"hash_ids\":[1]}\n";
    Path file = Files.writeString(folder.resolve("bad.jsonl"), good + line + "\n");

    assertThatThrownBy(() -> TraceWorkload.read(file))
        .isInstanceOf(InvalidTraceException.class)
        .hasMessageStartingWith(file + ":2: " + problem);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "yesterday,1,2 | TIMESTAMP is 'yesterday'",
        "2023-11-16 18:15:46.6805900,x,2 | ContextTokens is 'x'",
        "2023-11-16 18:15:46.6805900,1,-2 | GeneratedTokens is '-2'",
        "2023-11-16 18:15:46.6805900,1 | has 2 cells",
      })
  void namesFileLineAndColumn(String line, String problem) throws IOException {
    Path file = Files.writeString(folder.resolve("bad.csv"), AzureTable.HEADER + "\n" + line);

    assertThatThrownBy(() -> TraceWorkload.read(file))
        .isInstanceOf(InvalidTraceException.class)
        .hasMessageStartingWith(file + ":2: " + problem);
  }

  /** Saved in another encoding, in the middle of more lines than are read at once. */
  @ParameterizedTest
  @CsvSource({"ISO-8859-1, 301", "UTF-16, 1"})
  void namesTheLineThatIsNoText(String encoding, int line) throws IOException {
    String good =
        "{\"timestamp\":1,\"input_length\":5,\"output_length\":1,\"hash_ids\":[1]}\n".repeat(300);
    Path file = folder.resolve("other.jsonl");
    Files.writeString(file, good + "{\"model\":\"f\u00fcr\"}\n" + good, Charset.forName(encoding));

    assertThatThrownBy(() -> TraceWorkload.read(file))
        .isInstanceOf(InvalidTraceException.class)
        .hasMessage(file + ":" + line + ": is not UTF-8 text; save the file as UTF-8");
  }

  @Test
  void saysThatNothingIsThere() throws IOException {
    Path empty = Files.writeString(folder.resolve("empty.jsonl"), "");

    assertThatThrownBy(() -> TraceWorkload.read(empty)).hasMessage(empty + ": holds no requests");
    assertThatThrownBy(() -> TraceWorkload.read(folder))
        .hasMessageContaining("there are no files named *.requests.jsonl");
    assertThatThrownBy(() -> TraceWorkload.read(folder.resolve("none")))
        .hasMessage(folder.resolve("none") + ": is not there");
  }

  /** The public files, where somebody has them; see docs/traces.md. */
  @Test
  @EnabledIfSystemProperty(named = "fairlead.traces", matches = ".+")
  void readsThePublicTraces() {
    Path traces = Path.of(System.getProperty("fairlead.traces"));
    TraceWorkload mooncake = TraceWorkload.read(traces.resolve("mooncake-conversation.jsonl"));
    TraceWorkload azure = TraceWorkload.read(traces.resolve("azure-2023-conv.csv"));

    assertThat(mooncake.size()).isEqualTo(12_031);
    assertThat(azure.size()).isEqualTo(19_366);
    Set<Long> seen = new HashSet<>();
    long blocks = 0;
    for (Arrival arrival : all(mooncake.withLimit(1_000))) {
      for (long block : arrival.request().blocks()) {
        blocks++;
        seen.add(block);
      }
    }
    assertThat(blocks).isEqualTo(857_850);
    assertThat(seen).hasSize(672_682);
  }

  private Path tenRequests() throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 10; i++) {
      lines.append(
          "{\"timestamp\":%d,\"input_length\":%d,\"output_length\":1,\"hash_ids\":[%d]}%n"
              .formatted(i * 1_000, 100 + i, i));
    }
    return Files.writeString(folder.resolve("ten.jsonl"), lines);
  }

  private static Integer[] numbers(String text) {
    return Arrays.stream(text.split(", ", -1)).map(Integer::valueOf).toArray(Integer[]::new);
  }

  private static List<Arrival> all(Workload workload) {
    return all(workload, 1);
  }

  private static List<Arrival> all(Workload workload, long seed) {
    Traffic traffic = workload.start(seed);
    List<Arrival> arrivals = new ArrayList<>();
    for (Arrival next = traffic.next(); next != null; next = traffic.next()) {
      arrivals.add(next);
    }
    return arrivals;
  }

  private static Path resource(String name) throws URISyntaxException {
    return Path.of(Objects.requireNonNull(TraceWorkloadTest.class.getResource(name), name).toURI());
  }
}
