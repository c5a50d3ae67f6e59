package io.fairlead.epp.memory;

import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.RejectedExecutionException;

/**
 * What somebody in line waits for.
 *
 * @param share that it is a part of
 * @param home where {@code granted} runs
 */
record Claim(Share share, long bytes, EventExecutor home, Runnable whenGranted) {

  /** The bytes are taken; tells so. */
  void granted() {
    try {
      home.execute(whenGranted);
    } catch (RejectedExecutionException e) {
      share.force(-bytes); // nobody is left to use them; the line is being served just now
    }
  }
}
