package io.fairlead.operator.apply;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.fairlead.operator.observe.Ownership;
import java.util.HashMap;
import java.util.Map;

/** What an object has in the fields that we applied. */
final class OwnedFields {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private OwnedFields() {}

  /** The values by the paths of their fields, as the object's managed fields spell them. */
  static Map<String, JsonNode> of(HasMetadata object, KubernetesSerialization json) {
    JsonNode tree = json.convertValue(object, ObjectNode.class);
    Map<String, JsonNode> values = new HashMap<>();
    object.getMetadata().getManagedFields().stream()
        .filter(fields -> Ownership.FIELD_MANAGER.equals(fields.getManager()))
        .filter(fields -> fields.getSubresource() == null || fields.getSubresource().isEmpty())
        .filter(fields -> fields.getFieldsV1() != null)
        .forEach(
            fields -> collect(fields.getFieldsV1().getAdditionalProperties(), tree, "", values));
    return values;
  }

  private static void collect(
      Map<?, ?> fields, JsonNode within, String path, Map<String, JsonNode> values) {
    fields.forEach(
        (name, below) -> {
          String field = String.valueOf(name);
          JsonNode value = find(field, within);
          if (below instanceof Map<?, ?> map && !map.isEmpty()) {
            collect(map, value, path + "/" + field, values);
          } else if (!field.equals(".")) {
            values.put(path + "/" + field, value);
          }
        });
  }

  /** A field, or the element of a list that has these keys; members of sets have no value. */
  private static JsonNode find(String field, JsonNode within) {
    if (field.startsWith("f:")) {
      return within.path(field.substring(2));
    }
    if (field.startsWith("k:")) {
      JsonNode keys = keys(field.substring(2));
      for (JsonNode element : within) {
        if (keys.properties().stream()
            .allMatch(key -> key.getValue().equals(element.get(key.getKey())))) {
          return element;
        }
      }
    }
    return MissingNode.getInstance();
  }

  private static JsonNode keys(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("the API server names an element of a list by no JSON", e);
    }
  }
}
