package io.fairlead.epp.kvevents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.prefix.CacheChange;
import io.fairlead.core.prefix.ExactIndex;
import io.fairlead.stub.profile.EngineProfiles;
import io.fairlead.stub.server.KvEvents;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** A real engine's events over a real socket: what is known is what the engine finds cached. */
class KvEventReaderIT {

  private static final int SMALL_CACHE = 2_048;

  /**
   * Of ZMTP 3.0 without security, RFC 23 of ZeroMQ: a greeting of 64 bytes, a command of 25 with
   * its name and what kind of socket it is, and the beginning of a message of a tebibyte.
   */
  private static final byte[] ZMTP_TOO_LONG_A_MESSAGE =
      ByteBuffer.allocate(64 + 27 + 9)
          .put((byte) 0xff)
          .put(9, (byte) 0x7f)
          .put(10, (byte) 3)
          .put(12, "NULL".getBytes(StandardCharsets.US_ASCII))
          .position(64)
          .put((byte) 4)
          .put((byte) 25)
          .put((byte) 5)
          .put("READY".getBytes(StandardCharsets.US_ASCII))
          .put((byte) 11)
          .put("Socket-Type".getBytes(StandardCharsets.US_ASCII))
          .putInt(3)
          .put("PUB".getBytes(StandardCharsets.US_ASCII))
          .put((byte) 2)
          .putLong(1L << 40)
          .array();

  private final KvEventFixture engines = new KvEventFixture();
  private final KvEventCounts counts = engines.counts();
  private final AtomicInteger mostKeys = new AtomicInteger();
  private int markers;

  @AfterEach
  void stop() {
    engines.close();
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
      int expected = engines.tokens(0, prompt);
      int cached = complete(server, prompt);
      assertThat(engines.isWhole(0)).isTrue();
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
              engines.complete(server, marker, 1); // with its first token it is through
              assertThat(engines.tokens(0, marker)).isEqualTo(16);
            });
  }

  @Test
  void whoComesLateHasTheBeginningReplayed() throws Exception {
    ModelServer server = stub(KvEvents.Form.MAPS);
    String prompt = "a".repeat(2_000);
    complete(server, prompt);

    listen(server, true);

    await().atMost(Duration.ofMinutes(1)).until(() -> engines.isWhole(0));
    await().untilAsserted(() -> assertThat(engines.tokens(0, prompt)).isEqualTo(496));
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
              assertThat(engines.tokens(0, fresh)).isPositive();
            });

    assertThat(engines.isWhole(0)).isFalse();
    assertThat(engines.tokens(0, "a".repeat(2_000))).isZero();
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
              assertThat(engines.tokens(0, prompt)).isEqualTo(496);
            });

    server.faults().restart();
    await().ignoreExceptions().until(() -> complete(server, "b".repeat(400)) >= 0);

    await().until(() -> counts.of(EventResult.RESTARTED) > 0);
    await().untilAsserted(() -> assertThat(engines.tokens(0, prompt)).isZero());
    await().untilAsserted(() -> assertThat(engines.tokens(0, "b".repeat(400))).isEqualTo(96));
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

  /**
   * A replay says nothing of whose it is. Where all that an engine publishes is another's, what it
   * has replayed is of no use either; where some is of the pool, what comes live counts alone.
   */
  @ParameterizedTest
  @CsvSource({"'', kv@pod@other", "kv@pod@, llama"})
  void aForeignModelsReplayIsTakenFromNobody(String filter, String foreign) throws Exception {
    try (ScriptedEngine engine = new ScriptedEngine("127.0.0.1", 0, 0, KvEventFixture.GRAIN)) {
      start(engine.port(), engine.replayPort(), filter, () -> 0, this::take);
      await().until(engine::isAsked);
      engine.replays(10);
      await().until(() -> engines.isWhole(0));
      await().until(engine::isHeard);

      engine.publishes(foreign, 1, ScriptedEngine.clearedMessage());
      await().until(() -> counts.of(EventResult.FOREIGN_MODEL) == 1);
      await().until(() -> !engines.isWhole(0));
      assertThat(counts.of(EventResult.APPLIED)).isEqualTo(1);

      engine.publishes(foreign, 2, ScriptedEngine.clearedMessage());
      await().until(() -> counts.of(EventResult.FOREIGN_MODEL) == 2);
      assertThat(engine.isAsked()).isFalse();
      assertThat(counts.of(EventResult.FORGOTTEN)).isEqualTo(1);

      engine.stored(3, 10);
      await().until(() -> counts.of(EventResult.APPLIED) == 2);
      engine.publishes(foreign, 4, ScriptedEngine.clearedMessage());
      engine.stored(5, 10);
      await().until(() -> counts.of(EventResult.APPLIED) == 3);
      assertThat(engine.isAsked()).isFalse();
      assertThat(engines.isWhole(0)).isFalse();
      assertThat(counts.of(EventResult.FORGOTTEN)).isEqualTo(2);
    }
  }

  /** All that it publishes has one numbering, and a replay brings all of it. */
  @Test
  void othersMessagesBetweenItsOwnAreNoGap() throws Exception {
    byte[] foreign = ScriptedEngine.clearedMessage();
    try (ScriptedEngine engine = new ScriptedEngine("127.0.0.1", 0, 0, KvEventFixture.GRAIN)) {
      start(engine.port(), engine.replayPort());
      await().until(engine::isAsked);
      engine.replays(0);
      await().until(() -> engines.isWhole(0));
      await().until(engine::isHeard);

      engine.stored(0, 10);
      for (int number = 1; number < 40; number += 2) {
        engine.publishes("kv@pod@other", number, foreign);
        engine.stored(number + 1, 10);
      }
      await().until(() -> counts.of(EventResult.APPLIED) == 21);
      assertThat(counts.of(EventResult.GAP)).isZero();
      assertThat(engines.isWhole(0)).isTrue();

      engine.stored(42, 10);
      await().until(() -> counts.of(EventResult.APPLIED) == 22);
      assertThat(counts.of(EventResult.GAP)).isEqualTo(1);
      assertThat(counts.of(EventResult.FORGOTTEN)).isEqualTo(1);
      assertThat(engine.isAsked()).as("nobody would know whose it is").isFalse();
    }
  }

  @Test
  void whatWasReplayedBeforeOthersMessagesShowedIsForgottenOnce() throws Exception {
    try (ScriptedEngine engine = new ScriptedEngine("127.0.0.1", 0, 0, KvEventFixture.GRAIN)) {
      start(engine.port(), engine.replayPort());
      await().until(engine::isAsked);
      engine.replays(10);
      await().until(() -> engines.isWhole(0));
      await().until(engine::isHeard);
      engine.stored(1, 10);
      await().until(() -> counts.of(EventResult.APPLIED) == 2);

      for (int number = 2; number < 10; number += 2) {
        engine.publishes("kv@pod@other", number, ScriptedEngine.clearedMessage());
        engine.stored(number + 1, 10);
      }
      await().until(() -> counts.of(EventResult.APPLIED) == 6);
      assertThat(engines.isWhole(0)).isFalse();
      assertThat(counts.of(EventResult.FORGOTTEN))
          .as("that, and what came before the next")
          .isEqualTo(2);
      assertThat(engine.isAsked()).isFalse();
    }
  }

  @Test
  void aModelThatIsServedFromNowOnIsReplayed() throws Exception {
    try (ScriptedEngine engine = new ScriptedEngine("127.0.0.1", 0, 0, KvEventFixture.GRAIN)) {
      KvEventReader reading = start(engine.port(), engine.replayPort());
      await().until(engine::isAsked);
      engine.replays(10);
      await().until(engine::isHeard);
      engine.publishes("kv@pod@later", 1, ScriptedEngine.clearedMessage());
      await().until(() -> counts.of(EventResult.FOREIGN_MODEL) == 1);

      reading.models(Set.of("later"));
      byte[] stored = ScriptedEngine.storedMessage(1, KvEventFixture.GRAIN);
      AtomicInteger told = new AtomicInteger(2);
      await()
          .until(
              () -> {
                engine.publishes("kv@pod@later", told.getAndIncrement(), stored);
                return engine.isAsked();
              });
      engine.replays(told.get(), stored);
      await().until(() -> engines.isWhole(0));
    }
  }

  /** Memory that is short, say: the others' messages are read on. */
  @Test
  void anErrorOfOneEngineIsNoOthers() throws Exception {
    List<EndpointSpec> both =
        List.of(
            new EndpointSpec("one", "1", "127.0.0.2", 1, Map.of()),
            new EndpointSpec("two", "1", "127.0.0.3", 1, Map.of()));
    List<ScriptedEngine> two =
        ScriptedEngine.several(2, i -> both.get(i).address(), KvEventFixture.GRAIN);
    List<EndpointSpec> lost = new CopyOnWriteArrayList<>();
    AtomicBoolean fails = new AtomicBoolean(true);
    try {
      KvEventReader reading =
          start(
              two.getFirst().port(),
              0,
              (endpoint, grain, change, done) -> {
                if (change.size() > 0
                    && endpoint.name().equals("one")
                    && fails.compareAndSet(true, false)) {
                  throw new OutOfMemoryError("a test's");
                }
                if (change.isLoss()) {
                  lost.add(endpoint);
                }
                done.taken(true);
              });
      reading.endpoints(both);
      await().until(two.getLast()::isHeard);
      two.getLast().stored(0, 10);
      await().until(() -> reading.state().whole() == 1);
      await().until(two.getFirst()::isHeard);
      two.getFirst().stored(0, 10);
      await().until(() -> counts.of(EventResult.FAILED) == 1);
      await().until(() -> !lost.isEmpty());
      two.getLast().stored(1, 10);
      await().until(() -> counts.of(EventResult.APPLIED) == 3);
      assertThat(lost).extracting(EndpointSpec::name).doesNotContain("two");
      assertThat(reading.state().whole()).isEqualTo(1);
    } finally {
      two.forEach(ScriptedEngine::close);
    }
  }

  /** One connection that comes to nothing costs seconds of events, not half a minute of them. */
  @Test
  void aConnectionOnWhichNobodySpeaksIsSoonMadeAnew() throws Exception {
    try (ServerSocket mute = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      mute.setSoTimeout(25_000);
      start(mute.getLocalPort(), 0);
      try (Socket first = mute.accept();
          Socket second = mute.accept()) {
        assertThat(second.getPort()).isNotEqualTo(first.getPort());
      }
    }
  }

  /**
   * ZeroMQ makes none anew that ended with what is no message to it, such as one that is too long.
   */
  @Test
  void aConnectionThatEndsWithWhatIsNoMessageIsMadeAnew() throws Exception {
    try (ServerSocket rogue = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      rogue.setSoTimeout(25_000);
      start(rogue.getLocalPort(), 0, () -> 50 * System.nanoTime());
      try (Socket first = rogue.accept()) {
        // At once: where this came late, ZeroMQ has given the connection up, and more would fail.
        first.getOutputStream().write(ZMTP_TOO_LONG_A_MESSAGE);
        try (Socket second = rogue.accept()) {
          assertThat(second.getPort()).isNotEqualTo(first.getPort());
        }
      }
    }
  }

  /** Whatever is in a list of endpoints, and however often that is read anew. */
  @Test
  void anAddressThatIsNoneCostsNothingEachTimeThatItIsTried() throws Exception {
    KvEventReader reading = start(1, 2);
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
        engines.start(ModelServerConfig.builder("stub", "m").kvEvents(KvEvents.onFreePorts()));
    String prompt = text(new Random(5), 4 * 16 * 3_000);
    complete(server, prompt);

    listen(server, true);

    await().untilAsserted(() -> assertThat(engines.tokens(0, prompt)).isGreaterThan(16 * 2_900));
    assertThat(mostKeys).hasValue(1_024);
  }

  /** However many pieces it goes in: what people read is how often there was no room. */
  @Test
  void aLongChangeThatThereIsNoRoomForIsCountedOnce() throws Exception {
    ExactIndex small = new ExactIndex(1_000);
    List<Integer> sizes = new CopyOnWriteArrayList<>();
    try (ZContext context = new ZContext()) {
      ZMQ.Socket engine = context.createSocket(SocketType.PUB);
      int port = engine.bindToRandomPort("tcp://127.0.0.1");
      KvEventReader reading =
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
                send(
                    engine,
                    "kv@pod@other",
                    0,
                    ScriptedEngine.storedMessage(1, KvEventFixture.GRAIN));
                return counts.of(EventResult.FOREIGN_MODEL) > 0;
              });

      send(engine, "kv@pod@m", 0, ScriptedEngine.storedMessage(3_000, KvEventFixture.GRAIN));

      // And then, that nothing is known of it.
      await().untilAsserted(() -> assertThat(sizes).containsExactly(1_024, 1_024, 952, 0));
      assertThat(counts.of(EventResult.NO_ROOM)).isEqualTo(1);
      await().until(() -> reading.state().equals(new KvEventReader.State(0, 0, 1, 0)));

      send(engine, "kv@pod@m", 1, ScriptedEngine.storedMessage(10, KvEventFixture.GRAIN));
      await().until(() -> counts.of(EventResult.APPLIED) == 2);
      send(engine, "kv@pod@m", 2, ScriptedEngine.clearedMessage());
      send(engine, "kv@pod@m", 3, ScriptedEngine.storedMessage(20, KvEventFixture.GRAIN));
      await().until(() -> sizes.getLast() == 20);
      await().until(() -> reading.state().noRoom() == 0);
    }
  }

  private static void send(ZMQ.Socket socket, String topic, long number, byte[] payload) {
    socket.sendMore(topic);
    socket.sendMore(ByteBuffer.allocate(8).putLong(number).array());
    socket.send(payload);
  }

  private ModelServer stub(KvEvents.Form form) {
    KvEvents usual = KvEvents.onFreePorts();
    return engines.start(
        ModelServerConfig.builder("stub", "m")
            .profile(EngineProfiles.shipped().named("h100-8b").withKvTokens(SMALL_CACHE))
            .kvEvents(new KvEvents(0, 0, "", form, usual.bufferSteps())));
  }

  private void listen(ModelServer server, boolean replays) {
    start(server.kvEventsPort(), replays ? server.kvReplayPort() : 0);
    if (replays) {
      await().atMost(Duration.ofMinutes(1)).until(() -> engines.isWhole(0));
    }
  }

  private KvEventReader start(int port, int replayPort) {
    return start(port, replayPort, this::take);
  }

  private void take(EndpointSpec endpoint, int grain, CacheChange change, KvEventReader.Done done) {
    mostKeys.accumulateAndGet(change.size(), Math::max);
    done.taken(engines.take(0, grain, change));
  }

  private KvEventReader start(int port, int replayPort, LongSupplier clock) {
    return start(port, replayPort, "", clock, (endpoint, grain, change, done) -> done.taken(true));
  }

  private KvEventReader start(int port, int replayPort, KvEventReader.Sink sink) {
    return start(port, replayPort, "", () -> 0, sink); // waits for replays for ever
  }

  private KvEventReader start(
      int port, int replayPort, String filter, LongSupplier clock, KvEventReader.Sink sink) {
    KvEventReader reader =
        engines.read(
            new KvEventReader.Settings(
                KvEventFixture.GRAIN, filter, port, replayPort, 1 << 20, clock),
            sink);
    reader.endpoints(List.of(new EndpointSpec("stub", "1", "127.0.0.1", 1, Map.of())));
    return reader;
  }

  private int complete(ModelServer server, String prompt) throws Exception {
    return engines.complete(server, prompt, 20);
  }

  private static String text(Random random, int length) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      text.append((char) ('a' + random.nextInt(26)));
    }
    return text.toString();
  }
}
