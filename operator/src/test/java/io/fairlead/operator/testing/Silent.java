package io.fairlead.operator.testing;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;

/** Nobody answers who is asked for objects of one kind. */
public final class Silent implements AutoCloseable {

  /** How long a request waits for an answer: longer than pools wait for a kind. */
  private static final int PATIENCE_MILLIS = 4000;

  private final ServerSocket socket;
  private final String kind;

  /**
   * Takes a port on which nobody speaks.
   *
   * @param kind plural
   */
  public Silent(String kind) throws IOException {
    this.kind = kind;
    socket = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
  }

  /** May do what the operator's ServiceAccount may, but learns nothing of the kind. */
  public KubernetesClient operator(Installed cluster) {
    Config account = cluster.account(Installed.NAMESPACE, "fairlead-operator");
    account.setRequestTimeout(PATIENCE_MILLIS);
    account.setConnectionTimeout(PATIENCE_MILLIS);
    return new KubernetesClientBuilder()
        .withConfig(account)
        .withHttpClientBuilderConsumer(
            http -> http.addOrReplaceInterceptor("silent", new Elsewhere()))
        .build();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  private final class Elsewhere implements Interceptor {
    @Override
    public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
      String path = request.uri().getPath();
      if (path.contains("/" + kind)) {
        builder.uri(URI.create("https://127.0.0.1:" + socket.getLocalPort() + path));
      }
    }
  }
}
