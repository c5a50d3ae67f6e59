package io.fairlead.epp;

import io.fairlead.epp.transport.Transport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A port that is held from the start and listened on only when there is something to say: clients
 * that come earlier are refused by the system, and go elsewhere, where an answer of ours would have
 * to be an error. Safe to use from any thread.
 */
final class LatePort implements Frontend {

  private final int port;
  private final Socket held;
  private final IntFunction<Frontend> server;
  private @Nullable Frontend opened;
  private boolean over;

  private LatePort(Socket held, IntFunction<Frontend> server) {
    this.held = held;
    this.port = held.getLocalPort();
    this.server = server;
  }

  /**
   * Takes the port.
   *
   * @param what for the message, as the server would name itself
   * @param server starts listening on the port that it is given
   * @throws IllegalStateException if it can't be; the message names it, and says why
   */
  static LatePort hold(String what, DataPlaneConfig.Listen at, IntFunction<Frontend> server) {
    Socket held = new Socket(); // bound, it answers nobody
    try {
      held.setReuseAddress(true); // as servers do: else connections of a former process forbid it
      held.bind(new InetSocketAddress(at.host(), at.port()));
      return new LatePort(held, server);
    } catch (IOException e) {
      close(held);
      throw Transport.cannotListen(what, at.host(), at.port(), e);
    }
  }

  /**
   * Begins to listen; does nothing if it does so already or has ended. Not for an event loop.
   *
   * @throws IllegalStateException if somebody else has taken the port meanwhile; to be tried again
   */
  synchronized void open() {
    if (opened == null && !over) {
      close(held);
      opened = server.apply(port);
    }
  }

  @Override
  public int port() {
    return port;
  }

  @Override
  public boolean drain(Duration bound) {
    Frontend serving;
    synchronized (this) {
      over = true;
      close(held);
      serving = opened;
    }
    return serving == null || serving.drain(bound);
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new IllegalStateException("a socket that was only bound can't be closed", e);
    }
  }
}
