package io.fairlead.cli;

import io.fairlead.epp.DataPlane;
import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.DataPlaneConfig.ExtProc;
import io.fairlead.epp.DataPlaneConfig.Listen;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code fairlead train}: starts, serves requests of its own through both frontends, and ends. A
 * JVM that is told to write down what it loaded and compiled ({@code -XX:AOTCacheOutput}) has
 * something to write down then.
 */
@Command(
    name = "train",
    hidden = true,
    description = "Serves requests of its own for a while and ends: a run to make an AOT cache of.")
final class TrainCommand implements Callable<Integer> {

  private static final String LOOPBACK = "127.0.0.1";

  @Option(
      names = "--for",
      description = "How long.",
      converter = Tuning.GoDuration.class,
      defaultValue = "12s")
  private Duration time = Duration.ofSeconds(12);

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path endpoints = Files.createTempFile("endpoints", ".yaml");
    Files.writeString(
        endpoints, "endpoints:\n- {name: nobody, address: " + LOOPBACK + ", port: 1}\n");
    DataPlaneConfig config =
        DataPlaneConfig.builder(new DataPlaneConfig.Files(endpoints, null))
            .gateway(LOOPBACK, 0)
            .extProc(
                new ExtProc(
                    new Listen(LOOPBACK, 0), true, null, DataPlaneConfig.DEFAULT_MAX_BODY_BYTES))
            .health(LOOPBACK, 0)
            .admin(LOOPBACK, 0)
            .warmUp(time)
            .drain(Duration.ZERO)
            .build();
    try (DataPlane plane = DataPlane.start(config)) {
      plane.ready().get();
      readPages(plane.adminPort().orElseThrow());
    } catch (ExecutionException e) {
      throw new IllegalStateException("it did not get ready", e);
    } finally {
      Files.delete(endpoints);
    }
    return 0;
  }

  private static void readPages(int port) throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      for (String page : List.of("metrics", "readyz", "healthz", "debug/status")) {
        URI uri = URI.create("http://%s:%d/%s".formatted(LOOPBACK, port, page));
        client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.discarding());
      }
    }
  }
}
