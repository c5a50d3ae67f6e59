package io.fairlead.stub.server;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashSet;
import java.util.Set;

/** What a server can be asked for: base models, and LoRA adapters that come and go. */
final class ServedModels {

  private final ModelServerConfig config;
  private final Set<String> bases = new LinkedHashSet<>();
  private final Set<String> adapters = new LinkedHashSet<>();

  ServedModels(ModelServerConfig config) {
    this.config = config;
    reset();
  }

  /** Back to what the configuration says. */
  void reset() {
    bases.clear();
    adapters.clear();
    bases.add(config.models().getFirst());
    (config.maxAdapters() > 0 ? adapters : bases).addAll(config.models());
    adapters.removeAll(bases);
  }

  boolean serves(String model) {
    return bases.contains(model) || adapters.contains(model);
  }

  /** The adapter that the engine needs for a model; empty for none. */
  String adapterOf(String model) {
    return adapters.contains(model) ? model : "";
  }

  /** Whether the adapter was not there yet. */
  boolean add(String adapter) {
    return !bases.contains(adapter) && adapters.add(adapter);
  }

  /** Whether the adapter was there. */
  boolean remove(String adapter) {
    return adapters.remove(adapter);
  }

  /** The answer of {@code /v1/models}. */
  ObjectNode json(long createdSeconds) {
    ObjectNode root = JsonNodeFactory.instance.objectNode().put("object", "list");
    ArrayNode data = root.putArray("data");
    bases.forEach(model -> add(data, model, createdSeconds).putNull("parent"));
    adapters.forEach(
        model -> add(data, model, createdSeconds).put("parent", config.models().getFirst()));
    return root;
  }

  private ObjectNode add(ArrayNode data, String model, long createdSeconds) {
    return data.addObject()
        .put("id", model)
        .put("object", "model")
        .put("created", createdSeconds)
        .put("owned_by", "fairlead")
        .put("root", model)
        .put("max_model_len", config.maxModelLen());
  }
}
