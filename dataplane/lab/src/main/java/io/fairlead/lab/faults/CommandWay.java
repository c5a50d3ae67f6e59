package io.fairlead.lab.faults;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * A way made of programs, started in order; the last one takes the requests.
 *
 * <p>Their commands name what they get in braces: {@code {folder}}, {@code {endpoints}} and {@code
 * {config}} are files of the pool, {@code {port}}, {@code {grpc}}, {@code {health}} and {@code
 * {metrics}} free ports.
 *
 * @param commands for a shell
 * @param patience until all of them listen
 */
record CommandWay(String name, List<String> commands, Duration patience) implements Way {

  private static final List<String> PORTS = List.of("port", "grpc", "health", "metrics");
  private static final long BETWEEN_TRIES_MILLIS = 50;
  private static final int LOG_LINES = 10;

  /** What bash takes as it is. */
  private static final Pattern PLAIN = Pattern.compile("[\\w./:@+-]+");

  CommandWay {
    commands = List.copyOf(commands);
  }

  @Override
  public Started start(PoolFiles files) throws IOException, InterruptedException {
    Map<String, String> values = new LinkedHashMap<>();
    values.put("folder", files.folder().toString());
    values.put("endpoints", files.endpoints().toString());
    values.put("config", files.config().toString());
    for (String port : PORTS) {
      values.put(port, Integer.toString(Ports.free()));
    }
    var started = new Programs(values);
    try {
      for (String command : commands) {
        started.run(filled(command, values), files.home().resolve(name + ".log"));
        started.awaitPorts(command);
      }
      return started;
    } catch (IOException | InterruptedException | RuntimeException e) {
      started.close();
      throw e;
    }
  }

  /** For bash, whatever is in the values: the path of a folder may have spaces. */
  static String filled(String command, Map<String, String> values) {
    for (Map.Entry<String, String> value : values.entrySet()) {
      String word =
          PLAIN.matcher(value.getValue()).matches()
              ? value.getValue()
              : "'" + value.getValue().replace("'", "'\\''") + "'";
      command = command.replace("{" + value.getKey() + "}", word);
    }
    return command;
  }

  private final class Programs implements Started {

    private final Map<String, String> values;
    private final List<Process> running = new ArrayList<>();
    private final Thread lastResort = new Thread(this::stop, "stop-programs");
    private Path log = Path.of("");

    Programs(Map<String, String> values) {
      this.values = values;
      Runtime.getRuntime().addShutdownHook(lastResort);
    }

    void run(String command, Path log) throws IOException {
      this.log = log;
      running.add(
          new ProcessBuilder("bash", "-c", "exec " + command)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
              .start());
    }

    /** Waits until the program that was started last listens on the ports that it was given. */
    void awaitPorts(String command) throws IOException, InterruptedException {
      long end = System.nanoTime() + patience.toNanos();
      for (String port : PORTS) {
        // A picker's ports come before the proxy's, to which it is only told where they are.
        boolean given = command.contains("{" + port + "}");
        while (given && !isOpen(Integer.parseInt(values.getOrDefault(port, "0")))) {
          if (!running.getLast().isAlive() || System.nanoTime() > end) {
            throw new IOException(
                "%s: nothing listens at {%s} of: %s%n%s"
                    .formatted(name, port, command, String.join("\n", lastLines())));
          }
          Thread.sleep(BETWEEN_TRIES_MILLIS);
        }
      }
    }

    private List<String> lastLines() throws IOException {
      List<String> lines = Files.readAllLines(log);
      return lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size());
    }

    @Override
    public URI url() {
      return URI.create("http://127.0.0.1:" + values.get("port"));
    }

    @Override
    public URI metrics() {
      return URI.create("http://127.0.0.1:" + values.get("metrics") + "/metrics");
    }

    @Override
    public void close() {
      stop();
      try {
        Runtime.getRuntime().removeShutdownHook(lastResort);
      } catch (IllegalStateException shuttingDown) {
        // Then it runs, or has run.
      }
    }

    private void stop() {
      running.forEach(Process::destroy);
      for (Process process : running) {
        try {
          if (!process.waitFor(5, TimeUnit.SECONDS)) {
            process.destroyForcibly();
          }
        } catch (InterruptedException e) {
          process.destroyForcibly();
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  private static boolean isOpen(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException closed) {
      return false;
    }
  }
}
