package io.fairlead.epp.director;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.fairlead.core.EndpointSnapshot;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.PoolCore;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.handover.News;
import io.fairlead.core.handover.SentRequest;
import io.fairlead.core.handover.SentRequest.Load;
import io.fairlead.core.handover.SentRequests;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.ReceiptsConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.epp.PlainPool;
import io.fairlead.epp.capture.Capture;
import io.fairlead.epp.capture.CaptureConfig;
import io.fairlead.epp.telemetry.Telemetry;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class PoolLoopTest {

  @Test
  void endpointsComeIntoForceAlthoughAPluginThatIsToldOfThemThrows() {
    PoolLoop pool =
        new PoolLoop(
            new PoolCore(), ImmediateEventExecutor.INSTANCE, () -> 0, new Telemetry(() -> 0));
    PluginConfig plugin = new PluginConfig("deaf", "deaf", Map.of());
    pool.configure(
            new ConfigCompiler(List.of(new Deaf()))
                .compile(PlainPool.config(new SchedulerConfig(List.of(plugin), List.of(), null))))
        .syncUninterruptibly();

    assertThat(
            pool.endpoints(List.of(new EndpointSpec("e", "1", "10.0.0.1", 1, Map.of())))
                .isSuccess())
        .isTrue();
    assertThat(pool.snapshot().getNow()).extracting(EndpointSnapshot::name).containsExactly("e");
  }

  @Test
  void thatFewerReceiptsAreKeptThanWantedIsToldOncePerWish() {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger(PoolLoop.class);
    logger.addAppender(log);
    logger.setLevel(Level.INFO);
    try {
      PoolLimits few = new PoolLimits(4, 1 << 16, 1 << 20, 1 << 20, Long.MAX_VALUE, 1 << 20);
      PoolLoop pool =
          new PoolLoop(
              new PoolCore(few), ImmediateEventExecutor.INSTANCE, () -> 0, new Telemetry(() -> 0));
      for (int keep : new int[] {900_000, 900_000, 10, 900_000, 1_000_000}) {
        RequestsConfig requests = RequestsConfig.DEFAULT.withReceipts(new ReceiptsConfig(keep, 1));
        PoolConfig config =
            new PoolConfig(
                "n",
                "p",
                Map.of(),
                List.of(1),
                "http",
                List.of(),
                requests,
                SchedulerConfig.DEFAULT);
        pool.configure(new ConfigCompiler(List.of()).compile(config)).syncUninterruptibly();
      }
    } finally {
      logger.setLevel(null);
      logger.detachAppender(log);
    }
    assertThat(log.list)
        .extracting(event -> event.getArgumentArray()[0])
        .containsExactly(900_000, 900_000, 1_000_000);
  }

  /** Adds what becomes of a request. */
  private static RequestListener listener(List<String> told) {
    return new RequestListener() {
      @Override
      public void send(long request, Route route) {
        told.add("sent");
      }

      @Override
      public void pass(long request) {}

      @Override
      public void reject(long request, Rejection rejection) {
        told.add(rejection.reason().code());
      }
    };
  }

  /** Else who has told would be taken for silent, and what it has in flight for lost. */
  @Test
  void whatAnotherPickerTellsIsTakenAlthoughAPluginThrowsForWhoWaits() {
    PoolCore core = new PoolCore();
    PoolLoop pool =
        new PoolLoop(core, ImmediateEventExecutor.INSTANCE, () -> 0, new Telemetry(() -> 0));
    SchedulerConfig scheduler =
        new SchedulerConfig(
            List.of(
                new PluginConfig("room", "concurrency-detector", Map.of("maxConcurrency", 1L)),
                new PluginConfig("broken", "broken", Map.of())),
            List.of(),
            "room");
    pool.configure(new ConfigCompiler(List.of(new Broken())).compile(PlainPool.config(scheduler)))
        .syncUninterruptibly();
    EndpointSpec endpoint = new EndpointSpec("e", "1", "10.0.0.1", 1, Map.of());
    pool.endpoints(List.of(endpoint)).syncUninterruptibly();
    SentRequest sent =
        new SentRequest(
            1, 0, new Load(10, 0, 1, false, false, true), false, null, SentRequest.Prompt.NONE);
    List<SentRequests> toIt = List.of(new SentRequests(endpoint, Double.NaN, List.of(sent)));
    pool.tells(7);
    pool.heard(7, new News(true, toIt, List.of(), List.of())).syncUninterruptibly();
    List<String> told = new ArrayList<>();
    core.arrive(0, new RequestFacts("m", 0, new long[0], 1, -1, 1), listener(told));
    assertThat(told).as("it is full").isEmpty();
    List<News.Over> over = List.of(new News.Over(1, new News.End(0, 0)));
    assertThat(pool.heard(7, new News(false, List.of(), List.of(), over)).isSuccess()).isTrue();
    assertThat(told).containsExactly("plugin_failed");
  }

  /** What came meanwhile is read before anybody's time is up. */
  @Test
  void aPauseOfTheProcessIsNobodysSilence() {
    AtomicLong clock = new AtomicLong(1);
    PoolCore core = new PoolCore();
    PoolLoop pool =
        new PoolLoop(core, ImmediateEventExecutor.INSTANCE, clock::get, new Telemetry(() -> 0));
    pool.configure(new ConfigCompiler(List.of()).compile(PlainPool.config(SchedulerConfig.DEFAULT)))
        .syncUninterruptibly();
    pool.endpoints(List.of(new EndpointSpec("e", "1", "10.0.0.1", 1, Map.of())))
        .syncUninterruptibly();
    List<String> told = new ArrayList<>();
    long stream =
        core.arrive(clock.get(), new RequestFacts("m", 0, new long[0], 1, -1, 1), listener(told));
    core.firstByte(clock.get(), stream);
    clock.addAndGet(TimeUnit.MINUTES.toNanos(10));
    pool.tick();
    assertThat(told).containsExactly("sent");
    clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
    pool.tick();
    assertThat(told).as("nothing had come").containsExactly("sent", "silence_timeout");
  }

  /** A loop that is busy for long is late every time, and must not stop the core's time. */
  @Test
  void ofTicksThatAreAllLateEverySecondCounts() {
    AtomicLong clock = new AtomicLong(1);
    PoolCore core = new PoolCore();
    PoolLoop pool =
        new PoolLoop(core, ImmediateEventExecutor.INSTANCE, clock::get, new Telemetry(() -> 0));
    pool.configure(new ConfigCompiler(List.of()).compile(PlainPool.config(SchedulerConfig.DEFAULT)))
        .syncUninterruptibly();
    pool.endpoints(List.of(new EndpointSpec("e", "1", "10.0.0.1", 1, Map.of())))
        .syncUninterruptibly();
    List<String> told = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      told.clear();
      long stream =
          core.arrive(clock.get(), new RequestFacts("m", 0, new long[0], 1, -1, 1), listener(told));
      core.firstByte(clock.get(), stream);
      clock.addAndGet(TimeUnit.MINUTES.toNanos(10));
      pool.tick();
      assertThat(told).as("it may have been a pause").containsExactly("sent");
      clock.addAndGet(TimeUnit.SECONDS.toNanos(2));
      pool.tick();
      assertThat(told).containsExactly("sent", "silence_timeout");
    }
  }

  /** A replay would be told of more than the core was. */
  @Test
  void aTickThatTheCoreIsNotToldOfIsNotCaptured(@TempDir Path folder) throws IOException {
    AtomicLong clock = new AtomicLong(1);
    Capture capture =
        Capture.open(
            CaptureConfig.to(folder), PoolLimits.DEFAULT, clock::get, InstantSource.system());
    PoolLoop pool =
        new PoolLoop(
            new PoolCore(),
            ImmediateEventExecutor.INSTANCE,
            clock::get,
            new Telemetry(() -> 0),
            capture);
    clock.addAndGet(TimeUnit.MINUTES.toNanos(10));
    pool.tick();
    clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
    pool.tick();
    capture.seal();
    capture.close();
    try (Stream<Path> files = Files.list(folder)) {
      Path state =
          files.filter(file -> file.toString().endsWith(".state.jsonl")).findFirst().orElseThrow();
      assertThat(Files.readString(state))
          .contains("{\"kind\":\"ticks\",\"seq\":1,\"at\":600100000000}");
    }
  }

  private static final class Broken implements PluginFactory {

    @Override
    public String type() {
      return "broken";
    }

    @Override
    public Scorer create(Parameters parameters) {
      return (request, candidates, scores) -> {
        throw new IllegalStateException("broken");
      };
    }
  }

  private static final class Deaf implements PluginFactory {

    @Override
    public String type() {
      return "deaf";
    }

    @Override
    public Observer create(Parameters parameters) {
      return new Observer() {
        @Override
        public void joined(Endpoint endpoint) {
          throw new AssertionError("not listening");
        }
      };
    }
  }
}
