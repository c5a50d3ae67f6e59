package io.fairlead.epp;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Several frontends drained at the same time, within one bound. */
final class Drain {

  private Drain() {}

  /**
   * Blocks until all are done. Interrupted, it returns: what has not ended by then is cut off when
   * the loops end.
   *
   * @return whether all finished what they had
   */
  static boolean all(List<Frontend> frontends, Duration bound) {
    AtomicInteger finished = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (Frontend frontend : frontends) {
      threads.add(
          Thread.ofPlatform()
              .daemon()
              .name("fairlead-drain")
              .start(
                  () -> {
                    if (frontend.drain(bound)) {
                      finished.incrementAndGet();
                    }
                  }));
    }
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException e) {
      threads.forEach(Thread::interrupt);
      Thread.currentThread().interrupt();
    }
    return finished.get() == frontends.size();
  }
}
