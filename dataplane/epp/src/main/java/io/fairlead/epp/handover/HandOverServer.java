package io.fairlead.epp.handover;

import io.fairlead.core.HandOver;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.MessageDigest;
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

  /** Who asks has so long to say what. */
  private static final int ASKING_MILLIS = 1_000;

  private static final long MOST_MILLIS = 10_000;
  private static final int BACKLOG = 16;

  /** Connections at a time, those included that have not shown yet that they may ask. */
  private static final int MOST_CONNECTIONS = 16;

  private final ServerSocket listening;
  private final SharedSecret secret;
  private final HandOverPool pool;
  private final Semaphore telling = new Semaphore(1);
  private final Semaphore connections = new Semaphore(MOST_CONNECTIONS);

  private HandOverServer(ServerSocket listening, SharedSecret secret, HandOverPool pool) {
    this.listening = listening;
    this.secret = secret;
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
      HandOverServer server = new HandOverServer(listening, secret, pool);
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
    // Writing has no bound of its own: the connection has one.
    Thread bound =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    Thread.sleep(MOST_MILLIS);
                    socket.close();
                  } catch (InterruptedException | IOException e) {
                    // It is over.
                  }
                });
    try (socket) {
      answer(socket);
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

  private static String who(Socket socket) {
    return socket.getRemoteSocketAddress() instanceof InetSocketAddress address
        ? address.getAddress().getHostAddress()
        : "nobody";
  }

  private void answer(Socket socket)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    socket.setSoTimeout(ASKING_MILLIS);
    DataInputStream in = new DataInputStream(socket.getInputStream());
    DataOutputStream out = new DataOutputStream(socket.getOutputStream());
    if (in.readInt() != Wire.MAGIC) {
      throw new IOException("it asks for something else");
    }
    byte version = in.readByte();
    if (version != Wire.VERSION) {
      out.writeByte(Wire.OTHER_VERSION);
      out.writeByte(Wire.VERSION);
      return;
    }
    byte[] nonce = new byte[SharedSecret.NONCE_BYTES];
    in.readFully(nonce);
    byte[] shown = new byte[SharedSecret.MAC_BYTES];
    in.readFully(shown);
    // Takes as long whatever is wrong with it.
    if (!MessageDigest.isEqual(secret.over(Wire.ASKS, nonce).doFinal(), shown)) {
      throw new IOException("it does not know the secret");
    }
    if (!telling.tryAcquire()) {
      out.writeByte(Wire.BUSY);
      return;
    }
    try {
      tell(out, secret.over(Wire.TELLS, nonce), who(socket));
    } finally {
      telling.release();
    }
  }

  private void tell(DataOutputStream out, Mac mac, String to)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    long begun = System.nanoTime();
    out.writeByte(Wire.TOLD);
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
