package io.fairlead.epp.handover;

import io.fairlead.core.handover.News;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hears from all other pickers of the pool what they send, for as long as they are there, and has
 * the pool know it: a conversation finds its cache whichever picker its next request comes to. Who
 * can't be heard is asked again, ever less often; nobody waits for it. Blocks threads of its own.
 */
public final class Following implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Following.class);

  /** Between two looks at who is there. */
  private static final long LOOK_MILLIS = 1_000;

  private static final long FIRST_PAUSE_MILLIS = 500;
  private static final long LONGEST_PAUSE_MILLIS = 30_000;

  /** A peer that lives says something many times in so long. */
  private static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final HandOverSettings settings;
  private final HandOverPool pool;
  private final SecureRandom random = new SecureRandom();
  private final Map<String, Followed> followed = new ConcurrentHashMap<>();

  /** By the number of whose process it is: what is told in two ways may be over in one already. */
  private final Map<Long, Followed> hearing = new ConcurrentHashMap<>();

  private final AtomicLong prompts = new AtomicLong();
  private final Thread looking;

  /**
   * @param pool takes what is told
   * @param peers who is there, as {@code host:port}; null while that is not known
   */
  public Following(
      HandOverSettings settings, HandOverPool pool, Supplier<@Nullable List<String>> peers) {
    this.settings = settings;
    this.pool = pool;
    looking =
        Thread.ofPlatform().daemon().name("fairlead-following").unstarted(() -> lookAfter(peers));
  }

  /** Begins, unless it is closed already. */
  public void start() {
    looking.start();
  }

  /** Who tells at the moment, as {@code host:port}, in order. Any thread. */
  public List<String> telling() {
    return followed.values().stream()
        .filter(one -> one.tells)
        .map(one -> one.peer)
        .sorted()
        .toList();
  }

  /** Prompts that were told so far and are of use here. Any thread. */
  public long prompts() {
    return prompts.get();
  }

  @Override
  public void close() {
    looking.interrupt();
  }

  private void lookAfter(Supplier<@Nullable List<String>> peers) {
    boolean failed = false;
    try {
      while (true) {
        try {
          follow(peers.get());
          failed = false;
        } catch (RuntimeException | Error e) {
          if (!failed) {
            LOG.error("a look for other pickers has failed; the next comes in a second", e);
          }
          failed = true;
        }
        TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
      }
    } catch (InterruptedException e) {
      followed.values().forEach(one -> one.thread.interrupt());
    }
  }

  private void follow(@Nullable List<String> there) {
    if (there != null) {
      followed.values().removeIf(one -> !one.stays(there.contains(one.peer)));
      for (String peer : there) {
        followed.computeIfAbsent(peer, Followed::new);
      }
    }
  }

  /** One of the others. */
  private final class Followed {

    private final String peer;
    private final Thread thread;
    private volatile boolean tells;
    private volatile boolean listed = true;

    Followed(String peer) {
      this.peer = peer;
      thread = Thread.ofVirtual().name("fairlead-following " + peer).start(this::run);
    }

    /**
     * Whether it is followed on. One that is listed no more is as long as it tells: it drains, and
     * what it has in flight counts until it is over.
     */
    boolean stays(boolean isListed) {
      listed = isListed;
      if (!isListed && !tells) {
        thread.interrupt();
      }
      return (isListed || tells) && thread.isAlive();
    }

    private void run() {
      long pause = FIRST_PAUSE_MILLIS;
      try {
        while (true) {
          try {
            hear();
          } catch (IOException | ExecutionException | TimeoutException | RuntimeException e) {
            LOG.debug("{} is not heard: {}", peer, HandOverClient.message(e));
          }
          pause = tells ? FIRST_PAUSE_MILLIS : Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
          tells = false;
          if (!listed) {
            return;
          }
          TimeUnit.MILLISECONDS.sleep(pause);
        }
      } catch (InterruptedException e) {
        tells = false;
      }
    }

    /** Takes what it tells until it breaks off. */
    private void hear()
        throws IOException, InterruptedException, ExecutionException, TimeoutException {
      SharedSecret secret = SharedSecret.read(settings.secretFile());
      try (PeerConnection connection =
          PeerConnection.ask(peer, Wire.Question.FOLLOW, secret, random, silence())) {
        // The first frame is never empty: it tells of what is in flight, and of whom.
        HeardNews first = next(connection);
        if (first == null || first.picker() == pool.number()) {
          throw new IOException(first == null ? "tells nothing" : "is this picker itself");
        }
        if (hearing.putIfAbsent(first.picker(), this) != null) {
          throw new IOException("is heard at another of its addresses");
        }
        try {
          pool.tells(first.picker());
          take(first);
          tells = true;
          LOG.info("{} tells what it sends", peer);
          while (true) {
            HeardNews heard = next(connection);
            if (heard != null) {
              if (heard.picker() != first.picker()) {
                throw new IOException("is another picker all at once");
              }
              take(heard);
            }
          }
        } finally {
          try {
            pool.silent(first.picker());
          } finally {
            hearing.remove(first.picker(), this);
          }
        }
      }
    }

    /** Null for nothing new. */
    private @Nullable HeardNews next(PeerConnection connection)
        throws IOException, TimeoutException {
      connection.until(silence());
      byte[] frame = connection.frame();
      connection.proof();
      return frame.length == 0
          ? null
          : HeardNews.read(frame, pool.hashing(), HandOverClient.BLOCKS_AT_A_TIME);
    }

    private static long silence() {
      return System.nanoTime() + SILENCE_NANOS;
    }

    private void take(HeardNews heard)
        throws InterruptedException, ExecutionException, TimeoutException {
      for (News piece : heard.news()) {
        pool.heard(heard.picker(), piece).get(SILENCE_NANOS, TimeUnit.NANOSECONDS);
      }
      prompts.addAndGet(heard.prompts());
    }
  }
}
