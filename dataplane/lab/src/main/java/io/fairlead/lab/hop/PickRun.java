package io.fairlead.lab.hop;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.fairlead.lab.NamedArguments;
import io.fairlead.lab.Way;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The program of {@code hack/load picks}: speaks ext_proc to pickers as a proxy does, at fixed
 * rates, and measures until each request could be forwarded. Times count from when a request was
 * due, so a picker that falls behind can't hide it.
 *
 * <p>Arguments: {@code --way NAME,http://HOST:PORT,picker=PID} for each picker, {@code --loads
 * BYTES@RATE,...}, {@code --seconds}, {@code --rounds}, {@code --warmup} seconds at five times the
 * rate, {@code --report FILE}.
 */
public final class PickRun {

  private static final int MOST_OPEN = 10_000;
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /**
   * Warm-up requests come so many times as fast: compilers go by how often something has run, and
   * at a few hundred requests a second they would be at work all through the turns that count.
   */
  static final double WARM_UP_PACE = 5;

  /** So many bytes, so often a second. */
  private record Load(int bytes, double perSecond) {
    static Load parse(String text) {
      String[] parts = text.split("@", -1);
      if (parts.length != 2) {
        throw new IllegalArgumentException("expected BYTES@RATE, got " + text);
      }
      return new Load(Integer.parseInt(parts[0]), Double.parseDouble(parts[1]));
    }
  }

  private final List<Way> ways;
  private final List<Load> loads;
  private final double seconds;
  private final double warmUp;
  private final int rounds;

  private PickRun(NamedArguments given) {
    ways = given.all("--way").stream().map(Way::parse).toList();
    loads = List.of(given.text("--loads").split(",", -1)).stream().map(Load::parse).toList();
    seconds = given.number("--seconds");
    warmUp = given.number("--warmup");
    rounds = Math.toIntExact(given.whole("--rounds"));
  }

  /** Prints a table in Markdown, and fails when a request was refused. */
  public static void main(String[] args) throws Exception {
    Programs.main(
        args,
        given -> {
          Path report = Path.of(given.text("--report"));
          PickRun run = new PickRun(given);
          given.nothingElse();
          return run.run(report);
        });
  }

  private boolean run(Path file) throws IOException, InterruptedException {
    ArrayNode report = new ObjectMapper().createArrayNode();
    List<ManagedChannel> channels = new ArrayList<>();
    for (Way way : ways) {
      channels.add(
          NettyChannelBuilder.forAddress(way.url().getHost(), way.url().getPort())
              .usePlaintext()
              .directExecutor()
              .build());
    }
    System.out.println(
        "| bytes @ per second | way | p50, ms | p99, ms | max, ms | failed | CPU per request, µs |");
    System.out.println("|---|---|---|---|---|---|---|");
    boolean flawless = true;
    for (Load load : loads) {
      List<PickTimes> times = measure(load, channels);
      for (int i = 0; i < ways.size(); i++) {
        PickTimes of = times.get(i);
        flawless &= of.failedCount() == 0 && of.picked() > 0;
        System.out.printf(
            Locale.ROOT,
            "| %d @ %.0f | %s | %.2f | %.2f | %.2f | %d | %.0f |%n",
            load.bytes(),
            load.perSecond(),
            ways.get(i).name(),
            of.millis(50),
            of.millis(99),
            of.millis(100),
            of.failedCount(),
            of.cpuMicros());
        report
            .addObject()
            .put("bytes", load.bytes())
            .put("perSecond", load.perSecond())
            .put("way", ways.get(i).name())
            .put("p50Millis", of.millis(50))
            .put("p99Millis", of.millis(99))
            .put("failed", of.failedCount())
            .put("cpuMicros", of.cpuMicros());
      }
    }
    channels.forEach(ManagedChannel::shutdownNow);
    new ObjectMapper().writerWithDefaultPrettyPrinter().writeValue(file.toFile(), report);
    return flawless;
  }

  private List<PickTimes> measure(Load load, List<ManagedChannel> channels)
      throws InterruptedException {
    List<byte[]> bodies = Prompts.bodies(load.bytes(), false);
    List<PickTimes> times = new ArrayList<>();
    for (ManagedChannel channel : channels) {
      send(channel, bodies, WARM_UP_PACE * load.perSecond(), warmUp, 1, new PickTimes());
      times.add(new PickTimes());
    }
    for (int round = 0; round < rounds; round++) {
      for (int i = 0; i < ways.size(); i++) {
        int at = (i + round) % ways.size();
        Map<String, Long> processes = ways.get(at).processes();
        Map<String, Duration> before = Programs.cpu(processes);
        send(channels.get(at), bodies, load.perSecond(), seconds, 2L + round, times.get(at));
        Programs.cpu(processes)
            .forEach(
                (name, used) ->
                    times.get(at).used(used.minus(before.getOrDefault(name, Duration.ZERO))));
      }
    }
    return times;
  }

  /** Requests come at random times, as those of many clients do. */
  private static void send(
      ManagedChannel channel,
      List<byte[]> bodies,
      double perSecond,
      double seconds,
      long seed,
      PickTimes times)
      throws InterruptedException {
    SplittableRandom random = new SplittableRandom(seed);
    Semaphore open = new Semaphore(MOST_OPEN);
    long start = System.nanoTime();
    double due = 0;
    for (int i = 0; due < seconds; i++) {
      due -= Math.log(1 - random.nextDouble()) / perSecond;
      long at = start + (long) (due * 1e9);
      for (long left = at - System.nanoTime(); left > 0; left = at - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
      open.acquire();
      new ProxyStream(bodies.get(i % bodies.size()), at, times, open::release).open(channel);
    }
    if (!open.tryAcquire(MOST_OPEN, PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      times.failed(); // a stream that never ended
    }
  }
}
