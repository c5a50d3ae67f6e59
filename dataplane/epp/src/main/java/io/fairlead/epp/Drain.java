package io.fairlead.epp;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Several frontends drained at the same time, within one bound. */
final class Drain {

  private Drain() {}

  /** Blocks until all are done; interrupted, it cuts what is left. */
  static void all(List<Frontend> frontends, Duration bound) {
    List<Thread> threads = new ArrayList<>();
    for (Frontend frontend : frontends) {
      threads.add(
          Thread.ofPlatform().daemon().name("fairlead-drain").start(() -> frontend.drain(bound)));
    }
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException e) {
      threads.forEach(Thread::interrupt);
      Thread.currentThread().interrupt();
    }
  }
}
