package io.fairlead.crds.document;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.config.GoDuration;
import io.fairlead.crds.config.LatencyConfig;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.ModelQueueConfig;
import io.fairlead.crds.config.ObjectiveConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TargetModel;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The generated config document: YAML with a hash of its content, the same bytes for equal configs.
 */
public final class ConfigDocument {
  private static final Schema SCHEMA = Schemas.document("pool-config");

  private ConfigDocument() {}

  /**
   * Reads a document strictly. Its hash may be absent; a hash that is not the content's is an
   * error, since then the document was cut short or edited by hand.
   *
   * @param file what errors call the text
   */
  public static Parsed<PoolConfig> read(String file, String text) throws DocumentException {
    return read(SourceTree.parseOne(file, text));
  }

  /** The same of one that is parsed already. */
  public static Parsed<PoolConfig> read(SourceTree tree) throws DocumentException {
    tree.throwErrors();
    SCHEMA.check(tree);
    tree.throwErrors();
    JsonNode root = tree.root();
    SchedulerConfig scheduler =
        SchedulerDocument.read(tree, FieldPath.ROOT.field("scheduling"), root.path("scheduling"));
    JsonNode pool = root.path("pool");
    PoolConfig config =
        new PoolConfig(
            pool.path("namespace").asText(),
            pool.path("name").asText(),
            selector(pool.path("selector")),
            ports(tree, pool.path("targetPorts")),
            pool.path("appProtocol").asText(),
            models(tree, root.path("models")),
            objectives(tree, root.path("objectives")),
            RequestsDocument.read(tree, FieldPath.ROOT.field("requests"), root.path("requests")),
            scheduler,
            ShadowsDocument.read(tree, FieldPath.ROOT.field("shadows"), root.path("shadows")));
    tree.throwErrors();
    ConfigHash hash = hash(config);
    if (root.has("hash") && !root.path("hash").asText().equals(hash.hex())) {
      tree.error(
          FieldPath.ROOT.field("hash"),
          "does not match the content, whose hash is "
              + hash
              + "; restore the generated document, or remove the hash");
    }
    tree.throwErrors();
    return new Parsed<>(config, tree.warnings());
  }

  private static Map<String, String> selector(JsonNode node) {
    Map<String, String> selector = new TreeMap<>();
    node.properties().forEach(e -> selector.put(e.getKey(), e.getValue().asText()));
    return selector;
  }

  private static List<Integer> ports(SourceTree tree, JsonNode list) {
    List<Integer> ports = new ArrayList<>();
    for (JsonNode port : list) {
      if (ports.contains(port.asInt())) {
        tree.error(
            FieldPath.ROOT.field("pool").field("targetPorts").element(ports.size()),
            "is " + port + " again; list every port only once");
      }
      ports.add(port.asInt());
    }
    return ports;
  }

  private static List<ModelConfig> models(SourceTree tree, JsonNode list) {
    List<ModelConfig> models = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (JsonNode model : list) {
      FieldPath path = FieldPath.ROOT.field("models").element(models.size());
      String name = model.path("name").asText();
      if (!names.add(name)) {
        tree.error(
            path.field("name"),
            "is "
                + FieldPath.quote(name)
                + ", the name of an earlier model; a name may appear only once");
      }
      List<TargetModel> targets = new ArrayList<>();
      for (JsonNode target : model.path("targets")) {
        targets.add(new TargetModel(target.path("name").asText(), target.path("weight").asInt()));
      }
      models.add(
          new ModelConfig(
              name,
              RequestsDocument.criticality(model.path("criticality").asText()),
              targets,
              RequestsDocument.timeouts(tree, path.field("timeouts"), model.path("timeouts")),
              queue(tree, path.field("queue"), model.path("queue")),
              latency(tree, path.field("latency"), model.path("latency"))));
    }
    return models;
  }

  private static ModelQueueConfig queue(SourceTree tree, FieldPath path, JsonNode node) {
    return new ModelQueueConfig(
        node.path("weight").asInt(ModelQueueConfig.DEFAULT.weight()),
        RequestsDocument.timeout(tree, path, node, "ttl"));
  }

  private static LatencyConfig latency(SourceTree tree, FieldPath path, JsonNode node) {
    return new LatencyConfig(
        RequestsDocument.timeout(tree, path, node, "firstToken"),
        RequestsDocument.timeout(tree, path, node, "eachToken"));
  }

  private static List<ObjectiveConfig> objectives(SourceTree tree, JsonNode list) {
    List<ObjectiveConfig> objectives = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (JsonNode objective : list) {
      String name = objective.path("name").asText();
      if (!names.add(name)) {
        tree.error(
            FieldPath.ROOT.field("objectives").element(objectives.size()).field("name"),
            "is "
                + FieldPath.quote(name)
                + ", the name of an earlier objective; a name may appear only once");
      }
      objectives.add(new ObjectiveConfig(name, objective.path("priority").asLong()));
    }
    return objectives;
  }

  /**
   * A document and its hash.
   *
   * @param text YAML, with the hash in it
   */
  public record Written(ConfigHash hash, String text) {}

  /** The document of {@code config} as YAML, with its hash. */
  public static String write(PoolConfig config) {
    return written(config).text();
  }

  /** The same where the hash is asked for, too: to work it out takes as long as the text. */
  public static Written written(PoolConfig config) {
    ObjectNode content = content(config);
    ConfigHash hash = ConfigHash.of(TreeWriter.canonical(content));
    ObjectNode document = JsonNodeFactory.instance.objectNode();
    document
        .put("apiVersion", "fairlead.io/v1alpha1")
        .put("kind", "PoolConfig")
        .put("hash", hash.hex());
    document.setAll(content);
    return new Written(hash, TreeWriter.yaml(document));
  }

  /** The hash of the canonical bytes of {@code config}. */
  public static ConfigHash hash(PoolConfig config) {
    return ConfigHash.of(TreeWriter.canonical(content(config)));
  }

  private static void put(ObjectNode model, ModelQueueConfig queue) {
    if (queue.equals(ModelQueueConfig.DEFAULT)) {
      return;
    }
    ObjectNode node = model.putObject("queue");
    if (queue.weight() != ModelQueueConfig.DEFAULT.weight()) {
      node.put("weight", queue.weight());
    }
    if (queue.ttl() != null) {
      node.put("ttl", GoDuration.format(queue.ttl()));
    }
  }

  private static void put(ObjectNode model, LatencyConfig latency) {
    if (latency.equals(LatencyConfig.UNSET)) {
      return;
    }
    ObjectNode node = model.putObject("latency");
    if (latency.firstToken() != null) {
      node.put("firstToken", GoDuration.format(latency.firstToken()));
    }
    if (latency.eachToken() != null) {
      node.put("eachToken", GoDuration.format(latency.eachToken()));
    }
  }

  private static ObjectNode content(PoolConfig config) {
    ObjectNode content = JsonNodeFactory.instance.objectNode();
    ObjectNode pool =
        content.putObject("pool").put("namespace", config.namespace()).put("name", config.name());
    ObjectNode selector = pool.putObject("selector");
    new TreeMap<>(config.selector()).forEach(selector::put);
    ArrayNode ports = pool.putArray("targetPorts");
    config.targetPorts().forEach(ports::add);
    pool.put("appProtocol", config.appProtocol());
    ArrayNode models = content.putArray("models");
    for (ModelConfig model : config.models()) {
      ObjectNode entry =
          models
              .addObject()
              .put("name", model.name())
              .put("criticality", model.criticality().wireName());
      ArrayNode targets = entry.putArray("targets");
      model
          .targets()
          .forEach(
              target ->
                  targets.addObject().put("name", target.name()).put("weight", target.weight()));
      RequestsDocument.put(entry, model.timeouts());
      put(entry, model.queue());
      put(entry, model.latency());
    }
    if (!config.objectives().isEmpty()) {
      ArrayNode objectives = content.putArray("objectives");
      config
          .objectives()
          .forEach(
              objective ->
                  objectives
                      .addObject()
                      .put("name", objective.name())
                      .put("priority", objective.priority()));
    }
    ObjectNode requests = RequestsDocument.tree(config.requests());
    if (!requests.isEmpty()) {
      content.set("requests", requests);
    }
    content.set("scheduling", SchedulerDocument.tree(config.scheduler()));
    ShadowsDocument.put(content, config.shadows());
    return content;
  }
}
