package io.fairlead.epp.memory;

import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A {@link SmallPod}, its clients, and its only server: that drops the bodies it reads, and keeps
 * its answers back until {@link #answer()}.
 */
public final class PodWithServer implements AutoCloseable {

  public final RawBackend server;
  public final SmallPod pod;

  private final CountDownLatch answers;
  private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();

  private PodWithServer(RawBackend server, SmallPod pod, CountDownLatch answers) {
    this.server = server;
    this.pod = pod;
    this.answers = answers;
  }

  /**
   * Starts both.
   *
   * @param folder for what the pod reads
   * @param mebibytes of the pod
   * @param flowControl whether requests wait for room, of which the server has none until it
   *     answers
   */
  public static PodWithServer start(Path folder, int mebibytes, boolean flowControl)
      throws IOException {
    CountDownLatch answers = new CountDownLatch(1);
    RawBackend server =
        new RawBackend(
            "a",
            PodWithServer::readAndDrop,
            (connection, request) -> {
              if (request.start().startsWith("POST")) {
                answers.await();
              }
              connection.respond(200, "content-type: application/json\r\n", "{}");
            });
    Path endpoints = folder.resolve("endpoints.yaml");
    Files.writeString(
        endpoints,
        "endpoints: [{name: a, address: 127.0.0.1, port: %d}]\n".formatted(server.spec().port()));
    Path config = folder.resolve("config.yaml");
    Files.writeString(
        config,
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha1
        kind: EndpointPickerConfig
        featureGates: [flowControl=%s]
        """
            .formatted(flowControl));
    return new PodWithServer(server, SmallPod.start(endpoints, config, mebibytes), answers);
  }

  private static RawHttp.Message readAndDrop(RawHttp connection) throws IOException {
    RawHttp.Message head = connection.readHead();
    if (head.header("transfer-encoding").equals("chunked")) {
      connection.readChunkToEnd();
    } else {
      String length = head.header("content-length");
      connection.skip(length.isEmpty() ? 0 : Long.parseLong(length));
    }
    return head;
  }

  /** Runs a client on a thread of its own. */
  public Future<RawHttp.Message> client(Callable<RawHttp.Message> client) {
    return clients.submit(client);
  }

  /** Lets the server answer, from now on. */
  public void answer() {
    answers.countDown();
  }

  @Override
  public void close() throws IOException {
    answer();
    clients.close();
    pod.close();
    server.close();
  }
}
