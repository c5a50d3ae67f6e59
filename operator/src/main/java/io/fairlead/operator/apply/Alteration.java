package io.fairlead.operator.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What admission takes away of a child. Clusters have images come from a mirror, or limits put on
 * autoscalers, and that is theirs to decide; but without its config, its rights, its Service or its
 * policy as they are written, a picker does not serve, or serves anybody.
 */
final class Alteration {
  private Alteration() {}

  /** Whether nothing may be missing of it. */
  static boolean matters(HasMetadata child) {
    return child instanceof ConfigMap
        || child instanceof RoleBinding
        || child instanceof Service
        || child instanceof NetworkPolicy;
  }

  /**
   * The first field of which something is missing; what was added counts for nothing.
   *
   * @param wanted as it was applied
   * @param answer what the API server made of it
   */
  static Optional<String> of(ObjectNode wanted, JsonNode answer) {
    return fields(wanted)
        .filter(field -> !contains(answer.at(field.pointer()), field.value()))
        .map(field -> field.pointer().substring(1).replace('/', '.'))
        .findFirst();
  }

  private record Field(String pointer, JsonNode value) {}

  private static Stream<Field> fields(ObjectNode wanted) {
    return wanted.properties().stream()
        .filter(field -> !field.getKey().equals("metadata"))
        .flatMap(
            field ->
                field.getKey().equals("spec")
                    ? field.getValue().properties().stream().map(inner -> field("/spec/", inner))
                    : Stream.of(field("/", field)));
  }

  private static Field field(String parent, Map.Entry<String, JsonNode> field) {
    return new Field(parent + field.getKey(), field.getValue());
  }

  private static boolean contains(JsonNode all, JsonNode some) {
    if (some.isObject()) {
      return some.properties().stream()
          .allMatch(field -> contains(all.path(field.getKey()), field.getValue()));
    }
    if (some.isArray()) {
      return some.valueStream()
          .allMatch(one -> all.valueStream().anyMatch(other -> contains(other, one)));
    }
    return some.isNull() || all.asText().equals(some.asText());
  }
}
