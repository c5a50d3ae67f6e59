package io.fairlead.cli;

import io.fairlead.epp.DataPlane;
import io.fairlead.epp.DataPlaneConfig;
import java.util.concurrent.CountDownLatch;

/** Runs a data plane until the process is told to end, then drains it. */
final class PickerProcess {

  private PickerProcess() {}

  /**
   * Returns only by an exception. SIGTERM and SIGINT end the process: with 0 where the requests in
   * flight came to their end, else with the signal's code.
   */
  static void run(DataPlaneConfig config) throws InterruptedException {
    DataPlane plane = DataPlane.start(config);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  if (plane.drain()) {
                    Runtime.getRuntime().halt(0); // after the hooks the code is the signal's
                  }
                },
                "drain"));
    new CountDownLatch(1).await();
  }

  /** Loads everything and prints what would run; throws with the field path of what is wrong. */
  static int describe(DataPlaneConfig config) {
    System.out.println(ShownText.lines(DataPlane.describe(config)));
    return 0;
  }
}
