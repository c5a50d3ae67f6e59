package io.fairlead.operator.testing;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** An API server that answers as a test says, for what a real one answers too rarely. */
public final class ScriptedApi implements AutoCloseable {
  private final HttpServer server;
  private final KubernetesClient client;

  /** Answers every request by this. */
  public ScriptedApi(HttpHandler answers) throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", answers);
    server.start();
    client =
        new KubernetesClientBuilder()
            .withConfig(
                new ConfigBuilder()
                    .withAutoConfigure(false)
                    .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
                    .withRequestRetryBackoffLimit(0)
                    .build())
            .build();
  }

  /** Asks it, once for each call; closed with it. */
  public KubernetesClient client() {
    return client;
  }

  @Override
  public void close() {
    client.close();
    server.stop(0);
  }
}
