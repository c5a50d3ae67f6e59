package io.fairlead.crds.testing;

import java.io.IOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for programs that have to be told one: from below the range of those that the system gives
 * away, so that nobody has it by the time that the program listens.
 */
public final class FreePort {
  private static final Set<Integer> FOUND = ConcurrentHashMap.newKeySet();

  private FreePort() {}

  /** Free at all addresses; never the same twice. */
  public static int find() throws IOException {
    while (true) {
      int tried = ThreadLocalRandom.current().nextInt(10_000, 30_000);
      try (ServerSocket free = new ServerSocket(tried)) {
        if (FOUND.add(tried)) {
          return free.getLocalPort();
        }
      } catch (BindException e) {
        // Somebody has it: another one is tried.
      }
    }
  }
}
