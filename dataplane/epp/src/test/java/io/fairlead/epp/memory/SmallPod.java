package io.fairlead.epp.memory;

import io.fairlead.epp.DataPlane;
import io.fairlead.epp.DataPlaneConfig;
import io.netty.util.internal.PlatformDependent;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A data plane in a process of its own, with the heap that the image gives it in a container of
 * some size.
 */
public final class SmallPod implements AutoCloseable {

  private final Process process;
  private final BlockingQueue<Long> memory = new LinkedBlockingQueue<>();
  private final int[] ports;
  private final HttpClient http = HttpClient.newHttpClient();

  private SmallPod(Process process, int[] ports, BufferedReader out) {
    this.process = process;
    this.ports = ports;
    Thread.startVirtualThread(
        () ->
            out.lines()
                .filter(line -> line.startsWith("memory "))
                .forEach(line -> memory.add(Long.parseLong(line.substring(7)))));
  }

  /**
   * What runs in the process: tells its ports, for each line of its input how many bytes of memory
   * are in use, and ends with its input.
   */
  static final class Main {

    private Main() {}

    public static void main(String[] args) throws Exception {
      var source = new DataPlaneConfig.Files(Path.of(args[0]), Path.of(args[1]));
      try (DataPlane plane =
          DataPlane.start(
              DataPlaneConfig.builder(source)
                  .gateway("127.0.0.1", 0)
                  .extProc(
                      new DataPlaneConfig.ExtProc(
                          new DataPlaneConfig.Listen("127.0.0.1", 0),
                          false,
                          null,
                          DataPlaneConfig.DEFAULT_MAX_BODY_BYTES))
                  .admin("127.0.0.1", 0)
                  .loops(2)
                  .build())) {
        plane.ready().get(60, TimeUnit.SECONDS);
        System.out.println(
            "ports "
                + plane.gatewayPort().orElseThrow()
                + " "
                + plane.extProcPort().orElseThrow()
                + " "
                + plane.adminPort().orElseThrow());
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (in.readLine() != null) {
          System.gc();
          long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
          System.out.println("memory " + (heap + PlatformDependent.usedDirectMemory()));
        }
      }
    }
  }

  /**
   * Starts one with these endpoints and that config.
   *
   * @param mebibytes of its container
   */
  public static SmallPod start(Path endpoints, Path config, int mebibytes) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.add("-XX:MaxRAM=" + mebibytes + "m");
    command.add("@../../hack/dataplane.options"); // those of the image
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    command.add(endpoints.toString());
    command.add(config.toString());
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    BufferedReader out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      if (line.startsWith("ports ")) {
        String[] told = line.split(" ", -1);
        return new SmallPod(
            process,
            new int[] {
              Integer.parseInt(told[1]), Integer.parseInt(told[2]), Integer.parseInt(told[3])
            },
            out);
      }
    }
    throw new IllegalStateException("the process ended before it was ready");
  }

  public int gatewayPort() {
    return ports[0];
  }

  public int extProcPort() {
    return ports[1];
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** A value of {@code /metrics}. */
  public double metric(String name) throws IOException, InterruptedException {
    String page =
        http.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + ports[2] + "/metrics"))
                    .build(),
                HttpResponse.BodyHandlers.ofString())
            .body();
    return page.lines()
        .filter(line -> line.startsWith(name + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no " + name + " in " + page));
  }

  /** Bytes in use now, garbage left out: of the heap, and of buffers outside of it. */
  public long memoryBytes() throws IOException, InterruptedException {
    process.getOutputStream().write('\n');
    process.getOutputStream().flush();
    Long bytes = memory.poll(60, TimeUnit.SECONDS);
    if (bytes == null) {
      throw new IllegalStateException("the process does not answer");
    }
    return bytes;
  }

  /** The most that it had in memory so far, in bytes. */
  public long peakBytes() throws IOException {
    return Files.readAllLines(Path.of("/proc/" + process.pid() + "/status")).stream()
        .filter(line -> line.startsWith("VmHWM:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
        .findFirst()
        .orElseThrow();
  }

  @Override
  public void close() throws IOException {
    http.close();
    process.getOutputStream().close();
    try {
      if (!process.waitFor(60, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
