package io.fairlead.lab.load;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.management.OperatingSystemMXBean;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.HealthChange;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.epp.director.Director;
import io.fairlead.epp.director.EndpointObserver;
import io.fairlead.epp.director.Exchange;
import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.director.RequestObserver;
import io.fairlead.epp.external.ExternalCounts;
import io.fairlead.epp.external.ExternalReport;
import io.fairlead.epp.transport.Transport;
import io.fairlead.lab.load.ExternalOptions.Way;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The program of {@code hack/load external}: what it costs to ask an external scheduler. It has the
 * picker's own way of a request from its director to the decision and back, without the frontends,
 * whose cost is the same in all ways. Requests come at a fixed rate whatever became of the earlier
 * ones; the time of each counts from when it was due until it may go.
 */
public final class ExternalRun {

  /** Of each way, before anything is measured: compilers take as long on two cores. */
  private static final int WARM_UP_SECONDS = 8;

  /** At the beginning of each turn: what stood still for the others' turns is cold again. */
  private static final int LEAD_IN_SECONDS = 1;

  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long ANSWER_MILLIS = 20;
  private static final int GROUPS = 64;
  private static final int BLOCKS = 32;
  private static final int TOKENS = 600;
  private static final long LONGEST_MICROS = 60_000_000;

  /**
   * One turn of a way.
   *
   * @param done requests a second that were decided
   * @param pickerMicros CPU time of this process per request: the picker's part, and the client
   * @param schedulerMicros CPU time of the scheduler's process per request
   * @param results what came of asking; empty for the built-in scheduler
   */
  public record Turn(
      double done,
      double p50Millis,
      double p99Millis,
      int rejected,
      double pickerMicros,
      double schedulerMicros,
      Map<String, Long> results) {}

  /**
   * A way, and what its turns came to in the median.
   *
   * @param addedP99Millis beside the built-in scheduler at the same rate in the same round
   */
  public record Summary(
      String name,
      int rate,
      double done,
      double p50Millis,
      double p99Millis,
      double addedP99Millis,
      double pickerMicros,
      double schedulerMicros,
      double followed,
      List<Turn> turns) {}

  private final ExternalOptions options;
  private final EventLoopGroup loops = Transport.group("external-load", 2);

  private ExternalRun(ExternalOptions options) {
    this.options = options;
  }

  /**
   * Prints a table and writes a report; exits 1 when a request was rejected.
   *
   * @param args see {@link ExternalOptions}
   */
  public static void main(String[] args) throws Exception {
    ExternalOptions options;
    try {
      options = ExternalOptions.parse(args);
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(2);
      return;
    }
    List<Summary> all = new ExternalRun(options).run();
    System.out.println(
        "| way | asked/s | done/s | p50 ms | p99 ms | p99 added | CPU us, picker | scheduler | followed |");
    System.out.println("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (Summary one : all) {
      System.out.printf(
          Locale.ROOT,
          "| %s | %d | %.0f | %.2f | %.2f | %s | %.0f | %.0f | %s |%n",
          one.name(),
          one.rate(),
          one.done(),
          one.p50Millis(),
          one.p99Millis(),
          Double.isNaN(one.addedP99Millis()) ? "" : "%.2f".formatted(one.addedP99Millis()),
          one.pickerMicros(),
          one.schedulerMicros(),
          Double.isNaN(one.followed()) ? "" : "%.2f %%".formatted(one.followed() * 100));
    }
    write(options, all);
    System.exit(
        all.stream().anyMatch(one -> one.turns().stream().anyMatch(turn -> turn.rejected() > 0))
            ? 1
            : 0);
  }

  private static void write(ExternalOptions options, List<Summary> all) throws IOException {
    new ObjectMapper()
        .writerWithDefaultPrettyPrinter()
        .writeValue(options.report().toFile(), Map.of("ways", all));
  }

  private List<Summary> run() throws Exception {
    Map<Way, Pool> pools = new LinkedHashMap<>();
    for (Way way : options.ways()) {
      pools.put(way, new Pool(way));
    }
    for (Map.Entry<Way, Pool> one : pools.entrySet()) {
      one.getValue().awaitScheduler();
      var _ = one.getValue().turn(WARM_UP_SECONDS);
    }
    Map<Way, List<Turn>> turns = new HashMap<>();
    List<Map.Entry<Way, Pool>> order = new ArrayList<>(pools.entrySet());
    for (int round = 0; round < options.rounds(); round++) {
      for (Map.Entry<Way, Pool> one : order) {
        var _ = one.getValue().turn(LEAD_IN_SECONDS);
        turns
            .computeIfAbsent(one.getKey(), way -> new ArrayList<>())
            .add(one.getValue().turn(options.seconds()));
      }
      // So that none always follows the same other one.
      Collections.rotate(order, 1);
    }
    pools.values().forEach(Pool::close);
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    return options.ways().stream().map(way -> summary(way, turns)).toList();
  }

  private Summary summary(Way way, Map<Way, List<Turn>> turns) {
    List<Turn> own = turns.getOrDefault(way, List.of());
    List<Turn> built =
        options.ways().stream()
            .filter(other -> other.address().isEmpty() && other.rate() == way.rate())
            .findFirst()
            .map(other -> turns.getOrDefault(other, List.of()))
            .orElse(List.of());
    boolean external = !way.address().isEmpty();
    double[] added =
        external && !built.isEmpty()
            ? IntStream.range(0, own.size())
                .mapToDouble(i -> own.get(i).p99Millis() - built.get(i).p99Millis())
                .toArray()
            : new double[] {Double.NaN};
    return new Summary(
        way.name(),
        way.rate(),
        median(own.stream().mapToDouble(Turn::done).toArray()),
        median(own.stream().mapToDouble(Turn::p50Millis).toArray()),
        median(own.stream().mapToDouble(Turn::p99Millis).toArray()),
        median(added),
        median(own.stream().mapToDouble(Turn::pickerMicros).toArray()),
        median(own.stream().mapToDouble(Turn::schedulerMicros).toArray()),
        external ? followed(own) : Double.NaN,
        own);
  }

  private static double followed(List<Turn> turns) {
    long followed = 0;
    long all = 0;
    for (Turn turn : turns) {
      for (Map.Entry<String, Long> result : turn.results().entrySet()) {
        all += result.getValue();
        followed += result.getKey().equals("followed") ? result.getValue() : 0;
      }
    }
    return all == 0 ? 0 : (double) followed / all;
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  /** The picker's part of one way. */
  private final class Pool {
    private final Way way;
    private final EventLoop home = loops.next();
    private final PoolLoop pool;
    private final SplittableRandom random = new SplittableRandom(1);

    Pool(Way way) throws InterruptedException {
      this.way = way;
      pool =
          new PoolLoop(
              PoolLimits.DEFAULT,
              loops.next(),
              System::nanoTime,
              new Deaf(),
              new DeafToEndpoints(),
              (probe, answer) -> loops.next().execute(() -> answer.came(null)),
              false,
              null);
      List<PluginConfig> plugins = new ArrayList<>();
      if (!way.address().isEmpty()) {
        plugins.add(
            new PluginConfig(
                "external-scheduler",
                "external-scheduler",
                Map.of("address", way.address(), "timeout", "20ms")));
      }
      PoolConfig config =
          new PoolConfig(
              "default",
              "load",
              Map.of(),
              List.of(8_000),
              "http",
              List.of(),
              new SchedulerConfig(plugins, List.of(), null));
      List<EndpointSpec> endpoints =
          IntStream.range(0, options.endpoints())
              .mapToObj(i -> new EndpointSpec("server-" + i, "1", "10.0.0.1", 1 + i, Map.of()))
              .toList();
      pool.configure(new ConfigCompiler(List.of()).compile(config), endpoints).sync();
      pool.start();
    }

    void awaitScheduler() {
      long until = System.nanoTime() + PATIENCE_NANOS;
      for (ExternalReport report : pool.externalReports()) {
        while (pool.externalReports().getFirst().problem() != null) {
          if (System.nanoTime() > until) {
            throw new IllegalStateException(way.name() + " is not there: " + report.problem());
          }
          LockSupport.parkNanos(1_000_000);
        }
      }
    }

    private Map<String, Long> results() {
      Map<String, Long> results = new LinkedHashMap<>();
      for (ExternalReport report : pool.externalReports()) {
        for (ExternalCounts.Result result : ExternalCounts.Result.values()) {
          results.put(result.name().toLowerCase(Locale.ROOT), report.counts().of(result));
        }
      }
      return results;
    }

    /** Requests at the way's rate for so long. */
    Turn turn(int seconds) {
      Map<String, Long> before = results();
      double ownBefore = ownMicros();
      double schedulerBefore = schedulerMicros();
      int count = way.rate() * seconds;
      Histogram times = new Histogram(LONGEST_MICROS, 3);
      AtomicInteger sent = new AtomicInteger();
      AtomicInteger rejected = new AtomicInteger();
      long begun = System.nanoTime();
      for (int i = 0; i < count; i++) {
        long due = begun + TimeUnit.SECONDS.toNanos(i) / way.rate();
        for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
          LockSupport.parkNanos(left);
        }
        Request request = new Request(this, due, times, sent, rejected);
        home.execute(request::begin);
      }
      long until = System.nanoTime() + PATIENCE_NANOS;
      while (sent.get() + rejected.get() < count && System.nanoTime() < until) {
        LockSupport.parkNanos(1_000_000);
      }
      double took = (System.nanoTime() - begun) / 1e9;
      double ownTook = ownMicros() - ownBefore;
      double schedulerTook = schedulerMicros() - schedulerBefore;
      int missing = count - sent.get() - rejected.get();
      Map<String, Long> results = results();
      results.replaceAll((name, value) -> value - before.getOrDefault(name, 0L));
      return home.submit(
              () ->
                  new Turn(
                      sent.get() / took,
                      times.getValueAtPercentile(50) / 1e3,
                      times.getValueAtPercentile(99) / 1e3,
                      rejected.get() + missing,
                      ownTook / count,
                      schedulerTook / count,
                      results))
          .syncUninterruptibly()
          .getNow();
    }

    private double ownMicros() {
      return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean told
          ? told.getProcessCpuTime() / 1e3
          : 0;
    }

    private double schedulerMicros() {
      return ProcessHandle.of(way.process())
          .flatMap(process -> process.info().totalCpuDuration())
          .map(took -> took.toNanos() / 1e3)
          .orElse(0.0);
    }

    RequestFacts facts() {
      long[] blocks = new long[BLOCKS];
      long group = random.nextInt(GROUPS);
      for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = i < BLOCKS / 2 ? group * BLOCKS + i + 1 : random.nextLong();
      }
      return new RequestFacts("llama", random.nextLong(), blocks, TOKENS, 100, 4L * TOKENS);
    }

    void close() {
      pool.asks(null);
    }
  }

  /** One request: its answer takes a while. On its pool's home loop. */
  private static final class Request implements Exchange {
    private final Pool pool;
    private final long due;
    private final Histogram times;
    private final AtomicInteger sent;
    private final AtomicInteger rejected;
    private final Director director;

    Request(Pool pool, long due, Histogram times, AtomicInteger sent, AtomicInteger rejected) {
      this.pool = pool;
      this.due = due;
      this.times = times;
      this.sent = sent;
      this.rejected = rejected;
      director = new Director(pool.pool, pool.home, this);
    }

    void begin() {
      if (!director.submit(pool.facts())) {
        rejected.incrementAndGet();
      }
    }

    @Override
    public void send(Route route) {
      times.recordValue(Math.min(LONGEST_MICROS, (System.nanoTime() - due) / 1_000));
      sent.incrementAndGet();
      var _ =
          pool.home.schedule(
              () -> {
                director.firstByte();
                director.end(Outcome.COMPLETED, Usage.UNKNOWN);
              },
              ANSWER_MILLIS,
              TimeUnit.MILLISECONDS);
    }

    @Override
    public void pass() {}

    @Override
    public void reject(Rejection rejection) {
      rejected.incrementAndGet();
    }
  }

  private static final class Deaf implements RequestObserver {
    @Override
    public void decided(long nanos) {}

    @Override
    public void sent(String model, Route route) {}

    @Override
    public void sentAgain(String model, Route route, @Nullable Failure failure) {}

    @Override
    public void firstToken(String model, Route route, long nanos) {}

    @Override
    public void ended(String model, Route route, Outcome outcome, Usage usage, long nanos) {}

    @Override
    public void rejected(String model, Rejection rejection) {}
  }

  private static final class DeafToEndpoints implements EndpointObserver {
    @Override
    public void healthChanged(HealthChange change) {}

    @Override
    public void probed(@Nullable Failure failure) {}
  }
}
