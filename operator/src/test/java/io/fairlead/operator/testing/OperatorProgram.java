package io.fairlead.operator.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.operator.FairleadOperator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;

/** The operator as a process of its own, with its ServiceAccount's rights. */
public final class OperatorProgram implements AutoCloseable {
  /** Much longer than it takes from its start to its first look, also on a machine that is busy. */
  public static final Duration STARTS = Duration.ofMinutes(3);

  private static final Pattern PORT = Pattern.compile("health and metrics on port (\\d+)");

  private final Process process;
  private final Path log;

  private OperatorProgram(Process process, Path log) {
    this.process = process;
    this.log = log;
  }

  /**
   * Starts it.
   *
   * @param name what the API server's audit log calls it
   * @param kubeConfig of an administrator, who takes the operator's part
   * @param namespace where its Lease is
   * @param folder for its files
   * @param arguments of its command line
   */
  public static OperatorProgram start(
      String name, String kubeConfig, String namespace, Path folder, String... arguments) {
    return start(
        List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
        name,
        kubeConfig,
        namespace,
        folder,
        arguments);
  }

  /**
   * Starts it with these options of the JVM.
   *
   * @see #start(String, String, String, Path, String...)
   */
  public static OperatorProgram start(
      List<String> options,
      String name,
      String kubeConfig,
      String namespace,
      Path folder,
      String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
    command.addAll(options);
    command.addAll(
        List.of(
            "-Dkubernetes.user.agent=" + name,
            "-Dkubernetes.impersonate.username=" + Installed.OPERATOR,
            "-cp",
            // Jars, where a cache that was made of them is to be used.
            System.getProperty(
                "fairlead.operator.classpath", System.getProperty("java.class.path")),
            FairleadOperator.class.getName(),
            "--log-format",
            "plain"));
    command.addAll(List.of(arguments));
    if (!command.contains("--port")) {
      command.addAll(List.of("--port", "0"));
    }
    try {
      Path config = Files.writeString(folder.resolve(name + ".kubeconfig"), kubeConfig);
      Path log = folder.resolve(name + ".log");
      ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
      builder.redirectOutput(log.toFile());
      builder.environment().put("KUBECONFIG", config.toString());
      builder.environment().put("POD_NAMESPACE", namespace);
      builder.environment().put("POD_NAME", name);
      return new OperatorProgram(builder.start(), log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until it looks after pools, or has ended, which is an error. */
  public void awaitRunning(Duration atMost) {
    Awaitility.await()
        .atMost(atMost)
        .pollInterval(Duration.ofMillis(20))
        .until(() -> !isAlive() || log().contains("controllers are running"));
    assertThat(isAlive()).as(log()).isTrue();
  }

  /** Tells it to end, as a kubelet does. */
  public void terminate() {
    process.destroy();
  }

  /** Ends it in the middle of whatever it does. */
  public void kill() {
    process.destroyForcibly();
  }

  /** Stops it where it is. */
  public void freeze() {
    signal("STOP");
  }

  /** Lets it go on, as if no time had passed. */
  public void thaw() {
    signal("CONT");
  }

  private void signal(String name) {
    try {
      int code =
          new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
      if (code != 0) {
        throw new IllegalStateException("kill -" + name + " failed: " + log());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /**
   * Its exit code, once it has ended.
   *
   * @throws IllegalStateException with what it logged when it doesn't end
   */
  public int code() {
    try {
      if (!process.waitFor(STARTS)) {
        throw new IllegalStateException("still running: " + log());
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Whether it has not ended. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** A number of kibibytes as Linux tells it of the process, such as {@code VmRSS}. */
  public long status(String name) {
    try {
      return Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status")).stream()
          .filter(line -> line.startsWith(name + ":"))
          .map(line -> line.replaceAll("[^0-9]", ""))
          .mapToLong(Long::parseLong)
          .findFirst()
          .orElseThrow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What it has used of CPUs so far, in seconds. */
  public double cpuSeconds() {
    return process.info().totalCpuDuration().orElseThrow().toMillis() / 1000.0;
  }

  /** The number of its process. */
  public long pid() {
    return process.pid();
  }

  /** The sum of a metric over its labels, as it is scraped. */
  public double metric(String name) {
    Matcher port = PORT.matcher(log());
    assertThat(port.find()).as(log()).isTrue();
    URI page = URI.create("http://127.0.0.1:%s/metrics".formatted(port.group(1)));
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString())
          .body()
          .lines()
          .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
          .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
          .sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** What it logged. */
  public String log() {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Also of a process that is frozen. */
  @Override
  public void close() {
    process.destroyForcibly();
  }
}
