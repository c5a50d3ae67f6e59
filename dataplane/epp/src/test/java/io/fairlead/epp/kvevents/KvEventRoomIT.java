package io.fairlead.epp.kvevents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.prefix.ExactIndex;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who is asked again for what there was no room for, and when. */
class KvEventRoomIT {

  private static final int GRAIN = 16;
  private static final int MOST_BLOCKS = 100;

  private final KvEventCounts counts = new KvEventCounts();

  /** Guarded by itself: the reader's thread writes. */
  private final ExactIndex index = new ExactIndex(1 << 24);

  private final AtomicLong nanos = new AtomicLong();
  private final List<ScriptedEngine> engines = new ArrayList<>();
  private @Nullable KvEventReader reader;

  @AfterEach
  void stop() {
    if (reader != null) {
      reader.close();
    }
    engines.forEach(ScriptedEngine::close);
  }

  /** One is asked at a time: the others wait for that one, and not for one that is gone. */
  @Test
  void whoGoesWhileItIsAskedAgainKeepsNobodyWaiting() throws IOException {
    KvEventReader reading = listen(3);
    engines.get(0).stored(0, 70);
    await().until(() -> counts.of(EventResult.APPLIED) == 1);
    engines.get(1).stored(0, 50);
    engines.get(2).stored(0, 50);
    await().until(() -> reading.state().equals(new KvEventReader.State(1, 0, 2, 0)));

    engines.get(0).cleared(1);
    await().until(() -> engines.get(1).isAsked() || engines.get(2).isAsked());
    int asked = engines.get(1).isAsked() ? 1 : 2;
    int other = 3 - asked;
    assertThat(engines.get(other).isAsked()).isFalse();
    reading.endpoints(List.of(endpoint(0), endpoint(other)));

    await().until(() -> engines.get(other).isAsked());
    engines.get(other).replays(50);
    await().until(() -> reading.state().equals(new KvEventReader.State(2, 0, 0, 0)));
  }

  /** With a quarter more there would never be room for it, whoever else leaves. */
  @Test
  void whoTakesNearlyAllOfTheRoomIsAskedAgainOnceItIsAlone() throws IOException {
    KvEventReader reading = listen(2);
    engines.get(0).stored(0, 30);
    await().until(() -> counts.of(EventResult.APPLIED) == 1);
    engines.get(1).stored(0, 90);
    await().until(() -> reading.state().equals(new KvEventReader.State(1, 0, 1, 0)));

    reading.endpoints(List.of(endpoint(1)));
    pass(60);

    await().until(() -> engines.get(1).isAsked());
    engines.get(1).replays(90);
    await().until(() -> reading.state().equals(new KvEventReader.State(1, 0, 0, 0)));
  }

  /** Each try costs the engine and the reader all that was ever told. */
  @Test
  void whatDoesNotFitIsTriedEverMoreRarely() throws IOException {
    KvEventReader reading = listen(1);
    ScriptedEngine engine = engines.getFirst();
    engine.stored(0, MOST_BLOCKS + 1);
    await().until(() -> reading.state().noRoom() == 1);
    int told = 1;
    for (int minutes = 1; minutes <= 4; minutes *= 2) {
      pass(60 * minutes - 1);
      for (int turns = 0; turns < 2; turns++) {
        long before = counts.of(EventResult.APPLIED);
        engine.stored(told++, 1);
        await().until(() -> counts.of(EventResult.APPLIED) > before);
      }
      assertThat(engine.isAsked()).as("before %d minutes", minutes).isFalse();

      pass(1);
      await().until(engine::isAsked);
      long before = counts.of(EventResult.NO_ROOM);
      engine.replays(MOST_BLOCKS + 1);
      await().until(() -> counts.of(EventResult.NO_ROOM) == before + 1);
      await().until(() -> reading.state().noRoom() == 1);
    }
  }

  /** That many engines, one an address, which hold nothing and have said so. */
  private KvEventReader listen(int many) throws IOException {
    engines.addAll(ScriptedEngine.several(many, i -> endpoint(i).address(), GRAIN));
    KvEventReader made =
        new KvEventReader(
            new KvEventReader.Settings(
                GRAIN,
                "",
                engines.getFirst().port(),
                engines.getFirst().replayPort(),
                MOST_BLOCKS,
                nanos::get),
            counts,
            (endpoint, grain, change, done) -> {
              synchronized (index) {
                done.taken(index.change(endpoint.port(), grain, change));
              }
            });
    reader = made;
    made.models(Set.of("m"));
    made.endpoints(IntStream.range(0, many).mapToObj(KvEventRoomIT::endpoint).toList());
    for (ScriptedEngine engine : engines) {
      long before = counts.of(EventResult.MALFORMED);
      await().until(engine::isHeard);
      engine.publishes("kv@pod@m", -1, ScriptedEngine.clearedMessage());
      await().until(() -> counts.of(EventResult.MALFORMED) > before);
      await().until(engine::isAsked);
      engine.replays(0);
    }
    await().until(() -> made.state().whole() == many);
    return made;
  }

  /** Its port is its place in the index. */
  private static EndpointSpec endpoint(int which) {
    return new EndpointSpec("e" + which, "1", "127.0.0." + (1 + which), which, Map.of());
  }

  private void pass(int seconds) {
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
  }
}
