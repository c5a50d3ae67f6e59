package io.fairlead.epp.kvevents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Replays take little memory, however many engines there are and however much they replay. */
class KvEventReplaysIT {

  private static final int GRAIN = 16;

  private final KvEventCounts counts = new KvEventCounts();
  private final List<ScriptedEngine> engines = new ArrayList<>();
  private int answers;
  private @Nullable KvEventReader reader;

  @AfterEach
  void stop() {
    if (reader != null) {
      reader.close();
    }
    engines.forEach(ScriptedEngine::close);
  }

  @Test
  void fewAreAskedAtOnceAndAllInTheEnd() throws IOException {
    int many = 3 * ReplayTurns.MOST;
    KvEventReader reading = listen(many, KvEventReplaysIT::noTimePasses);
    Set<ScriptedEngine> answered = new HashSet<>();
    while (answered.size() < many) {
      int expected = Math.min(ReplayTurns.MOST, many - answered.size());
      await().until(() -> asked().size() == expected);
      assertThat(reading.state().whole()).isLessThanOrEqualTo(answered.size());
      ScriptedEngine one = asked().getFirst();
      one.replays(1);
      answered.add(one);
      await().until(() -> reading.state().whole() == answered.size());
    }
  }

  @Test
  void whoGoesWhileItWaitsForItsTurnKeepsNobodyWaiting() throws IOException {
    KvEventReader reading = listen(ReplayTurns.MOST + 2, KvEventReplaysIT::noTimePasses);
    await().until(() -> asked().size() == ReplayTurns.MOST);
    List<EndpointSpec> rest = new ArrayList<>();
    for (int i = 0; i < engines.size(); i++) {
      if (!engines.get(i).isAsked()) {
        rest.add(endpoint(i));
      }
    }
    reading.endpoints(rest);
    await().until(() -> asked().size() == engines.size());
    asked().forEach(engine -> assertThat(engine.isAsked()).isTrue());
  }

  /** An engine drops what is not read in time: that is no reason to know nothing of it. */
  @Test
  void aReplayOfMoreThanIsReadInTimeIsHadInPieces() throws IOException {
    KvEventReader reading = listen(1, System::nanoTime);
    ScriptedEngine engine = engines.getFirst();
    byte[] payload = ScriptedEngine.storedMessage(64, GRAIN);
    int messages = 2_000;
    await()
        .atMost(Duration.ofMinutes(1))
        .pollInterval(Duration.ofMillis(10))
        .until(
            () -> {
              if (engine.isAsked()) {
                answers++;
                engine.replays(messages, payload);
              }
              return reading.state().whole() == 1 && counts.of(EventResult.REPLAYED) >= messages;
            });
    assertThat(counts.of(EventResult.REPLAYED)).isEqualTo(messages);
    assertThat(answers).as("some were dropped").isGreaterThan(1);
    assertThat(counts.of(EventResult.FORGOTTEN)).isZero();
  }

  /** Who is asked for a replay has as long for it as the test takes. */
  private static long noTimePasses() {
    return 0;
  }

  private List<ScriptedEngine> asked() {
    return engines.stream().filter(ScriptedEngine::isAsked).toList();
  }

  private KvEventReader listen(int many, LongSupplier clock) {
    engines.addAll(ScriptedEngine.several(many, i -> endpoint(i).address(), GRAIN));
    KvEventReader made =
        new KvEventReader(
            new KvEventReader.Settings(
                GRAIN,
                "",
                engines.getFirst().port(),
                engines.getFirst().replayPort(),
                1 << 20,
                clock),
            counts,
            (endpoint, grain, change, done) -> done.taken(true));
    reader = made;
    made.endpoints(IntStream.range(0, many).mapToObj(KvEventReplaysIT::endpoint).toList());
    return made;
  }

  private static EndpointSpec endpoint(int which) {
    return new EndpointSpec("e" + which, "1", "127.0.0." + (1 + which), 1 + which, Map.of());
  }
}
