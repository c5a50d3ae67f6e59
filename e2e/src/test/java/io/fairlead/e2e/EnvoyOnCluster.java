package io.fairlead.e2e;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeAddress;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.e2e.cluster.Checkout;
import io.fairlead.e2e.cluster.Cluster;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A real Envoy in the cluster, with the sample pool's picker as its ext_proc server. */
final class EnvoyOnCluster {

  private static final String NAME = "envoy";
  private static final int PORT = 8080;

  private EnvoyOnCluster() {}

  /** Starts it and returns where clients reach it once it listens. */
  static URI start(Cluster cluster, KubernetesClient client) {
    Checkout checkout = Checkout.find();
    checkout.run("images", "--no-load", "envoy");
    cluster.loadImage(checkout.root().resolve("target/images/envoy.tar"));
    String bootstrap =
        checkout.run(
            "envoy",
            "config",
            "--ext-proc",
            "sample-epp." + Installation.NAMESPACE + ".svc.cluster.local:9002",
            "--tls",
            "--address",
            "0.0.0.0",
            "--port",
            Integer.toString(PORT));
    client
        .resource(
            new ConfigMapBuilder()
                .withNewMetadata()
                .withName(NAME)
                .withNamespace(Installation.NAMESPACE)
                .endMetadata()
                .addToData("bootstrap.yaml", bootstrap)
                .build())
        .serverSideApply();
    client.load(EnvoyOnCluster.class.getResourceAsStream("/envoy.yaml")).serverSideApply();
    client
        .apps()
        .deployments()
        .inNamespace(Installation.NAMESPACE)
        .withName(NAME)
        .waitUntilReady(5, TimeUnit.MINUTES);
    int nodePort =
        client
            .services()
            .inNamespace(Installation.NAMESPACE)
            .withName(NAME)
            .require()
            .getSpec()
            .getPorts()
            .getFirst()
            .getNodePort();
    String address = nodeAddress(client);
    // The pod is ready before every node has been told to lead the port there.
    await().atMost(Duration.ofMinutes(1)).until(() -> accepts(address, nodePort));
    return URI.create("http://" + address + ":" + nodePort);
  }

  private static boolean accepts(String address, int port) {
    try (var socket = new Socket()) {
      socket.connect(new InetSocketAddress(address, port), 1_000);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Takes it away again. */
  static void stop(KubernetesClient client) {
    client.load(EnvoyOnCluster.class.getResourceAsStream("/envoy.yaml")).delete();
    client.configMaps().inNamespace(Installation.NAMESPACE).withName(NAME).delete();
  }

  private static String nodeAddress(KubernetesClient client) {
    Node node = client.nodes().list().getItems().getFirst();
    return node.getStatus().getAddresses().stream()
        .filter(address -> address.getType().equals("InternalIP"))
        .map(NodeAddress::getAddress)
        .findFirst()
        .orElseThrow();
  }
}
