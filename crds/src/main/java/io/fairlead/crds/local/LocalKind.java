package io.fairlead.crds.local;

import com.fasterxml.jackson.databind.JsonNode;
import io.fairlead.crds.document.Schema;
import io.fairlead.crds.document.Schemas;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A kind that local files may hold.
 *
 * @param type which of them
 * @param schema what its objects look like
 */
record LocalKind(Type type, Schema schema) {
  private static final List<LocalKind> ALL =
      List.of(
          new LocalKind(Type.INFERENCE_POOL, Schemas.resource("inferencepools")),
          new LocalKind(Type.INFERENCE_MODEL, Schemas.resource("inferencemodels")),
          new LocalKind(Type.ENDPOINT_PICKER, Schemas.resource("endpointpickers")),
          new LocalKind(Type.ENDPOINT_SLICE, Schemas.kubernetes("endpoint-slice")));

  /** The kinds by their wire names. */
  enum Type {
    INFERENCE_POOL("inference.networking.k8s.io/v1", "InferencePool"),
    INFERENCE_MODEL("inference.networking.x-k8s.io/v1alpha2", "InferenceModel"),
    ENDPOINT_PICKER("fairlead.io/v1alpha1", "EndpointPicker"),
    ENDPOINT_SLICE("discovery.k8s.io/v1", "EndpointSlice");

    private final String apiVersion;
    private final String kind;

    Type(String apiVersion, String kind) {
      this.apiVersion = apiVersion;
      this.kind = kind;
    }
  }

  static Optional<LocalKind> of(JsonNode object) {
    String apiVersion = object.path("apiVersion").asText();
    String kind = object.path("kind").asText();
    return ALL.stream()
        .filter(k -> k.type.apiVersion.equals(apiVersion) && k.type.kind.equals(kind))
        .findFirst();
  }

  static String expected() {
    return ALL.stream()
        .map(k -> k.type.kind + " (" + k.type.apiVersion + ")")
        .collect(Collectors.joining(", "));
  }
}
