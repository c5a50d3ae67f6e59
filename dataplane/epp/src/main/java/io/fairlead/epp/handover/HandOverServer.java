package io.fairlead.epp.handover;

import io.fairlead.core.HandOver;
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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import javax.crypto.Mac;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells other pickers that know the secret what this one knows, one at a time. Blocks threads of
 * its own and no event loop; whoever reads slowly is left after {@link #MOST_MILLIS}.
 */
public final class HandOverServer implements AutoCloseable {

  private static final long PAUSE_NANOS = 1_000_000_000;
  private static final Logger LOG = LoggerFactory.getLogger(HandOverServer.class);

  /** Who asks has so long to show that it may. */
  private static final int ASKING_MILLIS = 1_000;

  private static final long MOST_MILLIS = 10_000;
  private static final int BACKLOG = 16;

  /** Connections at a time, those included that have not shown yet that they may ask. */
  private static final int MOST_CONNECTIONS = 16;

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
          "hand-overs can't be served on " + settings.host() + ":" + settings.port() + ": " + e, e);
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
    CountDownLatch shown = new CountDownLatch(1);
    Thread bound = Thread.ofVirtual().start(() -> bound(socket, shown));
    try (socket) {
      answer(socket, shown);
    } catch (IOException | ExecutionException | TimeoutException e) {
      // Anybody can connect and say nothing: that fills no log.
      LOG.debug("a hand-over to {} has ended early: {}", who(socket), e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      bound.interrupt();
      connections.release();
    }
  }

  private static void bound(Socket socket, CountDownLatch shown) {
    try {
      if (shown.await(ASKING_MILLIS, TimeUnit.MILLISECONDS)) {
        Thread.sleep(MOST_MILLIS);
      }
      socket.close();
    } catch (InterruptedException | IOException e) {
      // It is over.
    }
  }

  private static String who(Socket socket) {
    return socket.getRemoteSocketAddress() instanceof InetSocketAddress address
        ? address.getAddress().getHostAddress()
        : "nobody";
  }

  private void answer(Socket socket, CountDownLatch knows)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    DataInputStream in = new DataInputStream(socket.getInputStream());
    DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
    if (in.readInt() != Wire.MAGIC) {
      throw new IOException("it asks for something else");
    }
    if (in.readByte() != Wire.VERSION) {
      out.write(new byte[] {Wire.OTHER_VERSION, Wire.VERSION});
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
    if (!MessageDigest.isEqual(secret.over(Wire.ASKS, asker, own).doFinal(), shown)) {
      throw new IOException("it does not know the secret");
    }
    knows.countDown();
    if (!telling.tryAcquire()) {
      out.writeByte(Wire.BUSY);
      out.flush();
      return;
    }
    try {
      tell(out, secret.over(Wire.TELLS, asker, own), who(socket));
    } finally {
      telling.release();
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
