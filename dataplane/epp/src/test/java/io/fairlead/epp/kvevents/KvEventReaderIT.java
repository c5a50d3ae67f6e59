package io.fairlead.epp.kvevents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.prefix.ExactIndex;
import io.fairlead.core.prefix.PromptTokens;
import io.fairlead.stub.profile.EngineProfiles;
import io.fairlead.stub.server.KvEvents;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** A real engine's events over a real socket: what is known is what the engine finds cached. */
class KvEventReaderIT {

  private static final int GRAIN = 16;
  private static final int SMALL_CACHE = 2_048;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final KvEventCounts counts = new KvEventCounts();

  /** Guarded by itself: the reader's thread writes, the test reads. */
  private final ExactIndex index = new ExactIndex(1 << 24);

  private int mostKeys;

  private int markers;
  private @Nullable ModelServer stub;
  private @Nullable KvEventReader reader;

  @AfterEach
  void stop() {
    if (reader != null) {
      reader.close();
    }
    if (stub != null) {
      stub.close();
    }
    loops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    http.close();
  }

  /**
   * Requests that fill the cache many times over, lost messages, resets and restarts by chance:
   * after each, the prompt tokens that the next request finds cached are those that were known.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void whatIsKnownIsWhatTheEngineFinds(long seed) throws Exception {
    ModelServer server = stub(seed % 2 == 0 ? KvEvents.Form.ARRAYS : KvEvents.Form.MAPS);
    listen(server, true);
    Random random = new Random(seed);
    List<String> prompts = new ArrayList<>(List.of(text(random, 300)));
    int found = 0;
    int evicted = 0;
    for (int i = 0; i < 150; i++) {
      switch (random.nextInt(12)) {
        case 0 -> server.faults().loseEvents(1 + random.nextInt(3));
        case 1 -> {
          if (random.nextInt(3) == 0) {
            server.faults().resetCache();
          }
        }
        default -> {}
      }
      String begun = prompts.get(random.nextInt(prompts.size()));
      String prompt =
          begun.substring(0, random.nextInt(begun.length())) + text(random, random.nextInt(600));
      if (random.nextInt(3) == 0) {
        prompt = prompts.get(random.nextInt(prompts.size()));
      } else {
        prompts.add(prompt);
      }
      settle(server);
      int expected = tokens(prompt);
      int cached = complete(server, prompt);
      assertThat(isWhole()).isTrue();
      assertThat(expected).as("request %d", i).isEqualTo(cached);
      found += cached > 0 ? 1 : 0;
      evicted += cached == 0 ? 1 : 0;
    }
    assertThat(found).isGreaterThan(20);
    assertThat(evicted).isGreaterThan(20);
    assertThat(counts.of(EventResult.GAP)).isPositive();
    assertThat(counts.of(EventResult.REPLAYED)).isPositive();
    assertThat(counts.of(EventResult.MALFORMED)).isZero();
  }

  /**
   * Everything that the engine has told so far is taken in, once that is so of a prompt that is
   * sent now; which also uncovers a gap before it.
   */
  private void settle(ModelServer server) {
    await()
        .atMost(Duration.ofMinutes(1))
        .pollInterval(Duration.ofMillis(20))
        .untilAsserted(
            () -> {
              String marker = "marker %08d".formatted(markers++).repeat(6);
              complete(server, marker, 1); // with its first token it is through
              assertThat(tokens(marker)).isEqualTo(16);
            });
  }

  @Test
  void whoComesLateHasTheBeginningReplayed() throws Exception {
    ModelServer server = stub(KvEvents.Form.MAPS);
    String prompt = "a".repeat(2_000);
    complete(server, prompt);

    listen(server, true);

    await().atMost(Duration.ofMinutes(1)).until(() -> isWhole());
    await().untilAsserted(() -> assertThat(tokens(prompt)).isEqualTo(496));
  }

  @Test
  void whoCantHaveItReplayedKnowsWhatCameSince() throws Exception {
    ModelServer server = stub(KvEvents.Form.MAPS);
    complete(server, "a".repeat(2_000));
    listen(server, false);
    await()
        .untilAsserted(
            () -> {
              String fresh = "fresh %08d".formatted(markers++).repeat(100);
              complete(server, fresh);
              assertThat(tokens(fresh)).isPositive();
            });

    assertThat(isWhole()).isFalse();
    assertThat(tokens("a".repeat(2_000))).isZero();
  }

  @Test
  void anEngineThatIsThereAnewHoldsNothing() throws Exception {
    ModelServer server = stub(KvEvents.Form.MAPS);
    listen(server, true);
    String prompt = "a".repeat(2_000);
    await()
        .untilAsserted(
            () -> {
              complete(server, prompt);
              assertThat(tokens(prompt)).isEqualTo(496);
            });

    server.faults().restart();
    await().ignoreExceptions().until(() -> complete(server, "b".repeat(400)) >= 0);

    await().until(() -> counts.of(EventResult.RESTARTED) > 0);
    await().untilAsserted(() -> assertThat(tokens(prompt)).isZero());
    assertThat(tokens("b".repeat(400))).isEqualTo(96);
  }

  @Test
  void garbageAndForeignModelsAreCountedAndTakenFromNobody() throws Exception {
    try (ZContext context = new ZContext()) {
      ZMQ.Socket rogue = context.createSocket(SocketType.PUB);
      int port = rogue.bindToRandomPort("tcp://127.0.0.1");
      start(port, 0);
      byte[] golden = EventDecoderTest.golden("vllm-maps");
      await()
          .until(
              () -> {
                send(rogue, "kv@pod@other", 0, golden);
                return counts.of(EventResult.FOREIGN_MODEL) > 0;
              });
      send(rogue, "kv@pod@m", 0, "garbage".getBytes(StandardCharsets.UTF_8));
      await().until(() -> counts.of(EventResult.MALFORMED) == 1);
      rogue.send("alone");
      rogue.sendMore("kv@pod@m");
      rogue.sendMore(new byte[3]);
      rogue.send(golden);
      await().until(() -> counts.of(EventResult.MALFORMED) == 3);
      assertThat(counts.of(EventResult.APPLIED)).isZero();

      send(rogue, "kv@pod@m", 1, golden);
      await().until(() -> counts.of(EventResult.APPLIED) == 1);
      send(rogue, "kv@pod@m", 1, golden);
      await().until(() -> counts.of(EventResult.OUT_OF_ORDER) == 1);
      assertThat(counts.of(EventResult.IGNORED)).isEqualTo(4);
    }
  }

  /** One connection that comes to nothing costs seconds of events, not half a minute of them. */
  @Test
  void aConnectionOnWhichNobodySpeaksIsSoonMadeAnew() throws Exception {
    try (ServerSocket mute = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      mute.setSoTimeout(10_000);
      start(mute.getLocalPort(), 0);
      try (Socket first = mute.accept();
          Socket second = mute.accept()) {
        assertThat(second.getPort()).isNotEqualTo(first.getPort());
      }
    }
  }

  /** Whatever is in a list of endpoints, and however often that is read anew. */
  @Test
  void anAddressThatIsNoneCostsNothingEachTimeThatItIsTried() throws Exception {
    start(1, 2);
    KvEventReader reading = Objects.requireNonNull(reader);
    EndpointSpec nowhere = new EndpointSpec("nowhere", "1", "no address", 1, Map.of());
    reading.endpoints(List.of(nowhere));
    await().until(() -> reading.state().silent() == 1);
    long before = openFiles();
    for (int i = 0; i < 200; i++) {
      reading.endpoints(List.of(nowhere));
    }
    reading.endpoints(List.of());
    await().until(() -> reading.state().silent() == 0);

    // ZeroMQ closes on threads of its own.
    await().untilAsserted(() -> assertThat(openFiles()).isLessThan(before + 50));
  }

  private static long openFiles() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
      return files.count();
    }
  }

  /** More than the pool's loop takes in at once: it comes in pieces, and leads to the same. */
  @Test
  void aLongChangeIsHandedOverInPieces() throws Exception {
    ModelServer server =
        ModelServer.start(
            ModelServerConfig.builder("stub", "m")
                .instant()
                .promptTokensDetails(true)
                .kvEvents(KvEvents.onFreePorts())
                .build(),
            loops);
    stub = server;
    String prompt = text(new Random(5), 4 * 16 * 3_000);
    complete(server, prompt);

    listen(server, true);

    await().untilAsserted(() -> assertThat(tokens(prompt)).isGreaterThan(16 * 2_900));
    synchronized (index) {
      assertThat(mostKeys).isEqualTo(1_024);
    }
  }

  /** However many pieces it goes in: what people read is how often there was no room. */
  @Test
  void aLongChangeThatThereIsNoRoomForIsCountedOnce() throws Exception {
    ExactIndex small = new ExactIndex(1_000);
    List<Integer> sizes = new CopyOnWriteArrayList<>();
    try (ZContext context = new ZContext()) {
      ZMQ.Socket engine = context.createSocket(SocketType.PUB);
      int port = engine.bindToRandomPort("tcp://127.0.0.1");
      start(
          port,
          0,
          (endpoint, grain, change, done) -> {
            done.taken(small.change(0, grain, change));
            sizes.add(change.size());
          });
      await()
          .until(
              () -> {
                send(engine, "kv@pod@other", 0, stored(1));
                return counts.of(EventResult.FOREIGN_MODEL) > 0;
              });

      send(engine, "kv@pod@m", 0, stored(3_000));

      await().untilAsserted(() -> assertThat(sizes).containsExactly(1_024, 1_024, 952));
      assertThat(counts.of(EventResult.NO_ROOM)).isEqualTo(1);
    }
  }

  /** A message that tells of so many blocks. */
  private static byte[] stored(int blocks) throws IOException {
    try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
      out.packArrayHeader(2).packDouble(1).packArrayHeader(1).packArrayHeader(5);
      out.packString("BlockStored").packArrayHeader(blocks);
      for (int i = 0; i < blocks; i++) {
        out.packLong(i + 1);
      }
      out.packNil().packArrayHeader(blocks * GRAIN);
      for (int i = 0; i < blocks * GRAIN; i++) {
        out.packInt(i);
      }
      out.packInt(GRAIN);
      return out.toByteArray();
    }
  }

  private static void send(ZMQ.Socket socket, String topic, long number, byte[] payload) {
    socket.sendMore(topic);
    socket.sendMore(ByteBuffer.allocate(8).putLong(number).array());
    socket.send(payload);
  }

  private ModelServer stub(KvEvents.Form form) {
    KvEvents usual = KvEvents.onFreePorts();
    ModelServer server =
        ModelServer.start(
            ModelServerConfig.builder("stub", "m")
                .instant()
                .promptTokensDetails(true)
                .profile(EngineProfiles.shipped().named("h100-8b").withKvTokens(SMALL_CACHE))
                .kvEvents(new KvEvents(0, 0, "", form, usual.bufferSteps()))
                .build(),
            loops);
    stub = server;
    return server;
  }

  private void listen(ModelServer server, boolean replays) {
    start(server.kvEventsPort(), replays ? server.kvReplayPort() : 0);
    if (replays) {
      await().atMost(Duration.ofMinutes(1)).until(() -> isWhole());
    }
  }

  private void start(int port, int replayPort) {
    start(
        port,
        replayPort,
        (endpoint, grain, change, done) -> {
          synchronized (index) {
            mostKeys = Math.max(mostKeys, change.size());
            done.taken(index.change(0, grain, change));
          }
        });
  }

  private void start(int port, int replayPort, KvEventReader.Sink sink) {
    KvEventReader made =
        new KvEventReader(
            new KvEventReader.Settings(
                GRAIN, "", port, replayPort, 1 << 20, () -> 0), // waits for replays for ever
            counts,
            sink);
    made.models(Set.of("m"));
    made.endpoints(List.of(new EndpointSpec("stub", "1", "127.0.0.1", 1, Map.of())));
    reader = made;
  }

  private boolean isWhole() {
    synchronized (index) {
      return index.knowsAll(0);
    }
  }

  private int tokens(String prompt) {
    synchronized (index) {
      if (!index.knows(0)) {
        return 0;
      }
      PromptTokens tokens = PromptTokens.of(StubTokenizer.tokens(prompt), GRAIN);
      index.lookUp(0, tokens);
      return index.tokens(0, tokens);
    }
  }

  /** Returns how many of its tokens were cached. */
  private int complete(ModelServer server, String prompt) throws Exception {
    return complete(server, prompt, 20);
  }

  private int complete(ModelServer server, String prompt, int words) throws Exception {
    String body =
        JSON.writeValueAsString(Map.of("model", "m", "prompt", prompt, "max_tokens", words));
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(URI.create(server.url() + "/v1/completions"))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    JsonNode details = JSON.readTree(answer.body()).path("usage").path("prompt_tokens_details");
    return details.path("cached_tokens").asInt(0);
  }

  private static String text(Random random, int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append((char) ('a' + random.nextInt(26)));
    }
    return text.toString();
  }
}
