package io.fairlead.epp.sockets;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;

/**
 * A port of the loopback that refuses connections for as long as this is open: it is taken, so that
 * no other test gets it, and nobody listens there.
 */
public final class ClosedPort implements Closeable {
  private final Socket holding = new Socket();

  public ClosedPort() throws IOException {
    holding.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  public int number() {
    return holding.getLocalPort();
  }

  @Override
  public void close() throws IOException {
    holding.close();
  }
}
