package io.fairlead.lab.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.core.Failure;
import io.fairlead.core.PromptSize;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestFacts.Delivery;
import io.fairlead.core.Timeouts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CaptureReaderTest {

  private static final String HEADER =
      """
      {"kind":"capture","version":%d,"started":"2026-01-01T00:00:00Z","origin":1000,"share":%s,\
      "headers":[],"limits":{"retries":1,"unknown_prefix_blocks":100,"max_prefix_blocks":1000,\
      "max_prefix_bytes":1048576}}
      """;

  @TempDir private Path folder;

  @Test
  void comparesRejectionsToo() throws IOException {
    write("capture-a-000001", HEADER.formatted(1, "1.0"), request("", 1, "not_configured"));
    assertThat(replay()).isEqualTo(new PicksReport(1, 1, 1, 1, 1, 0, List.of(), List.of()));

    write("capture-a-000001", HEADER.formatted(1, "1.0"), request("", 1, "saturated"));
    PicksReport report = replay();
    assertThat(report.agrees()).isFalse();
    assertThat(report.differences())
        .containsExactly(
            "event 1 (capture-a-000001.requests.jsonl:1): captured Rejected[reason=saturated],"
                + " replayed Rejected[reason=not_configured]");
  }

  @Test
  void readsWhatTheFirstVersionDidNotWriteAsItWasThen() throws IOException {
    write("capture-a-000001", HEADER.formatted(1, "1.0"), request("", 1, "not_configured"));
    RequestFacts old = arrived().facts();
    assertThat(old.prompt()).isEqualTo(new PromptSize(64, 0));
    assertThat(old.delivery()).isEqualTo(Delivery.STREAMED);
    assertThat(old.timeouts()).isEqualTo(Timeouts.UNSET);

    String more =
        "\"text_bytes\":50,\"media_tokens\":7,\"streamed\":false,\"resendable\":false,"
            + "\"timeouts\":{\"silence\":5000000000},";
    write("capture-a-000001", HEADER.formatted(2, "1.0"), request(more, 1, "not_configured"));
    RequestFacts facts = arrived().facts();
    assertThat(facts.prompt()).isEqualTo(new PromptSize(50, 7));
    assertThat(facts.delivery()).isEqualTo(new Delivery(false, false));
    assertThat(facts.timeouts()).isEqualTo(new Timeouts(null, Duration.ofSeconds(5), null));

    String failed =
        request("", 1, "not_configured")
            .replace("}]}", "},{\"seq\":2,\"at\":8,\"event\":\"attempt_failed\"}]}");
    write("capture-a-000001", HEADER.formatted(1, "1.0"), failed);
    assertThat(events())
        .last()
        .isInstanceOfSatisfying(
            CaptureEvent.AttemptFailed.class,
            event -> assertThat(event.failure()).isEqualTo(Failure.DIED));
  }

  private CaptureEvent.Arrived arrived() {
    return (CaptureEvent.Arrived) events().getFirst();
  }

  private List<CaptureEvent> events() {
    return List.copyOf(CaptureReader.read(CaptureFiles.of(folder)).events().values());
  }

  /** Else a core that does too much would look the same. */
  @Test
  void noticesWhatTheCapturedCoreDidNot() throws IOException {
    String nothing = request("", 1, "x").replace(",\"rejected\":\"x\"", "");
    write("capture-a-000001", HEADER.formatted(2, "1.0"), nothing);
    PicksReport report = replay();
    assertThat(report.agrees()).isFalse();
    assertThat(report.differences())
        .singleElement()
        .asString()
        .contains("captured None[], replayed Rejected[reason=not_configured]");
  }

  @Test
  void provesNothingWhereNotAllWasCaptured() throws IOException {
    write("capture-a-000001", HEADER.formatted(1, "0.5"), request("", 1, "saturated"));
    assertThat(replay().incomplete()).containsExactly("only 0.5 of the requests were captured");
    assertThat(replay().agrees()).isTrue();

    write("capture-a-000001", HEADER.formatted(1, "1"), request("", 4, "saturated"));
    assertThat(replay().incomplete())
        .containsExactly("3 events are missing, the first is number 1");
    assertThat(replay().agrees()).isTrue();

    String withheld = "\"withheld\":[\"x-session\"],";
    write("capture-a-000001", HEADER.formatted(1, "1"), request(withheld, 1, "saturated"));
    assertThat(replay().incomplete())
        .containsExactly("of 1 requests plugins have read headers that were not captured");
    assertThat(replay().agrees()).isTrue();
  }

  @Test
  void isNotCompleteWhereTheCoreWasToldWhatIsNotWritten() throws IOException {
    String untold = "{\"kind\":\"untold\",\"seq\":%d,\"at\":3,\"what\":\"%s\"}\n";
    write(
        "capture-a-000001",
        HEADER.formatted(4, "1")
            + untold.formatted(1, "kv_events")
            + untold.formatted(2, "taken_over"),
        request("", 3, "saturated"));
    PicksReport report = replay();
    assertThat(report.incomplete())
        .containsExactly(
            "not captured: engines have told of their caches",
            "not captured: another picker has told what it knew");
    assertThat(report.exact()).isZero();
    assertThat(report.agrees()).isTrue();
  }

  @Test
  void saysWhatCanNotBeRead() throws IOException {
    write("capture-a-000001", HEADER.formatted(6, "1"), request("", 1, "saturated"));
    assertThatThrownBy(this::replay)
        .hasMessage(
            folder.resolve("capture-a-000001.state.jsonl")
                + ":1: version is 6; 1 to 5, those that this version reads, is needed");

    write("capture-a-000001", "", request("", 1, "saturated"));
    assertThatThrownBy(this::replay)
        .hasMessageContaining("has no lines in files named *.state.jsonl");

    write("capture-a-000001", HEADER.formatted(1, "1"), request("", 1, "x").replace("7", "\"x\""));
    assertThatThrownBy(this::replay)
        .hasMessage(
            folder.resolve("capture-a-000001.requests.jsonl")
                + ":1: events[0].at is \"x\"; a whole number of 64 bits is needed");
  }

  @Test
  void asksWhichOfSeveralProcesses() throws IOException {
    write("capture-a-000001", HEADER.formatted(1, "1"), request("", 1, "not_configured"));
    write("capture-b-000001", HEADER.formatted(1, "1"), request("", 1, "not_configured"));

    assertThatThrownBy(this::replay)
        .hasMessageContaining("holds captures of 2 processes")
        .hasMessageContaining(folder.resolve("capture-b").toString());
    assertThat(PicksReplay.run(folder.resolve("capture-b"), List.of()).same()).isEqualTo(1);
    assertThat(TraceWorkload.read(folder.resolve("capture-b")).size()).isEqualTo(1);
  }

  private PicksReport replay() {
    return PicksReplay.run(folder, List.of());
  }

  /** Turned away for want of a config; what is said of it is for a test to choose. */
  private static String request(String withheld, int seq, String reason) {
    return """
      {"timestamp":0,"input_length":16,"output_length":0,"hash_ids":[5],"model":"m","seed":3,\
      "body_bytes":64,"max_output_tokens":-1,"blocks":"AAAAAAAAAAA=",%s"outcome":"rejected",\
      "events":[{"seq":%d,"at":7,"event":"arrived","rejected":"%s"}]}
      """
        .formatted(withheld, seq, reason);
  }

  private void write(String name, String state, String requests) throws IOException {
    Files.writeString(folder.resolve(name + ".state.jsonl"), state);
    Files.writeString(folder.resolve(name + ".requests.jsonl"), requests);
  }
}
