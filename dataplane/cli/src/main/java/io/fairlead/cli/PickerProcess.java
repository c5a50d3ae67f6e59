package io.fairlead.cli;

import io.fairlead.epp.DataPlane;
import io.fairlead.epp.DataPlaneConfig;
import java.util.concurrent.CountDownLatch;

/** Runs a data plane until the process is told to end, then drains it. */
final class PickerProcess {

  private PickerProcess() {}

  /** Returns when SIGTERM or SIGINT came and the requests in flight are done. */
  static void run(DataPlaneConfig config) throws InterruptedException {
    DataPlane plane = DataPlane.start(config);
    var ended = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  plane.close();
                  ended.countDown();
                },
                "drain"));
    ended.await();
  }

  /** Loads everything and prints what would run; throws with the field path of what is wrong. */
  static int describe(DataPlaneConfig config) {
    System.out.println(ShownText.lines(DataPlane.describe(config)));
    return 0;
  }
}
