package io.fairlead.epp.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.HealthChange;
import io.fairlead.core.HealthState;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.PoolListener;
import io.fairlead.core.Probe;
import io.fairlead.core.PromptSize;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestFacts.Delivery;
import io.fairlead.core.RequestHeaders;
import io.fairlead.core.Route;
import io.fairlead.core.Subset;
import io.fairlead.core.Timeouts;
import io.fairlead.core.Usage;
import io.fairlead.core.external.Advice;
import io.fairlead.core.prefix.BlockHasher;
import io.fairlead.core.prefix.PromptTokens;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CaptureTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Instant STARTED = Instant.parse("2026-01-02T03:04:05.678Z");
  private static final EndpointSpec ENDPOINT =
      new EndpointSpec("one", "uid-1", "10.0.0.1", 8000, Map.of("zone", "a"));
  private static final Route ROUTE =
      new Route("target", Criticality.STANDARD, "one", "10.0.0.1", 8000, 2, 1);
  private static final RequestFacts FACTS = facts(7, 40);

  @TempDir private Path folder;

  @Test
  void writesARequestInMooncakesFormWithAllThatReplaysIt() throws IOException {
    try (Capture capture = open(CaptureConfig.to(folder))) {
      CapturedRequest request = arrive(capture, 1_500_000_000, FACTS);
      request.sent(ROUTE);
      request.attemptFailed(1_600_000_000, Failure.UNAVAILABLE);
      request.sent(ROUTE);
      request.firstByte(1_700_000_000);
      request.ended(1_900_000_000, Outcome.COMPLETED, new Usage(640, 11, 32, 12));
      request.ended(2_000_000_000, Outcome.DISCONNECTED, Usage.UNKNOWN);
      capture.seal();
    }

    JsonNode line = only(lines(CaptureFields.REQUESTS_SUFFIX));
    assertThat(line.path("timestamp").intValue()).isEqualTo(1_400);
    assertThat(line.path("input_length").intValue()).isEqualTo(640);
    assertThat(line.path("output_length").intValue()).isEqualTo(11);
    assertThat(line.path("hash_ids")).hasSize(2);
    assertThat(line.path("hash_ids").get(0).longValue()).isEqualTo(31 >>> 11);
    assertThat(line.path("model").textValue()).isEqualTo("chat");
    assertThat(line.path("seed").longValue()).isEqualTo(7);
    assertThat(line.path("text_bytes").intValue()).isEqualTo(2_560);
    assertThat(line.path("media_tokens").intValue()).isZero();
    assertThat(line.path("streamed").booleanValue()).isTrue();
    assertThat(line.path("resendable").booleanValue()).isTrue();
    assertThat(line.has("timeouts")).isFalse();
    assertThat(line.path("outcome").textValue()).isEqualTo("completed");
    assertThat(line.path("ttft_ms").doubleValue()).isEqualTo(200);
    assertThat(line.path("e2e_ms").doubleValue()).isEqualTo(400);
    assertThat(line.path("cached_tokens").intValue()).isEqualTo(32);
    assertThat(line.path("endpoint").textValue()).isEqualTo("one");
    assertThat(line.path("events").toString())
        .isEqualTo(
            """
            [{"seq":1,"at":1400000000,"event":"arrived","pick":PICK},\
            {"seq":2,"at":1500000000,"event":"attempt_failed","failure":"unavailable","pick":PICK},\
            {"seq":3,"at":1600000000,"event":"first_byte"},\
            {"seq":4,"at":1800000000,"event":"ended","usage":[640,11,32,12]}]\
            """
                .replace(
                    "PICK",
                    "{\"endpoint\":\"one\",\"target\":\"target\",\"matched\":2,\"cached\":0}"));
  }

  /** Of a volume that others may see. */
  @Test
  void nobodyElseCanReadIt() throws IOException {
    Path made = folder.resolve("made").resolve("pod");
    try (Capture capture = open(CaptureConfig.to(made))) {
      arrive(capture, 100_000_003, FACTS);
    }
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(made)))
        .isEqualTo("rwx------");
    try (Stream<Path> files = Files.list(made)) {
      assertThat(files)
          .hasSize(2)
          .allSatisfy(
              file ->
                  assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                      .isEqualTo("rw-------"));
    }
  }

  @Test
  void saysOnceWhatTheCoreIsToldAndIsNotWritten() throws IOException {
    try (Capture capture = open(CaptureConfig.to(folder))) {
      capture.untold(100_000_001, Untold.KV_EVENTS);
      capture.untold(100_000_002, Untold.KV_EVENTS);
      arrive(capture, 100_000_003, FACTS.with(PromptTokens.of(new int[64], 16)));
      capture.refusedWaiting(100_000_004);
      capture.seal();
    }
    assertThat(lines(CaptureFields.STATE_SUFFIX).stream().skip(1).map(JsonNode::toString))
        .containsExactly(
            "{\"kind\":\"untold\",\"seq\":1,\"at\":1,\"what\":\"kv_events\"}",
            "{\"kind\":\"untold\",\"seq\":2,\"at\":3,\"what\":\"tokens\"}",
            "{\"kind\":\"refused_waiting\",\"seq\":4,\"at\":4}");
  }

  @Test
  void writesThatAClientTakesNoMoreAndThatARequestIsLeft() throws IOException {
    try (Capture capture = open(CaptureConfig.to(folder))) {
      CapturedRequest request = arrive(capture, 100_000_000, FACTS);
      request.sent(ROUTE);
      request.heldUp(100_000_001, true);
      request.heldUp(100_000_002, false);
      request.left(100_000_003);
      capture.seal();
    }
    assertThat(only(lines(CaptureFields.REQUESTS_SUFFIX)).path("events"))
        .extracting(event -> event.path("event").textValue())
        .containsExactly("arrived", "held_up", "goes_on", "left");
  }

  @Test
  void writesWhatIsDoneAboutARequestWhenItsPoolIsTold() throws IOException {
    RequestFacts facts =
        new RequestFacts(
            "",
            "m",
            1,
            new long[0],
            new PromptSize(100, 768),
            -1,
            1,
            new Delivery(false, true),
            new Timeouts(Duration.ofSeconds(1), null, Duration.ofMillis(2)),
            RequestHeaders.NONE,
            null);
    try (Capture capture = open(CaptureConfig.to(folder))) {
      CapturedRequest request = arrive(capture, 100_000_000, facts);
      request.sent(ROUTE);
      capture.tick(200_000_000);
      request.sent(ROUTE);
      request.firstByte(300_000_000);
      request.progress(400_000_000);
      capture.tick(450_000_000);
      request.progress(500_000_000);
      request.attemptFailed(600_000_000, Failure.ERROR);
      request.passed();
      capture.tick(700_000_000);
      request.rejected(
          new Rejection(Rejection.Reason.TOTAL_TIMEOUT, Criticality.STANDARD, "too long"));
      request.ended(800_000_000, Outcome.FAILED, Usage.UNKNOWN);
      capture.seal();
    }

    JsonNode line = only(lines(CaptureFields.REQUESTS_SUFFIX));
    assertThat(line.path("text_bytes").intValue()).isEqualTo(100);
    assertThat(line.path("media_tokens").intValue()).isEqualTo(768);
    assertThat(line.path("input_length").intValue()).isEqualTo(793);
    assertThat(line.path("streamed").booleanValue()).isFalse();
    assertThat(line.path("timeouts").toString())
        .isEqualTo("{\"first_byte\":1000000000,\"total\":2000000}");
    assertThat(line.has("ttft_ms")).as("its first byte is no token").isFalse();
    assertThat(line.path("events").toString())
        .isEqualTo(
            """
            [{"seq":1,"at":0,"event":"arrived","pick":PICK},\
            {"seq":3,"at":100000000,"event":"decided","pick":PICK},\
            {"seq":4,"at":200000000,"event":"first_byte"},\
            {"seq":5,"at":300000000,"next":[2,100000000],"event":"progress"},\
            {"seq":8,"at":500000000,"event":"attempt_failed","failure":"error","passed":true},\
            {"seq":10,"at":600000000,"event":"decided","rejected":"timeout"}]\
            """
                .replace(
                    "PICK",
                    "{\"endpoint\":\"one\",\"target\":\"target\",\"matched\":2,\"cached\":0}"));
    assertThat(lines(CaptureFields.STATE_SUFFIX).getLast().toString())
        .isEqualTo(
            "{\"kind\":\"ticks\",\"seq\":2,\"at\":100000000,\"next\":[4,250000000,3,250000000]}");
  }

  @Test
  void writesWhatIsHeardOfEndpointsThatAreNotWell() throws IOException {
    EndpointSpec restarted = new EndpointSpec("one", "uid-2", "10.0.0.1", 8000, Map.of());
    List<Long> told = new ArrayList<>();
    try (Capture capture = open(CaptureConfig.to(folder))) {
      PoolListener watched =
          capture.watched(
              new PoolListener() {
                @Override
                public boolean probe(Probe probe) {
                  told.add(probe.id());
                  return probe.id() == 1;
                }

                @Override
                public void healthChanged(HealthChange change) {
                  told.add(-1L);
                }
              });
      capture.endpoints(100_000_001, List.of(ENDPOINT));
      capture.unreachable(100_000_003, ENDPOINT, 100_000_002, Failure.REFUSED);
      capture.unreachable(100_000_003, restarted, 100_000_002, Failure.REFUSED);
      assertThat(watched.probe(new Probe(1, ENDPOINT, "", 1))).isTrue();
      assertThat(watched.probe(new Probe(2, ENDPOINT, "", 1))).isFalse();
      watched.healthChanged(
          new HealthChange(ENDPOINT, HealthState.IN_USE, HealthState.OUT, "is gone"));
      capture.probed(100_000_005, 1, null);
      capture.probed(100_000_006, 3, Failure.DIED);
      capture.seal();
    }

    assertThat(told).containsExactly(1L, 2L, -1L);
    assertThat(lines(CaptureFields.STATE_SUFFIX).stream().skip(2).map(JsonNode::toString))
        .containsExactly(
            "{\"kind\":\"unreachable\",\"seq\":2,\"at\":3,\"endpoint\":\"one\",\"begun\":2,"
                + "\"failure\":\"refused\"}",
            "{\"kind\":\"unasked\",\"seq\":3,\"at\":3,\"probe\":2}",
            "{\"kind\":\"probed\",\"seq\":4,\"at\":5,\"probe\":1}",
            "{\"kind\":\"probed\",\"seq\":5,\"at\":6,\"probe\":3,\"failure\":\"died\"}");
  }

  @Test
  void manyTicksAreFewLines() throws IOException {
    try (Capture capture = open(CaptureConfig.to(folder))) {
      for (int i = 0; i < 1_000; i++) {
        capture.tick(100_000_000 + i * 100_000_000L);
      }
      capture.seal();
    }
    List<JsonNode> lines = lines(CaptureFields.STATE_SUFFIX);
    assertThat(lines).hasSize(1 + Math.ceilDiv(1_000, 64));
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files.mapToLong(file -> file.toFile().length()).sum() / 1_000).isLessThan(20);
    }
  }

  @Test
  void writesAllElseThatTheCoreIsTold() throws IOException {
    EndpointMetrics metrics =
        new EndpointMetrics(
            1,
            2,
            Double.NaN,
            16,
            400,
            "base",
            4,
            List.of("a"),
            List.of(),
            Map.of("x", 0.5),
            1_700_000_000.25,
            77,
            640);
    EndpointSpec restarted = new EndpointSpec("one", "uid-2", "10.0.0.1", 8000, Map.of());
    try (Capture capture = open(CaptureConfig.to(folder))) {
      capture.configured(100_000_000, compiled());
      capture.endpoints(100_000_001, List.of(ENDPOINT));
      capture.scraped(100_000_003, ENDPOINT, 100_000_002, metrics);
      capture.scraped(100_000_005, restarted, 100_000_002, metrics);
      capture.scraped(100_000_009, ENDPOINT, 100_000_008, metrics);
      capture.replicas(100_000_010, 3);
      capture.seal();
    }

    List<JsonNode> lines = lines(CaptureFields.STATE_SUFFIX);
    assertThat(lines)
        .extracting(line -> line.path("kind").textValue())
        .containsExactly("capture", "config", "endpoints", "scrape", "scrape", "replicas");
    assertThat(lines.getFirst().path("origin").longValue()).isEqualTo(100_000_000);
    assertThat(lines.getFirst().path("started").textValue()).isEqualTo(STARTED.toString());
    assertThat(lines.get(1).path("document").textValue()).contains("PoolConfig");
    assertThat(lines.get(2).path("endpoints").toString())
        .isEqualTo(
            "[{\"name\":\"one\",\"incarnation\":\"uid-1\",\"address\":\"10.0.0.1\",\"port\":8000,"
                + "\"labels\":{\"zone\":\"a\"}}]");
    assertThat(lines.get(3).path("metrics").toString())
        .isEqualTo(
            "{\"waiting\":1,\"running\":2,\"kv_usage\":\"NaN\",\"block_size\":16,\"blocks\":400,"
                + "\"base_model\":\"base\",\"max_adapters\":4,\"running_adapters\":[\"a\"],"
                + "\"waiting_adapters\":[],\"started_at\":1.70000000025E9,\"progress\":77.0,\"used_tokens\":640.0,"
                + "\"values\":{\"x\":0.5}}");
    assertThat(lines.get(4).toString())
        .isEqualTo(
            "{\"kind\":\"scrape\",\"seq\":4,\"at\":9,\"endpoint\":\"one\",\"begun\":8,\"same\":true}");
    assertThat(lines.get(5).toString())
        .isEqualTo("{\"kind\":\"replicas\",\"seq\":5,\"at\":10,\"replicas\":3}");
  }

  @Test
  void writesOnlyTheHeadersThatMayBeAndSaysWhichOthersWereRead() throws IOException {
    Map<String, String> given = Map.of("x-session", "s-1", "authorization", "secret");
    RequestFacts facts =
        new RequestFacts(
            "",
            "m",
            1,
            new long[0],
            PromptSize.ofTokens(1),
            -1,
            1,
            Delivery.STREAMED,
            Timeouts.UNSET,
            given::get,
            new Subset(List.of("10.0.0.1:8000")));
    CaptureConfig config =
        new CaptureConfig(folder, 1, 1 << 20, 2, List.of("X-Session", "x-none"), null);
    try (Capture capture = open(config)) {
      CapturedRequest request = arrive(capture, 100_000_000, facts);
      assertThat(request.facts().headers().first("authorization")).isEqualTo("secret");
      assertThat(request.facts().headers().first("authorization")).isEqualTo("secret");
      assertThat(request.facts().headers().first("x-none")).isNull();
      assertThat(request.facts().headers().first("x-other")).isNull();
      request.rejected(new Rejection(Rejection.Reason.SATURATED, Criticality.SHEDDABLE, "full"));
      capture.seal();
    }

    JsonNode line = only(lines(CaptureFields.REQUESTS_SUFFIX));
    assertThat(line.path("headers").toString()).isEqualTo("{\"x-session\":\"s-1\"}");
    assertThat(line.path("withheld").toString()).isEqualTo("[\"authorization\"]");
    assertThat(line.path("subset").toString()).isEqualTo("[\"10.0.0.1:8000\"]");
    assertThat(line.path("outcome").textValue()).isEqualTo("rejected");
    assertThat(line.toString()).doesNotContain("secret");
  }

  @Test
  void writesEachWordOfASchedulerOnce() throws IOException {
    Advice first = new Advice(new long[] {1, 2}, new double[] {1, 0});
    try (Capture capture = open(CaptureConfig.to(folder))) {
      CapturedRequest request =
          Objects.requireNonNull(capture.arrive(100_000_000, facts(1, 0), first));
      request.advised(100_000_001, new Advice(new long[] {2, 1}, new double[] {0, 1}));
      request.advised(100_000_002, new Advice(new long[] {1, 2}, new double[] {1, 0.5}));
      request.advised(100_000_003, null);
      request.advised(100_000_004, null);
      request.advised(100_000_005, first);
      capture.seal();
    }

    assertThat(only(lines(CaptureFields.REQUESTS_SUFFIX)).path("events"))
        .extracting(event -> event.path("at").longValue())
        .containsExactly(0L, 2L, 3L, 5L);
  }

  @Test
  void whatARequestKeepsCountsWhileItWaitsToBeWritten() {
    String large = "x".repeat(5_000);
    RequestFacts facts =
        new RequestFacts(
            "",
            "m",
            1,
            new long[0],
            PromptSize.ofTokens(1),
            -1,
            1,
            1,
            Delivery.STREAMED,
            Timeouts.UNSET,
            Map.of("x-session", large)::get,
            new Subset(List.of(large)),
            new PromptTokens(new long[10_000], 16, 160_000));
    CaptureConfig config = new CaptureConfig(folder, 1, 1 << 20, 2, List.of("x-session"), null);
    try (Capture capture = open(config)) {
      CapturedRequest request = arrive(capture, 100_000_000, facts);
      assertThat(request.weight()).isBetween(100_000, 110_000);
      request.advised(
          100_000_001, new Advice(LongStream.range(0, 10_000).toArray(), new double[10_000]));
      assertThat(request.weight()).isGreaterThan(260_000);
    }
  }

  @Test
  void writesWhatIsUnderWayWhenItEnds() throws IOException {
    try (Capture capture = open(CaptureConfig.to(folder))) {
      CapturedRequest request = arrive(capture, 100_000_000, FACTS);
      request.sent(ROUTE);
      capture.seal();
      request.ended(200_000_000, Outcome.COMPLETED, Usage.UNKNOWN);
      assertThat(capture.arrive(200_000_000, FACTS, null)).isNull();
    }

    JsonNode line = only(lines(CaptureFields.REQUESTS_SUFFIX));
    assertThat(line.path("outcome").textValue()).isEqualTo("open");
    assertThat(line.path("events")).hasSize(1);
  }

  @Test
  void capturesTheShareThatWasAskedFor() throws IOException {
    CaptureConfig config = new CaptureConfig(folder, 0.25, 64 << 20, 2, List.of(), null);
    int captured = 0;
    try (Capture capture = open(config)) {
      for (long seed = 0; seed < 10_000; seed++) {
        captured += capture.arrive(100_000_000, facts(seed, 0), null) == null ? 0 : 1;
      }
    }
    assertThat(captured).isBetween(2_300, 2_700);
  }

  /** Also where the clock was set back between the two processes that write. */
  @ParameterizedTest
  @CsvSource({"1,030406", "-3600,020405"})
  void keepsToItsBoundsAndEachPairCanBeReadByItself(long later, String named) throws IOException {
    CaptureConfig config = new CaptureConfig(folder, 1, 1 << 20, 3, List.of(), null);
    for (int process = 0; process < 2; process++) {
      Instant started = STARTED.plusSeconds(process * later);
      try (Capture capture =
          Capture.open(config, PoolLimits.DEFAULT, () -> 100_000_000, () -> started)) {
        capture.configured(100_000_000, compiled());
        capture.endpoints(100_000_000, List.of(ENDPOINT));
        for (int i = 0; i < 400; i++) {
          arrive(capture, 100_000_000, facts(i, 4_000)).ended(i, Outcome.COMPLETED, Usage.UNKNOWN);
        }
        capture.seal();
        assertThat(capture.counters().overflowed()).isZero();
      }
    }

    try (Stream<Path> files = Files.list(folder)) {
      List<Path> all = files.toList();
      assertThat(all).hasSize(6);
      assertThat(all).allSatisfy(file -> assertThat(Files.size(file)).isLessThanOrEqualTo(1 << 20));
      assertThat(all).allSatisfy(file -> assertThat(file.toString()).contains(named));
    }
    assertThat(lines(CaptureFields.STATE_SUFFIX))
        .extracting(line -> line.path("kind").textValue())
        .containsExactly(
            "capture",
            "config",
            "endpoints",
            "capture",
            "config",
            "endpoints",
            "capture",
            "config",
            "endpoints");
  }

  @Test
  void countsWhatDoesNotFitIntoTheQueueAndWaitsForNobody() {
    LineQueue queue = new LineQueue(2_000);
    Line.Scrape line = new Line.Scrape(1, 1, "one", 1, EndpointMetrics.UNKNOWN);
    for (int i = 0; i < 10; i++) {
      queue.offer(line);
    }
    assertThat(queue.dropped()).isEqualTo(7);
    assertThat(queue.poll()).isSameAs(line);
    queue.offer(line);
    assertThat(queue.dropped()).isEqualTo(7);
    for (int i = 0; i < 3; i++) {
      assertThat(queue.poll()).isSameAs(line);
    }
    assertThat(queue.poll()).isNull();
  }

  @Test
  void keepsTheNewestConfigEndpointsAndReplicasHoweverFullTheQueueIs() {
    LineQueue queue = new LineQueue(1_200);
    Line.Scrape scrape = new Line.Scrape(1, 1, "one", 1, EndpointMetrics.UNKNOWN);
    queue.offer(scrape);
    queue.offer(scrape);
    Line.Config older = new Line.Config(2, 1, compiled().source());
    Line.Config newer = new Line.Config(3, 1, compiled().source());
    Line.Replicas replicas = new Line.Replicas(4, 1, 2);
    Line.Replicas more = new Line.Replicas(5, 1, 3);
    Line.Endpoints endpoints = new Line.Endpoints(6, 1, List.of(ENDPOINT));
    queue.offer(older);
    queue.offer(replicas);
    queue.offer(newer);
    queue.offer(endpoints);
    queue.offer(scrape);
    assertThat(queue.dropped()).as("the older config, and the scrape").isEqualTo(2);
    assertThat(queue.poll()).isSameAs(scrape);
    queue.offer(scrape);
    queue.offer(newer);
    assertThat(queue.poll()).isSameAs(scrape);
    assertThat(queue.poll()).as("as soon as the first that it stands for").isSameAs(newer);
    assertThat(queue.poll()).isSameAs(replicas);
    queue.offer(more);
    assertThat(queue.poll()).isSameAs(endpoints);
    assertThat(queue.poll()).isSameAs(scrape);
    assertThat(queue.poll()).isSameAs(more);
    assertThat(queue.poll()).isNull();
  }

  @Test
  void saysAtTheStartThatItsFolderCanNotBeWritten() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "");

    assertThatIllegalArgumentException()
        .isThrownBy(() -> open(CaptureConfig.to(file)))
        .withMessageStartingWith("the capture's folder " + file + " can't be written: ");
  }

  /** One to a disk that may be full. */
  private Capture onDisk(AtomicBoolean full, AtomicLong clock) throws IOException {
    CaptureConfig config = CaptureConfig.to(folder);
    CaptureFolder disk =
        new CaptureFolder(
            config,
            STARTED,
            file ->
                new Disk(
                    Files.newByteChannel(
                        file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                    full));
    LineQueue queue = new LineQueue(1 << 20);
    Header header = new Header(STARTED, 0, config, PoolLimits.DEFAULT);
    CaptureWriter writer = CaptureWriter.start(queue, disk, header, clock::get);
    return new Capture(config, SaltSource.salt(null), 0, queue, writer);
  }

  /** The disk is full for a while: what is lost is counted, and the rest is in whole lines. */
  @Test
  void goesOnWhenTheDiskDoes() throws Exception {
    AtomicBoolean full = new AtomicBoolean();
    AtomicLong clock = new AtomicLong();
    try (Capture capture = onDisk(full, clock)) {
      ask(capture, 1);
      await().until(() -> capture.counters().written() == 1);
      full.set(true);
      ask(capture, 2);
      await().until(() -> capture.counters().failed() == 1);
      ask(capture, 3);
      await().until(() -> capture.counters().failed() == 2);
      clock.addAndGet(2_000_000_000);
      ask(capture, 4);
      await().until(() -> capture.counters().failed() == 3);
      full.set(false);
      clock.addAndGet(2_000_000_000);
      ask(capture, 5);
      await().until(() -> capture.counters().written() == 2);
      capture.seal();
    }

    assertThat(lines(CaptureFields.REQUESTS_SUFFIX))
        .extracting(line -> line.path("seed").longValue())
        .containsExactly(1L, 5L);
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).hasSize(4);
    }
  }

  /** What comes into force while the disk is full is what the next files begin with. */
  @Test
  void beginsWithWhatIsInForceAfterTheDiskWasFull() throws Exception {
    AtomicBoolean full = new AtomicBoolean();
    AtomicLong clock = new AtomicLong();
    EndpointSpec other = new EndpointSpec("two", "uid-2", "10.0.0.2", 8000, Map.of());
    try (Capture capture = onDisk(full, clock)) {
      capture.configured(1, compiled("before"));
      capture.endpoints(1, List.of(ENDPOINT));
      await().until(() -> capture.counters().written() == 2);
      full.set(true);
      ask(capture, 1);
      await().until(() -> capture.counters().failed() == 1);
      capture.configured(2, compiled("after"));
      await().until(() -> capture.counters().failed() == 2);
      clock.addAndGet(2_000_000_000);
      capture.endpoints(3, List.of(other));
      await().until(() -> capture.counters().failed() == 3);
      full.set(false);
      clock.addAndGet(2_000_000_000);
      capture.replicas(4, 3);
      await().until(() -> capture.counters().written() == 3);
      capture.seal();
    }

    List<JsonNode> lines = lines(CaptureFields.STATE_SUFFIX);
    List<JsonNode> last = lines.subList(3, lines.size());
    assertThat(last)
        .extracting(line -> line.path("kind").textValue())
        .containsExactly("capture", "config", "endpoints", "replicas");
    assertThat(last.get(1).path("document").textValue()).contains("after");
    assertThat(last.get(2).path("endpoints").get(0).path("name").textValue()).isEqualTo("two");
    assertThat(last.get(3).path("replicas").intValue()).isEqualTo(3);
  }

  @Test
  void takesItsSaltFromAFile() throws IOException {
    Path salt = Files.writeString(folder.resolve("salt"), "sixteen bytes or more");
    Path empty = Files.writeString(folder.resolve("short"), "short");

    assertThat(hashes(salt)).isEqualTo(hashes(salt)).isNotEqualTo(hashes(null));
    assertThat(hashes(null)).isNotEqualTo(hashes(null));
    assertThatThrownBy(() -> SaltSource.salt(empty))
        .hasMessage(
            "the capture's salt %s has 5 bytes; write at least 16 random ones".formatted(empty));
    assertThatThrownBy(() -> SaltSource.salt(folder.resolve("none")))
        .hasMessageContaining("can't be read");
  }

  private static long[] hashes(@Nullable Path file) {
    BlockHasher hasher = new BlockHasher(4, SaltSource.salt(file));
    hasher.add(new byte[256], 0, 256);
    return hasher.blocks();
  }

  private static void ask(Capture capture, long seed) {
    arrive(capture, seed, facts(seed, 3)).ended(seed, Outcome.COMPLETED, Usage.UNKNOWN);
  }

  private static CapturedRequest arrive(Capture capture, long now, RequestFacts facts) {
    return Objects.requireNonNull(capture.arrive(now, facts, null));
  }

  private static RequestFacts facts(long seed, int blocks) {
    return new RequestFacts(
        "chat", seed, LongStream.range(0, blocks).toArray(), blocks * 16, 100, blocks * 64L);
  }

  private static Capture open(CaptureConfig config) {
    return Capture.open(
        config, PoolLimits.DEFAULT, () -> 100_000_000, InstantSource.fixed(STARTED));
  }

  private static CompiledConfig compiled() {
    return compiled("pool");
  }

  private static CompiledConfig compiled(String pool) {
    return new ConfigCompiler(List.of())
        .compile(
            new PoolConfig(
                "default", pool, Map.of(), List.of(), "http", List.of(), SchedulerConfig.DEFAULT));
  }

  private List<JsonNode> lines(String suffix) throws IOException {
    List<JsonNode> lines = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(f -> f.toString().endsWith(suffix)).sorted().toList()) {
        for (String line : Files.readAllLines(file)) {
          lines.add(JSON.readTree(line));
        }
      }
    }
    return lines;
  }

  private static JsonNode only(List<JsonNode> lines) {
    assertThat(lines).hasSize(1);
    return lines.getFirst();
  }

  /** A disk that takes half of what it is given, and no more, while it is full. */
  private record Disk(SeekableByteChannel file, AtomicBoolean full) implements SeekableByteChannel {

    @Override
    public int write(ByteBuffer bytes) throws IOException {
      if (full.get()) {
        file.write(bytes.slice().limit(bytes.remaining() / 2));
        throw new IOException("No space left on device");
      }
      return file.write(bytes);
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
      return file.read(into);
    }

    @Override
    public long position() throws IOException {
      return file.position();
    }

    @Override
    public SeekableByteChannel position(long newPosition) throws IOException {
      return file.position(newPosition);
    }

    @Override
    public long size() throws IOException {
      return file.size();
    }

    @Override
    public SeekableByteChannel truncate(long size) throws IOException {
      return file.truncate(size);
    }

    @Override
    public boolean isOpen() {
      return file.isOpen();
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
