package io.fairlead.epp.frontend.extproc;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A real Envoy in front of a picker, set up as by {@code hack/envoy}. */
final class Envoy implements AutoCloseable {

  private static final Pattern LISTENER = Pattern.compile("http::127\\.0\\.0\\.1:(\\d+)");

  private final Process process;
  private final String admin;
  private final URI url;

  private Envoy(Process process, String admin, URI url) {
    this.process = process;
    this.admin = admin;
    this.url = url;
  }

  static Envoy start(int pickerPort, boolean tls, Path folder)
      throws IOException, InterruptedException {
    return start(pickerPort, tls, folder, config -> config);
  }

  /**
   * Starts one that is set up otherwise.
   *
   * @param edit of the bootstrap that {@code hack/envoy config} prints
   */
  static Envoy start(int pickerPort, boolean tls, Path folder, UnaryOperator<String> edit)
      throws IOException, InterruptedException {
    List<String> print =
        new ArrayList<>(List.of("config", "--ext-proc", "127.0.0.1:" + pickerPort, "--port", "0"));
    print.addAll(List.of("--admin-port", "0"));
    if (tls) {
      print.add("--tls");
    }
    return start(edit.apply(printed(print)), folder);
  }

  /** Starts one with this bootstrap, whose admin server and listener take free ports. */
  static Envoy start(String bootstrap, Path folder) throws IOException, InterruptedException {
    Path config = Files.createTempFile(folder, "envoy", ".yaml");
    Files.writeString(config, bootstrap);
    Path adminAddress = Files.createTempFile(folder, "admin", ".txt");
    String program = System.getProperty("fairlead.envoy", "");
    List<String> command =
        List.of(
            program.isEmpty() ? printed(List.of("path")).strip() : program,
            "--config-path",
            config.toString(),
            "--disable-hot-restart",
            "--concurrency",
            "1",
            "--log-level",
            "warning",
            "--admin-address-path",
            adminAddress.toString());
    Path log = folder.resolve("envoy.log");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    Process process = builder.start();
    try {
      await("Envoy's admin address")
          .atMost(Duration.ofMinutes(2))
          .until(() -> !process.isAlive() || Files.size(adminAddress) > 0);
      if (!process.isAlive()) {
        throw new IllegalStateException(
            "Envoy did not start; ./hack/envoy path fetches one, or set -Dfairlead.envoy=PROGRAM:\n"
                + Files.readString(log));
      }
      String admin = "http://" + Files.readString(adminAddress).strip();
      return new Envoy(process, admin, URI.create("http://127.0.0.1:" + listener(admin)));
    } catch (RuntimeException | IOException e) {
      process.destroy();
      throw e;
    }
  }

  /** What {@code hack/envoy} prints. */
  private static String printed(List<String> arguments) throws IOException, InterruptedException {
    Path script = Path.of("../../hack/envoy").toAbsolutePath().normalize();
    if (!Files.isExecutable(script)) {
      throw new IllegalStateException(script + " is missing: run this test in its module");
    }
    List<String> command = new ArrayList<>(List.of(script.toString()));
    command.addAll(arguments);
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IllegalStateException(command + " failed");
    }
    return output;
  }

  /** Where clients send requests. */
  URI url() {
    return url;
  }

  /** The admin server's counters and gauges whose name matches. */
  String stats(String filter) throws IOException, InterruptedException {
    return get(admin + "/stats?filter=" + filter);
  }

  private static String listener(String admin) throws IOException, InterruptedException {
    String[] port = new String[1];
    await("Envoy's listener")
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              Matcher matcher = LISTENER.matcher(get(admin + "/listeners"));
              port[0] = matcher.find() ? matcher.group(1) : "";
              return !port[0].isEmpty();
            });
    return port[0];
  }

  private static String get(String address) throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
          .send(HttpRequest.newBuilder(URI.create(address)).build(), BodyHandlers.ofString())
          .body();
    }
  }

  @Override
  public void close() {
    process.destroy();
    process.onExit().join();
  }
}
