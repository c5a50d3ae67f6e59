package io.fairlead.epp.handover;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.crypto.Mac;
import org.jspecify.annotations.Nullable;

/**
 * A connection to another picker that has been shown that this one knows the secret, and is about
 * to tell. Nothing that it tells is to be believed before it has shown the same. Blocks.
 */
final class PeerConnection implements Closeable {

  /** One that says nothing must not take the time that others could answer in. */
  private static final int ANSWER_MILLIS = 1_000;

  private final Socket socket;
  private final TimedInput timed;
  private final DataInputStream in;
  private final Mac mac;

  private PeerConnection(Socket socket, TimedInput timed, DataInputStream in, Mac mac) {
    this.socket = socket;
    this.timed = timed;
    this.in = in;
    this.mac = mac;
  }

  /**
   * Connects and asks.
   *
   * @param peer as {@code host:port}
   * @param until when it must be about to tell, of {@link System#nanoTime()}
   */
  static PeerConnection ask(
      String peer, Wire.Question question, SharedSecret secret, SecureRandom random, long until)
      throws IOException, ExecutionException, InterruptedException, TimeoutException {
    int colon = peer.lastIndexOf(':');
    int port = Integer.parseInt(peer.substring(colon + 1));
    long soon = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ANSWER_MILLIS);
    InetSocketAddress address =
        within(
            soon - until < 0 ? soon : until,
            () -> new InetSocketAddress(peer.substring(0, colon), port));
    Socket socket = new Socket();
    try {
      socket.connect(address, Math.min(ANSWER_MILLIS, left(until)));
      return ask(socket, question, secret, random, until);
    } catch (IOException | TimeoutException | RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  private static PeerConnection ask(
      Socket socket, Wire.Question question, SharedSecret secret, SecureRandom random, long until)
      throws IOException {
    byte[] own = new byte[SharedSecret.NONCE_BYTES];
    random.nextBytes(own);
    DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
    out.writeInt(question.magic);
    out.writeByte(question.version);
    out.write(own);
    out.flush();
    TimedInput timed = new TimedInput(socket, until);
    DataInputStream in = new DataInputStream(timed);
    timed.answersWithin(ANSWER_MILLIS);
    byte word = in.readByte();
    if (word == Wire.OTHER_VERSION) {
      throw new OtherVersionException(in.readByte(), question.version);
    }
    if (word != Wire.CHALLENGE) {
      throw new IOException("does not know the secret, or is no picker: it asks for no proof");
    }
    byte[] teller = new byte[SharedSecret.NONCE_BYTES];
    in.readFully(teller);
    out.write(secret.over(question.asks, own, teller).doFinal());
    out.flush();
    timed.answersWithin(ANSWER_MILLIS);
    if (in.readByte() != Wire.TOLD) {
      throw new IOException("tells another at the moment");
    }
    timed.until(until);
    return new PeerConnection(socket, timed, in, secret.over(question.tells, own, teller));
  }

  /**
   * The next frame; empty where its length is 0.
   *
   * @throws IOException if it is longer than frames are
   */
  byte[] frame() throws IOException {
    int length = in.readInt();
    if (length < 0 || length > Wire.MOST_FRAME_BYTES) {
      throw new IOException("tells too much");
    }
    byte[] frame = new byte[length];
    in.readFully(frame);
    mac.update(frame);
    return frame;
  }

  /**
   * Reads what shows that all frames since the last time are from somebody who knows the secret;
   * what comes next is shown over this, too.
   *
   * @throws IOException if it doesn't
   */
  void proof() throws IOException {
    byte[] shown = new byte[SharedSecret.MAC_BYTES];
    in.readFully(shown);
    byte[] right = mac.doFinal();
    if (!MessageDigest.isEqual(right, shown)) {
      throw new IOException("does not know the secret, or somebody has changed what it told");
    }
    mac.update(right);
  }

  /** What is read from now on comes until then. */
  void until(long until) {
    timed.until(until);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  /**
   * Resolves names, and waits no longer than {@code until}: where name servers are silent it may
   * take far longer, and nothing ends it.
   */
  static <T extends @Nullable Object> T within(long until, Callable<T> resolving)
      throws ExecutionException, InterruptedException, TimeoutException {
    FutureTask<T> task = new FutureTask<>(resolving);
    Thread.ofPlatform().daemon().name("fairlead-hand-over-names").start(task);
    try {
      return task.get(left(until), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new TimeoutException("names are not resolved in time");
    }
  }

  /** Milliseconds that are left, at least 1. */
  static int left(long until) throws TimeoutException {
    long millis = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
    if (millis < 1) {
      throw new TimeoutException("the time is over");
    }
    return Math.toIntExact(millis);
  }

  /** It speaks another version than this one. */
  static final class OtherVersionException extends IOException {

    private static final long serialVersionUID = 1;

    OtherVersionException(byte version, byte own) {
      super("speaks version " + version + ", and this one " + own);
    }
  }

  /** What a peer says, for so long: a byte now and then must not hold anybody up beyond that. */
  private static final class TimedInput extends FilterInputStream {

    private final Socket socket;
    private long until;
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

    /** All that is read next comes until then. */
    void until(long then) {
      until = then;
      answerUntil = then;
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
