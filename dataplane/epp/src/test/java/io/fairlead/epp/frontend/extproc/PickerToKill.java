package io.fairlead.epp.frontend.extproc;

import static org.awaitility.Awaitility.await;

import io.fairlead.epp.DataPlane;
import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.DataPlaneConfig.ExtProc;
import io.fairlead.epp.DataPlaneConfig.Listen;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/** A picker in a process of its own, to be killed or frozen. */
final class PickerToKill implements AutoCloseable {

  private final Process process;
  private final int port;

  private PickerToKill(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /** Returns once it is ready. */
  static PickerToKill start(Path endpoints, boolean leaveAfterPick) throws IOException {
    return start(endpoints, leaveAfterPick, false, 0);
  }

  /** Starts one that may speak TLS, on this port. */
  static PickerToKill start(Path endpoints, boolean leaveAfterPick, boolean tls, int port)
      throws IOException {
    return start(endpoints, leaveAfterPick, tls, port, Duration.ZERO);
  }

  /**
   * Starts one that may speak TLS, on this port.
   *
   * @param lameDuck how long it takes new streams after its end began
   */
  static PickerToKill start(
      Path endpoints, boolean leaveAfterPick, boolean tls, int port, Duration lameDuck)
      throws IOException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                PickerToKill.class.getName(),
                endpoints.toString(),
                Boolean.toString(leaveAfterPick),
                Boolean.toString(tls),
                Integer.toString(port),
                lameDuck.toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    BufferedReader out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      if (line.startsWith("port ")) {
        return new PickerToKill(process, Integer.parseInt(line.substring(5)));
      }
    }
    throw new IllegalStateException("the picker ended before it was ready");
  }

  int port() {
    return port;
  }

  /** As {@code kill -9} does. */
  void kill() {
    process.destroyForcibly();
    process.onExit().join();
  }

  /**
   * Neither runs nor ends, as {@code kill -STOP} does it: that returns before the threads have
   * stopped, and this once each has.
   */
  void freeze() throws IOException, InterruptedException {
    Process kill = new ProcessBuilder("kill", "-STOP", Long.toString(process.pid())).start();
    if (kill.waitFor() != 0) {
      throw new IllegalStateException("kill -STOP failed");
    }
    await("each of its threads stops").ignoreExceptions().until(this::stopped);
  }

  private boolean stopped() throws IOException {
    Path tasks = Path.of("/proc", Long.toString(process.pid()), "task");
    try (Stream<Path> threads = Files.list(tasks)) {
      for (Path thread : threads.toList()) {
        String stat = Files.readString(thread.resolve("stat"));
        if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') {
          return false;
        }
      }
    }
    return true;
  }

  /** Drains, and ends. */
  void terminate() {
    process.destroy();
    process.onExit().join();
  }

  @Override
  public void close() {
    kill();
  }

  /** Runs the picker. */
  public static void main(String[] args) throws Exception {
    DataPlane dataPlane =
        DataPlane.start(
            DataPlaneConfig.builder(new DataPlaneConfig.Files(Path.of(args[0]), null))
                .extProc(
                    new ExtProc(
                        new Listen("127.0.0.1", Integer.parseInt(args[3])),
                        Boolean.parseBoolean(args[2]),
                        null,
                        1 << 20,
                        Duration.parse(args[4]),
                        Boolean.parseBoolean(args[1])))
                .loops(1)
                .build());
    Runtime.getRuntime().addShutdownHook(new Thread(dataPlane::close));
    dataPlane.ready().get();
    System.out.println("port " + dataPlane.extProcPort().orElseThrow());
    Thread.currentThread().join();
  }
}
