package io.fairlead.lab.faults;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/** Free ports below the range that connections get theirs from; none twice. */
final class Ports {

  private static final int FIRST = 10_000;
  private static final int END = 30_000;
  private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

  private Ports() {}

  static int free() throws IOException {
    while (GIVEN.size() < (END - FIRST) / 2) {
      int port = ThreadLocalRandom.current().nextInt(FIRST, END);
      if (GIVEN.add(port) && isFree(port)) {
        return port;
      }
    }
    throw new IOException("no free port between %d and %d".formatted(FIRST, END));
  }

  private static boolean isFree(int port) {
    try (ServerSocket probe = new ServerSocket()) {
      probe.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      return true;
    } catch (IOException taken) {
      return false;
    }
  }
}
