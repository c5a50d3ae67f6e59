package io.fairlead.operator.testing;

import io.fabric8.kubernetes.client.Config;
import io.fairlead.crds.testing.FreePort;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** A way to the API server that can be taken away, and given back, without a word to others. */
public final class Outage implements AutoCloseable {
  private final URI server;
  private final int port;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private volatile @Nullable ServerSocket listening;

  /** Leads to the API server of this client. */
  public Outage(Config there) {
    server = URI.create(there.getMasterUrl());
    try {
      // Of those that the system gives to nobody: it is to be had again when the outage ends.
      port = FreePort.find();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    serve(listen(port));
  }

  /** The same API server by this way. */
  public Config through(Config config) {
    config.setMasterUrl("https://" + server.getHost() + ":" + port + "/");
    return config;
  }

  /** Cuts what is open, and refuses what is new. */
  public synchronized void begin() {
    ServerSocket socket = listening;
    if (socket != null) {
      quietly(socket);
    }
    open.forEach(Outage::quietly);
    open.clear();
  }

  /** The way is there again: at the same port, which somebody else may have had for a moment. */
  public void end() {
    serve(
        Awaitility.await()
            .atMost(Duration.ofSeconds(30))
            .ignoreException(UncheckedIOException.class)
            .until(() -> listen(port), Objects::nonNull));
  }

  @Override
  public void close() {
    begin();
  }

  private ServerSocket listen(int at) {
    try {
      ServerSocket socket = new ServerSocket();
      try {
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(InetAddress.getByName(server.getHost()), at));
      } catch (IOException e) {
        socket.close();
        throw e;
      }
      return socket;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void serve(ServerSocket socket) {
    listening = socket;
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                while (true) {
                  join(socket, socket.accept());
                }
              } catch (IOException e) {
                // Closed: an outage begins.
              }
            });
  }

  private void join(ServerSocket way, Socket client) {
    try {
      Socket upstream = new Socket(server.getHost(), server.getPort());
      if (isOpen(way, client, upstream)) {
        copy(client, upstream);
        copy(upstream, client);
      }
    } catch (IOException e) {
      quietly(client);
    }
  }

  /** What an outage finds half joined it cuts, too. */
  private synchronized boolean isOpen(ServerSocket way, Socket client, Socket upstream) {
    if (way.isClosed()) {
      quietly(client);
      quietly(upstream);
      return false;
    }
    open.add(client);
    open.add(upstream);
    return true;
  }

  private void copy(Socket from, Socket to) {
    Thread.ofVirtual()
        .start(
            () -> {
              try (InputStream in = from.getInputStream();
                  OutputStream out = to.getOutputStream()) {
                in.transferTo(out);
              } catch (IOException e) {
                // One side has gone; the other goes, too.
              } finally {
                quietly(from);
                quietly(to);
                open.remove(from);
                open.remove(to);
              }
            });
  }

  private static void quietly(AutoCloseable socket) {
    try {
      socket.close();
    } catch (Exception e) {
      // It is gone, which was meant.
    }
  }
}
