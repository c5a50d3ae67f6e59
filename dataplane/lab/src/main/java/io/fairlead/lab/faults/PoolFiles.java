package io.fairlead.lab.faults;

import io.fairlead.crds.config.Criticality;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * What a picker is told of a pool, in each of the forms that one may want.
 *
 * @param home holds the others
 */
record PoolFiles(Path home) {

  /** Asked for under this name; the only model that is configured. */
  static final String MODEL = "load-model";

  /** What its requests are sent as. */
  static final String TARGET = "load-model-v1";

  /** Asked for without being configured. */
  static final String UNCONFIGURED = "load-other";

  /** A folder of resources, the endpoints among them. */
  Path folder() {
    return home.resolve("folder");
  }

  /** The endpoints alone. */
  Path endpoints() {
    return folder().resolve("endpoints.yaml");
  }

  /** A config document, for where resources aren't read. */
  Path config() {
    return home.resolve("config.yaml");
  }

  /** Writes all but the endpoints. */
  void write(Criticality criticality) throws IOException {
    String word =
        criticality.name().charAt(0) + criticality.name().substring(1).toLowerCase(Locale.ROOT);
    Files.createDirectories(folder());
    Files.writeString(
        config(),
        """
        apiVersion: fairlead.io/v1alpha1
        kind: PoolConfig
        pool: {namespace: default, name: load, targetPorts: [8000]}
        models:
        - {name: %s, criticality: %s, targets: [{name: %s, weight: 1}]}
        scheduling: {}
        """
            .formatted(MODEL, word, TARGET));
    Files.writeString(
        folder().resolve("pool.yaml"),
        """
        apiVersion: inference.networking.k8s.io/v1
        kind: InferencePool
        metadata: {name: load}
        spec:
          selector: {matchLabels: {app: stub}}
          targetPorts: [{number: 8000}]
          endpointPickerRef: {name: load-epp, port: {number: 9002}}
        ---
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferenceModel
        metadata: {name: load}
        spec:
          modelName: %s
          criticality: %s
          poolRef: {name: load}
          targetModels: [{name: %s, weight: 1}]
        """
            .formatted(MODEL, word, TARGET));
  }
}
