package io.fairlead.epp.kvevents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.prefix.CacheChange;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.core.scheduling.KvEventsSource;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.stub.server.KvEvents;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several real engines tell one reader: more than it may keep, or at ports that change. */
class KvEventPoolIT {

  /** Room for two prompts of {@link #LONG} characters, and a little more. */
  private static final int MOST_BLOCKS = 100;

  /** Characters of 31 blocks. */
  private static final int LONG = 2_000;

  /** A whole number of seconds, as a busy machine needs: only how long tests take depends on it. */
  private static final int PATIENCE_SECONDS = 30;

  private final KvEventFixture engines = new KvEventFixture();
  private final KvEventCounts counts = engines.counts();
  private final Map<String, Integer> slots = Map.of("a", 0, "b", 1, "c", 2);
  private final Map<String, ModelServer> stubs = new HashMap<>();
  private final AtomicReference<@Nullable Throwable> next = new AtomicReference<>();
  private int prompts;

  @AfterEach
  void stop() {
    engines.close();
  }

  @Test
  void whereThereIsNoRoomForOneTheOthersKeepTheirs() throws Exception {
    KvEventReader reading = fillWithTwo();

    complete("c", "c".repeat(LONG + 1_000));
    await().until(() -> counts.of(EventResult.NO_ROOM) > 0);
    complete("a", "more".repeat(83));

    await().untilAsserted(() -> assertThat(tokens("a", "more".repeat(83))).isEqualTo(80));
    assertThat(tokens("a", "a".repeat(LONG))).isEqualTo(496);
    assertThat(tokens("b", "b".repeat(LONG))).isEqualTo(496);
    assertThat(tokens("c", "c".repeat(LONG + 1_000))).isZero();
    assertThat(counts.of(EventResult.NO_ROOM)).isEqualTo(1);
    await().until(() -> reading.state().equals(new KvEventReader.State(2, 0, 1, 0)));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whoHadNoRoomIsLearnedAnewWhenOthersLeaveSome(boolean byLeaving) throws Exception {
    KvEventReader reading = fillWithTwo();
    complete("c", "c".repeat(LONG + 1_000));
    await().until(() -> counts.of(EventResult.NO_ROOM) > 0);

    if (byLeaving) {
      reading.endpoints(List.of(endpoint("a"), endpoint("c")));
    } else {
      stub("b").faults().resetCache();
      complete("b", "short"); // with its next step it says so
    }

    await()
        .untilAsserted(
            () ->
                assertThat(tokens("c", "c".repeat(LONG + 1_000)))
                    .isEqualTo(46 * KvEventFixture.GRAIN));
    await().until(() -> reading.state().whole() == (byLeaving ? 2 : 3));
    assertThat(tokens("a", "a".repeat(LONG))).isEqualTo(496);
  }

  /** The prompts of two are known, and there is little room for more. */
  private KvEventReader fillWithTwo() throws Exception {
    ModelServer first = start("a", KvEvents.onFreePorts());
    start("b", KvEvents.on(first.kvEventsPort(), first.kvReplayPort()));
    start("c", KvEvents.on(first.kvEventsPort(), first.kvReplayPort()));
    KvEventReader reading = read(MOST_BLOCKS, "a", "b", "c");
    await().until(() -> reading.state().whole() == 3);
    complete("a", "a".repeat(LONG));
    complete("b", "b".repeat(LONG));
    await()
        .untilAsserted(
            () -> {
              assertThat(tokens("a", "a".repeat(LONG))).isEqualTo(496);
              assertThat(tokens("b", "b".repeat(LONG))).isEqualTo(496);
            });
    return reading;
  }

  /** An error of the thread, or an exception of one endpoint. */
  @ParameterizedTest
  @ValueSource(classes = {AssertionError.class, IllegalStateException.class})
  void whatFailsOnceIsReadOn(Class<? extends Throwable> how) throws Exception {
    start("a", KvEvents.onFreePorts());
    KvEventReader reading = read(1 << 20, "a");
    await().until(() -> reading.state().whole() == 1);

    next.set(how.getConstructor().newInstance());
    complete("a", "a".repeat(LONG));

    await()
        .atMost(PATIENCE_SECONDS, TimeUnit.SECONDS)
        .untilAsserted(() -> assertThat(tokens("a", "a".repeat(LONG))).isEqualTo(496));
    await().until(() -> reading.state().whole() == 1);
  }

  /** A pod that serves the second of its pool's ports only: its engine is still the second one. */
  @Test
  void anEngineIsFoundByThePlaceOfItsPortAmongThePoolsPorts() throws Exception {
    ModelServer second = start("a", KvEvents.onFreePorts());
    int before = second.kvEventsPort() - 1;
    EndpointSpec endpoint = new EndpointSpec("a-rank-1", "1", "127.0.0.1", 8001, Map.of());
    try (KvEventListener listening =
        new KvEventListener(
            1 << 24, System::nanoTime, (spec, grain, change, done) -> done.taken(true))) {
      listening.configured(config(before, List.of(8000, 8001)));
      listening.endpoints(List.of(endpoint));
      tells(listening);

      // It is the pool's first port from now on, and nobody publishes where the first one does.
      listening.configured(config(before, List.of(8001, 8000)));
      await()
          .atMost(PATIENCE_SECONDS, TimeUnit.SECONDS)
          .until(() -> listening.state().silent() == 1);
      listening.configured(config(before, List.of(8000, 8001)));
      tells(listening);
    }
  }

  private void tells(KvEventListener listening) {
    await()
        .atMost(PATIENCE_SECONDS, TimeUnit.SECONDS)
        .until(
            () -> {
              complete(
                  "a", "something new %08d ".formatted(prompts++).repeat(10)); // blocks of its own
              return listening.state().whole() + listening.state().partial() == 1;
            });
  }

  private static CompiledConfig config(int port, List<Integer> targetPorts) {
    Map<String, Object> events =
        Map.of("kvEventsConfig", Map.of("podDiscoveryConfig", Map.of("socketPort", (long) port)));
    PluginConfig producer = new PluginConfig("p", KvEventsSource.TYPE, events);
    return new ConfigCompiler(List.of())
        .compile(
            new PoolConfig(
                "ns",
                "pool",
                Map.of(),
                targetPorts,
                "http",
                List.of(),
                new SchedulerConfig(List.of(producer), List.of(), null)));
  }

  private ModelServer start(String name, KvEvents events) {
    ModelServer stub =
        engines.start(
            ModelServerConfig.builder(name, "m").listen(address(name), 0).kvEvents(events));
    stubs.put(name, stub);
    return stub;
  }

  private ModelServer stub(String name) {
    return Objects.requireNonNull(stubs.get(name));
  }

  private String address(String name) {
    return "127.0.0." + (1 + slot(name));
  }

  private int slot(String name) {
    return Objects.requireNonNull(slots.get(name));
  }

  private EndpointSpec endpoint(String name) {
    return new EndpointSpec(name, "1", address(name), 1, Map.of());
  }

  private KvEventReader read(int mostBlocks, String... names) {
    ModelServer first = stub("a");
    KvEventReader made =
        engines.read(
            new KvEventReader.Settings(
                KvEventFixture.GRAIN,
                "",
                first.kvEventsPort(),
                first.kvReplayPort(),
                mostBlocks,
                System::nanoTime),
            this::taken);
    made.endpoints(Arrays.stream(names).map(this::endpoint).toList());
    return made;
  }

  private void taken(
      EndpointSpec endpoint, int grain, CacheChange change, KvEventReader.Done done) {
    Throwable fails = change.size() > 0 ? next.getAndSet(null) : null;
    switch (fails) {
      case Error error -> throw error;
      case RuntimeException exception -> throw exception;
      case null, default -> {}
    }
    done.taken(engines.take(slot(endpoint.name()), grain, change));
  }

  private int tokens(String name, String prompt) {
    return engines.tokens(slot(name), prompt);
  }

  private void complete(String name, String prompt) throws Exception {
    var _ = engines.complete(stub(name), prompt, 1);
  }
}
