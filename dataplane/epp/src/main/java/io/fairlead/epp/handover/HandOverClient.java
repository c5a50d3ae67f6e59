package io.fairlead.epp.handover;

import java.io.EOFException;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks others what they know, one after another until one has told, and takes it; within a time,
 * whatever they do. Blocks: for a thread of its own.
 */
public final class HandOverClient {

  private static final Logger LOG = LoggerFactory.getLogger(HandOverClient.class);

  /** Blocks that are taken at a time: some tenths of a millisecond. */
  static final int BLOCKS_AT_A_TIME = 4_096;

  private static final long PAUSE_MILLIS = 200;
  private static final String NOT_KNOWN = "nobody is known yet";

  private final HandOverSettings settings;
  private final HandOverPool pool;
  private final SecureRandom random = new SecureRandom();

  /**
   * @param pool takes what is told
   */
  public HandOverClient(HandOverSettings settings, HandOverPool pool) {
    this.settings = settings;
    this.pool = pool;
  }

  /**
   * Asks.
   *
   * @param peers whom, as {@code host:port}; null while that is not known yet
   */
  public HandOverResult ask(Supplier<@Nullable List<String>> peers) {
    long begun = System.nanoTime();
    long until = begun + settings.patience().toNanos();
    String why = NOT_KNOWN;
    boolean known = false;
    Set<String> others = new HashSet<>();
    try {
      SharedSecret secret = SharedSecret.read(settings.secretFile());
      while (until - System.nanoTime() > 0) {
        List<String> now = PeerConnection.<@Nullable List<String>>within(until, peers::get);
        known |= now != null;
        if (now != null && now.isEmpty()) {
          return new HandOverResult(HandOverResult.State.ALONE, "", since(begun), 0, 0, "");
        }
        List<String> shuffled = new ArrayList<>(now == null ? List.of() : now);
        Collections.shuffle(shuffled, random);
        shuffled.removeAll(others);
        for (String peer : shuffled) {
          try {
            return ask(secret, peer, begun, until);
          } catch (PeerConnection.OtherVersionException e) {
            why = peer + ": " + message(e);
            others.add(peer);
          } catch (IOException | ExecutionException | TimeoutException e) {
            // That the time is over says less than what went wrong before.
            if (until - System.nanoTime() > 0 || why.equals(NOT_KNOWN)) {
              why = peer + ": " + message(e);
            }
            LOG.debug("{} has handed nothing over: {}", peer, message(e));
          }
        }
        if (now != null && others.containsAll(now)) {
          break; // none of them will learn this version
        }
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      }
    } catch (TimeoutException e) {
      if (why.equals(NOT_KNOWN)) {
        why = message(e);
      }
    } catch (IOException | ExecutionException e) {
      why = message(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      why = "the process ends";
    }
    if (!known) {
      return new HandOverResult(HandOverResult.State.ALONE, "", since(begun), 0, 0, why);
    }
    LOG.warn("starts cold, as no other picker has handed over what it knows: {}", why);
    return new HandOverResult(HandOverResult.State.FAILED, "", since(begun), 0, 0, why);
  }

  /** What was wrong, in words. */
  static String message(Exception e) {
    if (e instanceof EOFException) {
      return "broke off, as it does where it does not know the secret";
    }
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }

  private static long since(long begun) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
  }

  private HandOverResult ask(SharedSecret secret, String peer, long begun, long until)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    Lesson lesson;
    try (PeerConnection connection =
        PeerConnection.ask(peer, Wire.Question.HAND_OVER, secret, random, until)) {
      lesson = listen(connection);
    }
    Lesson.Taking taking = lesson.new Taking(pool);
    int endpoints = 0;
    long prompts = 0;
    String why = "";
    boolean more = true;
    while (more) {
      try {
        more =
            pool.take((to, now) -> taking.next(to, now, BLOCKS_AT_A_TIME))
                .get(PeerConnection.left(until), TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        if (endpoints == 0) {
          throw e;
        }
        why = "the time was over before all was taken";
        break;
      }
      // Only now: the piece that has no time left may still be under way.
      endpoints = taking.endpoints();
      prompts = taking.prompts();
    }
    HandOverResult result =
        new HandOverResult(HandOverResult.State.TAKEN, peer, since(begun), endpoints, prompts, why);
    LOG.info(
        "took over from {} what {} endpoints hold: {} prompts, of {} blocks in all, in {} ms{}",
        peer,
        result.endpoints(),
        result.prompts(),
        lesson.hashes(),
        result.millis(),
        why.isEmpty() ? "" : "; " + why);
    return result;
  }

  /** Reads all of it: nothing is taken of what does not show at its end whom it is from. */
  private static Lesson listen(PeerConnection connection) throws IOException {
    Queue<byte[]> frames = new ArrayDeque<>();
    long bytes = 0;
    byte[] next = connection.frame();
    while (next.length > 0) {
      bytes += next.length;
      if (bytes > Wire.MOST_BYTES) {
        throw new IOException("tells too much");
      }
      frames.add(next);
      next = connection.frame();
    }
    connection.proof();
    // Read only now: what a stranger has sent could be made to need many times its bytes.
    Lesson lesson = new Lesson();
    for (byte[] frame; (frame = frames.poll()) != null; ) {
      lesson.read(frame);
    }
    return lesson;
  }
}
