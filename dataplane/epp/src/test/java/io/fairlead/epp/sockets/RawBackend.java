package io.fairlead.epp.sockets;

import io.fairlead.core.EndpointSpec;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** A model server that does to each connection what the test says. */
public final class RawBackend implements Closeable {

  /** What to do with a request; called again for the next one on the connection. */
  public interface Script {
    void serve(RawHttp connection, RawHttp.Message request) throws Exception;
  }

  /** How to read a request. */
  public interface Reader {
    RawHttp.Message read(RawHttp connection) throws IOException;
  }

  public final String name;
  public final Queue<RawHttp.Message> requests = new ConcurrentLinkedQueue<>();
  public final AtomicInteger connections = new AtomicInteger();
  public final AtomicInteger closed = new AtomicInteger();
  private final ServerSocket server;
  private final Thread acceptor;

  public RawBackend(String name, Script script) throws IOException {
    this(name, RawHttp::read, script);
  }

  public RawBackend(String name, Reader reader, Script script) throws IOException {
    this.name = name;
    server = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
    acceptor =
        Thread.startVirtualThread(
            () -> {
              while (!server.isClosed()) {
                try {
                  Socket socket = server.accept();
                  connections.incrementAndGet();
                  Thread.startVirtualThread(() -> serve(socket, reader, script));
                } catch (IOException e) {
                  return; // closed by the test
                }
              }
            });
  }

  private void serve(Socket socket, Reader reader, Script script) {
    try (RawHttp connection = new RawHttp(socket)) {
      while (true) {
        RawHttp.Message request = reader.read(connection);
        requests.add(request);
        script.serve(connection, request);
      }
    } catch (Exception e) {
      closed.incrementAndGet(); // the gateway closed, or the script did
    }
  }

  public EndpointSpec spec() {
    return new EndpointSpec(name, "1", "127.0.0.1", server.getLocalPort(), Map.of());
  }

  /**
   * Returns when nobody can connect any more: a thread that waits for a connection holds the port
   * open until it has seen that it shall not.
   */
  @Override
  public void close() throws IOException {
    server.close();
    try {
      acceptor.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
