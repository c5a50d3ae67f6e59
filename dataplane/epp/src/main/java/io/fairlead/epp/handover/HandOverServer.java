package io.fairlead.epp.handover;

import io.fairlead.core.Follower;
import io.fairlead.core.HandOver;
import io.fairlead.core.Route;
import io.fairlead.core.handover.News;
import io.fairlead.epp.handover.Wire.Question;
import io.netty.util.NetUtil;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import javax.crypto.Mac;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells other pickers that know the secret what this one knows, one at a time, and those that
 * follow it what it sends. Blocks threads of its own and no event loop; whoever reads slowly is
 * left after {@link #MOST_MILLIS}.
 */
public final class HandOverServer implements AutoCloseable {

  private static final long PAUSE_NANOS = 1_000_000_000;
  private static final Logger LOG = LoggerFactory.getLogger(HandOverServer.class);

  /** Who asks has so long to show that it may. */
  private static final int ASKING_MILLIS = 1_000;

  private static final long MOST_MILLIS = 10_000;
  private static final int BACKLOG = 16;

  /** Connections at a time, those included that have not shown yet that they may ask. */
  private static final int MOST_CONNECTIONS = 64;

  private final ServerSocket listening;
  private final Path secretFile;

  /** As it was read last; pods outlive a secret. */
  private volatile SharedSecret lastSecret;

  private final HandOverPool pool;
  private final SecureRandom random = new SecureRandom();
  private final Semaphore telling = new Semaphore(1);
  private final Semaphore connections = new Semaphore(MOST_CONNECTIONS);

  private HandOverServer(
      ServerSocket listening, Path secretFile, SharedSecret secret, HandOverPool pool) {
    this.listening = listening;
    this.secretFile = secretFile;
    lastSecret = secret;
    this.pool = pool;
  }

  /**
   * Listens.
   *
   * @throws IllegalStateException if it can't; the message says why
   */
  public static HandOverServer start(HandOverSettings settings, HandOverPool pool) {
    try {
      SharedSecret secret = SharedSecret.read(settings.secretFile());
      ServerSocket listening =
          new ServerSocket(settings.port(), BACKLOG, InetAddress.getByName(settings.host()));
      HandOverServer server = new HandOverServer(listening, settings.secretFile(), secret, pool);
      Thread.ofPlatform().daemon().name("fairlead-handover").start(server::accept);
      return server;
    } catch (IOException e) {
      throw new IllegalStateException(
          "hand-overs can't be served on "
              + Route.destination(settings.host(), settings.port())
              + ": "
              + e,
          e);
    }
  }

  /** The port that was taken. */
  public int port() {
    return listening.getLocalPort();
  }

  @Override
  public void close() throws IOException {
    listening.close();
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket socket = listening.accept();
        if (connections.tryAcquire()) {
          Thread.ofVirtual().start(() -> serve(socket));
        } else {
          socket.close();
        }
      } catch (IOException e) {
        if (!listening.isClosed()) {
          LOG.warn("a picker that asks for a hand-over can't be heard: {}", e.toString());
          LockSupport.parkNanos(PAUSE_NANOS); // out of file descriptors it fails at once, each time
        }
      }
    }
  }

  private void serve(Socket socket) {
    // Neither a byte now and then nor a reader that is slow holds it up: the connection has bounds.
    try (socket;
        Deadline deadline = new Deadline(socket, ASKING_MILLIS)) {
      answer(socket, deadline);
    } catch (IOException | ExecutionException | TimeoutException | RejectedExecutionException e) {
      // Anybody can connect and say nothing: that fills no log.
      LOG.debug("telling {} has ended early: {}", who(socket), e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      connections.release();
    }
  }

  /** Closes a connection that takes longer than it may. */
  private static final class Deadline implements AutoCloseable {

    private final Socket socket;
    private final Thread thread;
    private volatile long at;

    Deadline(Socket socket, long millis) {
      this.socket = socket;
      in(millis);
      thread = Thread.ofVirtual().start(this::watch);
    }

    /** It may take so long from now on; never less than it could before. */
    void in(long millis) {
      at = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    }

    private void watch() {
      try {
        long left = at - System.nanoTime();
        while (left > 0) {
          TimeUnit.NANOSECONDS.sleep(left);
          left = at - System.nanoTime();
        }
        socket.close();
      } catch (InterruptedException | IOException e) {
        // It is over.
      }
    }

    @Override
    public void close() {
      thread.interrupt();
    }
  }

  private static String who(Socket socket) {
    return socket.getRemoteSocketAddress() instanceof InetSocketAddress address
        ? NetUtil.toAddressString(address.getAddress())
        : "nobody";
  }

  private void answer(Socket socket, Deadline deadline)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    DataInputStream in = new DataInputStream(socket.getInputStream());
    DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
    int asked = in.readInt();
    Question question =
        Arrays.stream(Question.values())
            .filter(one -> one.magic == asked)
            .findFirst()
            .orElseThrow(() -> new IOException("it asks for something else"));
    if (in.readByte() != question.version) {
      out.write(new byte[] {Wire.OTHER_VERSION, question.version});
      out.flush();
      // What it has sent with its version is read: a socket that is closed before that may lose
      // what was written to it.
      socket.shutdownOutput();
      in.transferTo(OutputStream.nullOutputStream());
      return;
    }
    byte[] asker = new byte[SharedSecret.NONCE_BYTES];
    in.readFully(asker);
    byte[] own = new byte[SharedSecret.NONCE_BYTES];
    random.nextBytes(own);
    out.writeByte(Wire.CHALLENGE);
    out.write(own);
    out.flush();
    byte[] shown = new byte[SharedSecret.MAC_BYTES];
    in.readFully(shown);
    SharedSecret secret = secret();
    // Takes as long whatever is wrong with it.
    if (!MessageDigest.isEqual(secret.over(question.asks, asker, own).doFinal(), shown)) {
      throw new IOException("it does not know the secret");
    }
    deadline.in(MOST_MILLIS);
    Mac mac = secret.over(question.tells, asker, own);
    switch (question) {
      case HAND_OVER -> handOver(out, mac, who(socket));
      case FOLLOW -> tellOn(out, mac, deadline);
    }
  }

  private void handOver(DataOutputStream out, Mac mac, String to)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    if (!telling.tryAcquire()) {
      out.writeByte(Wire.BUSY);
      out.flush();
      return;
    }
    try {
      tell(out, mac, to);
    } finally {
      telling.release();
    }
  }

  /** One that nobody waits for any more is none: what is sent would be kept for it for ever. */
  private Follower follow() throws InterruptedException, ExecutionException, TimeoutException {
    Future<Follower> begun = pool.follow();
    try {
      return begun.get(MOST_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException | TimeoutException e) {
      if (!begun.cancel(false) && begun.state() == Future.State.SUCCESS) {
        pool.leave(begun.resultNow());
      }
      throw e;
    }
  }

  /** Tells what becomes of requests, for as long as it is heard. */
  private void tellOn(DataOutputStream out, Mac mac, Deadline deadline)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    out.writeByte(Wire.TOLD);
    Follower follower = follow();
    try {
      while (!listening.isClosed()) {
        News news = pool.news(follower).get(MOST_MILLIS, TimeUnit.MILLISECONDS);
        FrameWriter writer = new FrameWriter();
        if (!news.isEmpty()) {
          writer.config(pool.configHash(), pool.hashing());
          writer.news(pool.number(), news);
        }
        byte[] frame = writer.take();
        deadline.in(MOST_MILLIS);
        out.writeInt(frame.length);
        out.write(frame);
        byte[] proof = mac.doFinal(frame);
        mac.update(proof);
        out.write(proof);
        out.flush();
        TimeUnit.NANOSECONDS.sleep(Follower.TOLD_EVERY_NANOS);
      }
    } finally {
      pool.leave(follower);
    }
  }

  /** The one that counts now; the last one where the file can't be read. */
  private SharedSecret secret() {
    try {
      lastSecret = SharedSecret.read(secretFile);
    } catch (IOException e) {
      LOG.debug("the secret that was read before is used", e);
    }
    return lastSecret;
  }

  private void tell(DataOutputStream out, Mac mac, String to)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    long begun = System.nanoTime();
    out.writeByte(Wire.TOLD);
    out.flush();
    FrameWriter writer = new FrameWriter();
    writer.config(pool.configHash(), pool.hashing());
    HandOver handOver =
        pool.begin(Wire.MOST_HASH_BYTES, writer).get(MOST_MILLIS, TimeUnit.MILLISECONDS);
    long bytes = 0;
    try {
      boolean more = true;
      while (more) {
        more = pool.next(handOver).get(MOST_MILLIS, TimeUnit.MILLISECONDS);
        byte[] frame = writer.take();
        if (frame.length > 0) {
          out.writeInt(frame.length);
          out.write(frame);
          mac.update(frame);
          bytes += frame.length;
        }
      }
    } finally {
      pool.stop(handOver);
    }
    out.writeInt(0);
    out.write(mac.doFinal());
    out.flush();
    LOG.info(
        "told a picker at {} what this one knows: {} KiB in {} ms",
        to,
        bytes >> 10,
        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun));
  }
}
