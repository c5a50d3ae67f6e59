package io.fairlead.epp.openai;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.crds.config.ModelConfig;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The models that a client may ask for: those that are configured, and those that the endpoints
 * serve, adapters included, since a name that is not configured is passed on as it is.
 */
public final class ModelList {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Map<String, ObjectNode> entries = new LinkedHashMap<>();
  private final byte[] json;

  /**
   * The union.
   *
   * @param configured come first; one is told as what serves it, under its own name
   * @param served entries of the endpoints' own lists, as {@link #read} gives them
   */
  public ModelList(List<ModelConfig> configured, List<ObjectNode> served) {
    Map<String, ObjectNode> byName = new LinkedHashMap<>();
    for (ObjectNode entry : served) {
      byName.putIfAbsent(entry.path("id").textValue(), entry);
    }
    for (ModelConfig model : configured) {
      String target = model.targets().isEmpty() ? model.name() : model.targets().getFirst().name();
      entries.put(model.name(), entry(model.name(), target, byName.get(target)));
    }
    byName.forEach((name, entry) -> entries.putIfAbsent(name, entry(name, name, entry)));
    ObjectNode list = JSON.createObjectNode().put("object", "list");
    list.putArray("data").addAll(entries.values());
    json = bytes(list);
  }

  private static ObjectNode entry(String name, String target, @Nullable ObjectNode served) {
    ObjectNode entry = served == null ? JSON.createObjectNode() : served.deepCopy();
    entry.put("id", name);
    if (served == null) {
      entry.put("object", "model").put("created", 0).put("owned_by", "fairlead");
    }
    // Clients take the tokenizer's name from it.
    if (!entry.path("root").isTextual()) {
      entry.put("root", target);
    }
    if (!entry.has("parent")) {
      entry.putNull("parent");
    }
    return entry;
  }

  /**
   * The answer to {@code GET /v1/models}, in UTF-8: the same array each time, to be left as it is.
   */
  public byte[] json() {
    return json;
  }

  /** The answer to {@code GET /v1/models/NAME}, in UTF-8; null for a name that is not there. */
  public byte @Nullable [] json(String name) {
    ObjectNode entry = entries.get(name);
    return entry == null ? null : bytes(entry);
  }

  private static byte[] bytes(ObjectNode node) {
    try {
      return JSON.writeValueAsBytes(node);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The entries of an endpoint's own list; what is none is left out. */
  public static List<ObjectNode> read(String page) {
    List<ObjectNode> entries = new ArrayList<>();
    try {
      for (JsonNode entry : JSON.readTree(page).path("data")) {
        if (entry instanceof ObjectNode object && object.path("id").isTextual()) {
          entries.add(object);
        }
      }
    } catch (JsonProcessingException e) {
      return List.of();
    }
    return entries;
  }
}
