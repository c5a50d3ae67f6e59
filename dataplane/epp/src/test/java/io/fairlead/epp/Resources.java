package io.fairlead.epp;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** A folder of resources: a pool, the model {@code chat}, endpoints. */
record Resources(Path folder) {

  /** Writes the pool. */
  Resources pool() {
    return write(
        "pool.yaml",
        """
        apiVersion: inference.networking.k8s.io/v1
        kind: InferencePool
        metadata: {name: pool, namespace: default}
        spec:
          selector: {matchLabels: {app: stub}}
          targetPorts: [{number: 8000}]
          endpointPickerRef: {name: pool-epp, port: {number: 9002}}
        """);
  }

  /** Writes the model; {@code targets} as {@code {name: a, weight: 1}, …}. */
  Resources model(String criticality, String targets) {
    return write(
        "model.yaml",
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferenceModel
        metadata: {name: chat, namespace: default}
        spec:
          modelName: chat
          criticality: %s
          poolRef: {name: pool}
          targetModels: [%s]
        """
            .formatted(criticality, targets));
  }

  /** Writes an endpoint as an EndpointSlice of its own. */
  Resources endpoint(String name, InetSocketAddress address, boolean ready) {
    return write(
        "endpoint-" + name + ".yaml",
        """
        apiVersion: discovery.k8s.io/v1
        kind: EndpointSlice
        metadata: {name: slice-%s, namespace: default}
        addressType: IPv4
        ports: [{name: http, port: %d}]
        endpoints:
          - addresses: ["%s"]
            conditions: {ready: %s}
            targetRef: {kind: Pod, name: %s, uid: uid-%s}
        """
            .formatted(
                name, address.getPort(), address.getAddress().getHostAddress(), ready, name, name));
  }

  /** As editors do: a new file takes the name over. */
  Resources write(String name, String text) {
    try {
      Path temporary = Files.writeString(folder.resolve(name + ".tmp"), text);
      Files.move(temporary, folder.resolve(name), StandardCopyOption.REPLACE_EXISTING);
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
