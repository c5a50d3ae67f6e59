package io.fairlead.lab.hop;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The program of {@code hack/load slow}: what other clients notice of thousands that send their
 * request a few bytes at a time. The same requests at the same rate alone, with the slow ones at a
 * server that has no part in them, with the slow ones at the target, and alone again, each round:
 * on a machine that client and servers share, the slow ones cost something wherever they go.
 *
 * <p>Arguments: {@code --target URL}, {@code --elsewhere URL}, {@code --clients N} slow ones,
 * {@code --rate} of the others a second, {@code --seconds} of each turn, {@code --rounds}, {@code
 * --report FILE}.
 */
public final class SlowClientsRun {

  private static final long LONGEST_MICROS = 60_000_000;
  private static final int CONNECTIONS = 32;
  private static final int BYTES = 256;
  private static final byte[] SLOW_HEAD =
      ("POST /v1/chat/completions HTTP/1.1\r\nhost: load\r\ncontent-type: application/json\r\n"
              + "content-length: 2000\r\n\r\n{\"model\":\"load-model\",\"prompt\":\"")
          .getBytes(US_ASCII);

  private static final byte[] SLOW_PIECE = "x".repeat(20).getBytes(US_ASCII);

  private final URI target;
  private final URI elsewhere;
  private final double perSecond;
  private final double seconds;
  private long failed;

  private SlowClientsRun(URI target, URI elsewhere, double perSecond, double seconds) {
    this.target = target;
    this.elsewhere = elsewhere;
    this.perSecond = perSecond;
    this.seconds = seconds;
  }

  /** Prints both tails; fails when a request of the others did. */
  public static void main(String[] args) throws Exception {
    Programs.main(
        args,
        given -> {
          SlowClientsRun run =
              new SlowClientsRun(
                  URI.create(given.text("--target")),
                  URI.create(given.text("--elsewhere")),
                  given.number("--rate"),
                  given.number("--seconds"));
          int clients = Math.toIntExact(given.whole("--clients"));
          int rounds = Math.toIntExact(given.whole("--rounds"));
          Path report = Path.of(given.text("--report"));
          given.nothingElse();
          return run.run(clients, rounds, report);
        });
  }

  private boolean run(int clients, int rounds, Path report)
      throws IOException, InterruptedException {
    var _ = others(PickRun.WARM_UP_PACE * perSecond);
    Histogram alone = new Histogram(LONGEST_MICROS, 3);
    Histogram beside = new Histogram(LONGEST_MICROS, 3);
    Histogram apart = new Histogram(LONGEST_MICROS, 3);
    int cutOff = 0;
    for (int round = 0; round < rounds; round++) {
      alone.add(others(perSecond));
      cutOff += besideSlow(elsewhere, clients, apart);
      cutOff += besideSlow(target, clients, beside);
      alone.add(others(perSecond));
    }
    double p99 = beside.getValueAtPercentile(99);
    String text =
        String.format(
            Locale.ROOT,
            "| | requests | p50, ms | p99, ms |%n|---|---|---|---|%n%s%s%s%n%d slow clients, %d of"
                + " them cut off; %d requests of others failed; p99 × %.2f of alone, × %.2f of"
                + " beside slow clients elsewhere%n",
            row("alone", alone),
            row("beside slow clients elsewhere", apart),
            row("beside slow clients", beside),
            clients,
            cutOff,
            failed,
            p99 / alone.getValueAtPercentile(99),
            p99 / apart.getValueAtPercentile(99));
    System.out.print(text);
    Files.writeString(report, text);
    return failed == 0;
  }

  /** Says how many of the slow ones were cut off. */
  private int besideSlow(URI server, int clients, Histogram micros)
      throws IOException, InterruptedException {
    try (Slow slow = new Slow(server, clients)) {
      micros.add(others(perSecond));
      return slow.cutOff.get();
    }
  }

  private static String row(String name, Histogram micros) {
    return String.format(
        Locale.ROOT,
        "| %s | %d | %.2f | %.2f |%n",
        name,
        micros.getTotalCount(),
        micros.getValueAtPercentile(50) / 1e3,
        micros.getValueAtPercentile(99) / 1e3);
  }

  /** Requests at random times, each measured from when it was due. */
  private Histogram others(double rate) throws InterruptedException {
    List<byte[]> requests = Prompts.requests(BYTES, 0, 0);
    BlockingQueue<Long> due = new LinkedBlockingQueue<>();
    Histogram micros = new Histogram(LONGEST_MICROS, 3);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < CONNECTIONS; i++) {
      threads.add(Thread.ofPlatform().start(() -> answer(due, requests, micros)));
    }
    SplittableRandom random = new SplittableRandom(1);
    long start = System.nanoTime();
    double at = 0;
    while (at < seconds) {
      at -= Math.log(1 - random.nextDouble()) / rate;
      long when = start + (long) (at * 1e9);
      for (long left = when - System.nanoTime(); left > 0; left = when - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
      due.add(when);
    }
    for (int i = 0; i < CONNECTIONS; i++) {
      due.add(Long.MIN_VALUE);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    return micros;
  }

  private void answer(BlockingQueue<Long> due, List<byte[]> requests, Histogram micros) {
    @Nullable PlainConnection connection = null;
    try {
      for (long at = due.take(); at != Long.MIN_VALUE; at = due.take()) {
        boolean well = false;
        try {
          connection = connection == null ? new PlainConnection(target) : connection;
          connection.send(requests.get((int) Math.floorMod(at, (long) requests.size())));
          well = connection.read() == 200;
        } catch (IOException cut) {
          connection = null;
        }
        synchronized (this) {
          if (well) {
            micros.recordValue(Math.clamp((System.nanoTime() - at) / 1_000, 0, LONGEST_MICROS));
          } else {
            failed++;
          }
        }
      }
      if (connection != null) {
        connection.close();
      }
    } catch (IOException | InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Clients that have begun a request each, and send a piece of it every second. */
  private static final class Slow implements AutoCloseable {

    private final List<SocketChannel> channels = new ArrayList<>();
    private final Thread thread;
    private volatile boolean closed;
    private final AtomicInteger cutOff = new AtomicInteger();

    Slow(URI server, int clients) throws IOException {
      for (int i = 0; i < clients; i++) {
        SocketChannel channel =
            SocketChannel.open(new InetSocketAddress(server.getHost(), server.getPort()));
        channel.configureBlocking(false);
        channel.write(ByteBuffer.wrap(SLOW_HEAD));
        channels.add(channel);
      }
      thread = Thread.ofPlatform().start(this::sendSlowly);
    }

    private void sendSlowly() {
      boolean[] gone = new boolean[channels.size()];
      long second = System.nanoTime();
      while (!closed) {
        for (int i = 0; i < gone.length && !closed; i++) {
          if (!gone[i] && !sends(channels.get(i))) {
            gone[i] = true;
            cutOff.incrementAndGet();
          }
          if (i % 10 == 9) {
            // Spread over the second: what is measured is the server, not a burst of ours.
            long until = second + Duration.ofSeconds(1).toNanos() * (i + 1L) / gone.length;
            LockSupport.parkNanos(Math.max(0, until - System.nanoTime()));
          }
        }
        second = System.nanoTime();
      }
    }

    private static boolean sends(SocketChannel channel) {
      try {
        return channel.write(ByteBuffer.wrap(SLOW_PIECE)) >= 0;
      } catch (IOException reset) {
        return false;
      }
    }

    @Override
    public void close() {
      closed = true;
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      for (SocketChannel channel : channels) {
        try {
          channel.close();
        } catch (IOException e) {
          // gone anyway
        }
      }
    }
  }
}
