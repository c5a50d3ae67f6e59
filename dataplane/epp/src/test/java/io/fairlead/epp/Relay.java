package io.fairlead.epp;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A port before another: cuts every connection while it is not open, and passes them on when. */
final class Relay implements AutoCloseable {

  private final ServerSocket server = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final AtomicInteger refused = new AtomicInteger();
  private final String host;
  private final int port;
  private volatile boolean open;

  Relay(String host, int port) throws IOException {
    this.host = host;
    this.port = port;
    Thread.startVirtualThread(this::accept);
  }

  int port() {
    return server.getLocalPort();
  }

  /** Connections cut so far. */
  int refused() {
    return refused.get();
  }

  void open() {
    open = true;
  }

  /** Ends the connections that there are, and cuts those that come. */
  synchronized void shut() throws IOException {
    open = false;
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  /** Whether it is open, and ends this one when it is shut. */
  private synchronized boolean take(Socket client) {
    return open && sockets.add(client);
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket client = server.accept();
        if (!take(client)) {
          refused.incrementAndGet();
          client.close();
          continue;
        }
        Socket target = new Socket(host, port);
        sockets.add(target);
        Thread.startVirtualThread(() -> copy(client, target));
        Thread.startVirtualThread(() -> copy(target, client));
      } catch (IOException e) {
        return; // closed by the test
      }
    }
  }

  private static void copy(Socket from, Socket to) {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      in.transferTo(out);
    } catch (IOException e) {
      // One side is gone; both are closed now.
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
