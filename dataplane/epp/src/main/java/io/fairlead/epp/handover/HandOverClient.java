package io.fairlead.epp.handover;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.security.MessageDigest;
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
import javax.crypto.Mac;
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
  private static final int BLOCKS_AT_A_TIME = 4_096;

  private static final long PAUSE_MILLIS = 200;

  /** One that says nothing must not take the time that others could answer in. */
  private static final int ANSWER_MILLIS = 1_000;

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
    String why = "nobody is known yet";
    boolean known = false;
    Set<String> others = new HashSet<>();
    try {
      SharedSecret secret = SharedSecret.read(settings.secretFile());
      while (until - System.nanoTime() > 0) {
        List<String> now = peers.get();
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
          } catch (OtherVersionException e) {
            why = peer + ": " + message(e);
            others.add(peer);
          } catch (IOException | ExecutionException | TimeoutException e) {
            why = peer + ": " + message(e);
            LOG.debug("{} has handed nothing over: {}", peer, message(e));
          }
        }
        if (now != null && others.containsAll(now)) {
          break; // none of them will learn this version
        }
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      }
    } catch (IOException e) {
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

  /** It speaks another version than this one. */
  private static final class OtherVersionException extends IOException {

    private static final long serialVersionUID = 1;

    OtherVersionException(byte version) {
      super("speaks version " + version + ", and this one " + Wire.VERSION);
    }
  }

  private static String message(Exception e) {
    if (e instanceof EOFException) {
      return "broke off, as it does where it does not know the secret";
    }
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }

  private static long since(long begun) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
  }

  /** Milliseconds that are left, at least 1. */
  private static int left(long until) throws TimeoutException {
    long millis = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
    if (millis < 1) {
      throw new TimeoutException("the time is over");
    }
    return Math.toIntExact(millis);
  }

  private HandOverResult ask(SharedSecret secret, String peer, long begun, long until)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    int colon = peer.lastIndexOf(':');
    InetSocketAddress address =
        new InetSocketAddress(
            peer.substring(0, colon), Integer.parseInt(peer.substring(colon + 1)));
    Lesson lesson;
    try (Socket socket = new Socket()) {
      socket.connect(address, Math.min(ANSWER_MILLIS, left(until)));
      lesson = listen(socket, secret, until);
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
                .get(left(until), TimeUnit.MILLISECONDS);
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
  private Lesson listen(Socket socket, SharedSecret secret, long until)
      throws IOException, TimeoutException {
    byte[] own = new byte[SharedSecret.NONCE_BYTES];
    random.nextBytes(own);
    DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
    out.writeInt(Wire.MAGIC);
    out.writeByte(Wire.VERSION);
    out.write(own);
    out.flush();
    TimedInput timed = new TimedInput(socket, until);
    DataInputStream in = new DataInputStream(timed);
    timed.answersWithin(ANSWER_MILLIS);
    byte word = in.readByte();
    if (word == Wire.OTHER_VERSION) {
      throw new OtherVersionException(in.readByte());
    }
    if (word != Wire.CHALLENGE) {
      throw new IOException("does not know the secret, or is no picker: it asks for no proof");
    }
    byte[] teller = new byte[SharedSecret.NONCE_BYTES];
    in.readFully(teller);
    out.write(secret.over(Wire.ASKS, own, teller).doFinal());
    out.flush();
    timed.answersWithin(ANSWER_MILLIS);
    if (in.readByte() != Wire.TOLD) {
      throw new IOException("tells another at the moment");
    }
    Mac mac = secret.over(Wire.TELLS, own, teller);
    Queue<byte[]> frames = new ArrayDeque<>();
    long bytes = 0;
    timed.answersAtAll();
    while (true) {
      int length = in.readInt();
      if (length == 0) {
        break;
      }
      bytes += length;
      if (length < 0 || length > Wire.MOST_FRAME_BYTES || bytes > Wire.MOST_BYTES) {
        throw new IOException("tells too much");
      }
      byte[] frame = new byte[length];
      in.readFully(frame);
      mac.update(frame);
      frames.add(frame);
    }
    byte[] shown = new byte[SharedSecret.MAC_BYTES];
    in.readFully(shown);
    if (!MessageDigest.isEqual(mac.doFinal(), shown)) {
      throw new IOException("does not know the secret, or somebody has changed what it told");
    }
    // Read only now: what a stranger has sent could be made to need many times its bytes.
    Lesson lesson = new Lesson();
    for (byte[] frame; (frame = frames.poll()) != null; ) {
      lesson.read(frame);
    }
    return lesson;
  }

  /** What a peer says, for so long: a byte now and then must not hold anybody up beyond that. */
  private static final class TimedInput extends FilterInputStream {

    private final Socket socket;
    private final long until;
    private long answerUntil;

    TimedInput(Socket socket, long until) throws IOException {
      super(socket.getInputStream());
      this.socket = socket;
      this.until = until;
      answerUntil = until;
    }

    /** What is read next, in whole, comes within so many milliseconds. */
    void answersWithin(int millis) {
      long then = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
      answerUntil = then - until < 0 ? then : until;
    }

    /** What is read next comes within the time that there is for all. */
    void answersAtAll() {
      answerUntil = until;
    }

    @Override
    public int read() throws IOException {
      bound();
      return super.read();
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
      bound();
      return super.read(to, offset, length);
    }

    private void bound() throws IOException {
      try {
        socket.setSoTimeout(left(answerUntil));
      } catch (TimeoutException e) {
        throw new SocketTimeoutException(e.getMessage());
      }
    }
  }
}
