package io.fairlead.cli.status;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.fairlead.cli.ShownText;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1.ParentStatus;
import io.fairlead.crds.v1alpha2.OldInferencePool;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Tables of what the statuses of objects say; what they don't say is a dash. */
final class StatusTables {
  private static final String NONE = "-";

  /** Why a pool of the older group is not served where one of v1 has its name. */
  private static final String SUPERSEDED = "Superseded";

  private final List<JsonNode> objects;
  private final boolean namespaces;
  private final boolean modelsKnown;

  /** By namespace and name. */
  private final Map<String, JsonNode> pickersByName = new HashMap<>();

  /** By namespace and name of the pool that they name. */
  private final Map<String, JsonNode> pickersByPool = new HashMap<>();

  /** By namespace and name of the pool that they name. */
  private final Map<String, List<JsonNode>> modelsByPool = new HashMap<>();

  /**
   * @param objects of any kinds; others than ours are passed over
   * @param namespaces whether each row begins with a namespace
   * @param modelsKnown whether models that are not among the objects are not there
   */
  StatusTables(List<JsonNode> objects, boolean namespaces, boolean modelsKnown) {
    this.objects =
        objects.stream()
            .sorted(
                Comparator.comparing((JsonNode object) -> namespace(object))
                    .thenComparing(StatusTables::name))
            .toList();
    this.namespaces = namespaces;
    this.modelsKnown = modelsKnown;
    of("EndpointPicker", EndpointPicker.GROUP)
        .forEach(
            one -> {
              pickersByName.putIfAbsent(namespace(one) + "/" + name(one), one);
              pickersByPool.putIfAbsent(poolOf(one), one);
            });
    of("InferenceModel", "")
        .forEach(
            one -> modelsByPool.computeIfAbsent(poolOf(one), pool -> new ArrayList<>()).add(one));
  }

  /** One row a pool. */
  List<String> pools() {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("POOL", "READY", "ENDPOINTS", "MODELS", "PICKER", "REASON"));
    List<JsonNode> pools =
        objects.stream()
            .filter(
                object ->
                    isOf(object, "InferencePool", InferencePool.GROUP)
                        || isOf(object, OldInferencePool.KIND, OldInferencePool.GROUP))
            .toList();
    pools.forEach(pool -> rows.add(pool(pool)));
    return pools.isEmpty() ? List.of("There is no InferencePool here.") : lines(rows, pools);
  }

  /** One row a model, with what its condition Ready says. */
  List<String> models() {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("MODEL", "NAME", "POOL", "READY", "REASON", "MESSAGE"));
    List<JsonNode> models = of("InferenceModel", "").toList();
    for (JsonNode model : models) {
      JsonNode ready = condition(model.path("status").path("conditions"), "Ready");
      rows.add(
          List.of(
              name(model),
              orNone(model.path("spec").path("modelName")),
              orNone(model.path("spec").path("poolRef").path("name")),
              orNone(ready.path("status")),
              orNone(ready.path("reason")),
              wrong(ready)));
    }
    return models.isEmpty() ? List.of() : lines(rows, models);
  }

  /** One row a picker, with what its condition Ready says. */
  List<String> pickers() {
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of("PICKER", "POOL", "READY", "REPLICAS", "CONFIG", "IMAGE", "REASON", "MESSAGE"));
    List<JsonNode> pickers = of("EndpointPicker", EndpointPicker.GROUP).toList();
    for (JsonNode picker : pickers) {
      JsonNode status = picker.path("status");
      JsonNode ready = condition(status.path("conditions"), "Ready");
      String config = orNone(status.path("configHash"));
      rows.add(
          List.of(
              name(picker),
              orNone(picker.path("spec").path("poolRef").path("name")),
              orNone(ready.path("status")),
              share(status.path("readyReplicas"), status.path("replicas")),
              config.substring(0, Math.min(8, config.length())),
              orNone(status.path("image")),
              orNone(ready.path("reason")),
              wrong(ready)));
    }
    return pickers.isEmpty() ? List.of() : lines(rows, pickers);
  }

  private List<String> pool(JsonNode pool) {
    Optional<JsonNode> entry =
        Stream.of("parents", OldInferencePool.PARENTS)
            .flatMap(list -> pool.path("status").path(list).valueStream())
            .filter(StatusTables::isOurs)
            .findFirst();
    if (entry.isEmpty()) {
      return List.of(name(pool), NONE, NONE, NONE, NONE, "NotServedByFairlead");
    }
    JsonNode ready = condition(entry.get().path("conditions"), "Ready");
    String picker = orNone(entry.get().path("parentRef").path("name"));
    if (ready.path("reason").asText().equals(SUPERSEDED)) {
      // Whoever names it means the other pool of its name.
      return List.of(name(pool), "False", NONE, NONE, picker, SUPERSEDED);
    }
    // The entry's name may be another picker's, or another than the picker's where a gateway has
    // it.
    String pools = namespace(pool) + "/" + name(pool);
    JsonNode named = pickersByName.get(namespace(pool) + "/" + picker);
    JsonNode own = named != null && poolOf(named).equals(pools) ? named : pickersByPool.get(pools);
    JsonNode status = own == null ? MissingNode.getInstance() : own.path("status");
    return List.of(
        name(pool),
        orNone(ready.path("status")),
        share(status.path("endpoints").path("ready"), status.path("endpoints").path("matching")),
        models(pool, status),
        own == null ? picker : name(own),
        orNone(ready.path("reason")));
  }

  private static String poolOf(JsonNode object) {
    return namespace(object) + "/" + object.path("spec").path("poolRef").path("name").asText();
  }

  /** In the older group an entry names no controller, and is known by what it speaks for. */
  private static boolean isOurs(JsonNode entry) {
    JsonNode ref = entry.path("parentRef");
    return ParentStatus.FAIRLEAD.equals(entry.path("controllerName").asText())
        || (EndpointPicker.KIND.equals(ref.path("kind").asText())
            && (EndpointPicker.GROUP.equals(ref.path("group").asText())
                || ref.path("apiVersion").asText().startsWith(EndpointPicker.GROUP + "/")));
  }

  /** Those in the config of those that name the pool: counted, or as the picker counts them. */
  private String models(JsonNode pool, JsonNode picker) {
    List<JsonNode> models =
        modelsByPool.getOrDefault(namespace(pool) + "/" + name(pool), List.of());
    if (models.isEmpty() && picker.has("models")) {
      int accepted = picker.path("models").path("accepted").asInt();
      return accepted + "/" + (accepted + picker.path("models").path("rejected").asInt());
    }
    if (!modelsKnown) {
      return NONE;
    }
    long accepted =
        models.stream()
            .map(model -> condition(model.path("status").path("conditions"), "Accepted"))
            .filter(condition -> condition.path("status").asText().equals("True"))
            .count();
    return accepted + "/" + models.size();
  }

  private Stream<JsonNode> of(String kind, String group) {
    return objects.stream().filter(object -> isOf(object, kind, group));
  }

  private static boolean isOf(JsonNode object, String kind, String group) {
    return object.path("kind").asText().equals(kind)
        && (group.isEmpty() || object.path("apiVersion").asText().startsWith(group + "/"));
  }

  private static JsonNode condition(JsonNode conditions, String type) {
    for (JsonNode condition : conditions) {
      if (condition.path("type").asText().equals(type)) {
        return condition;
      }
    }
    return MissingNode.getInstance();
  }

  /** A message is worth a line where something is not as it should be. */
  private static String wrong(JsonNode ready) {
    return ready.path("status").asText().equals("True") ? "" : ready.path("message").asText();
  }

  private static String share(JsonNode some, JsonNode all) {
    return some.isMissingNode() && all.isMissingNode() ? NONE : some.asInt() + "/" + all.asInt();
  }

  private static String orNone(JsonNode text) {
    String value = text.asText();
    return value.isEmpty() ? NONE : value;
  }

  private static String namespace(JsonNode object) {
    return object.path("metadata").path("namespace").asText();
  }

  private static String name(JsonNode object) {
    return object.path("metadata").path("name").asText();
  }

  /** Columns to the left, as kubectl has them. */
  private List<String> lines(List<List<String>> rows, List<JsonNode> of) {
    List<List<String>> all = new ArrayList<>();
    for (int i = 0; i < rows.size(); i++) {
      List<String> row = new ArrayList<>();
      if (namespaces) {
        row.add(i == 0 ? "NAMESPACE" : orNone(of.get(i - 1).path("metadata").path("namespace")));
      }
      row.addAll(rows.get(i));
      row.replaceAll(ShownText::line);
      all.add(row);
    }
    int[] widths = new int[all.getFirst().size()];
    for (List<String> row : all) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    return all.stream().map(row -> line(row, widths)).toList();
  }

  private static String line(List<String> cells, int[] widths) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      line.append(cells.get(i));
      line.append(" ".repeat(widths[i] - cells.get(i).length() + 3));
    }
    return line.toString().stripTrailing();
  }
}
