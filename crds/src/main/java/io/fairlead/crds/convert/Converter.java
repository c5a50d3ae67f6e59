package io.fairlead.crds.convert;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.crds.document.FieldError;
import io.fairlead.crds.document.FieldPath;
import io.fairlead.crds.document.SourceTree;
import io.fairlead.crds.document.TreeWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Converts the inference kinds in YAML or JSON files, lists of them included. All else goes through
 * as it is, byte for byte: other kinds, and documents that are no YAML because a program makes them
 * so later.
 */
public final class Converter {
  /** Kinds that are converted. */
  public static final List<String> KINDS =
      List.of("InferencePool", "InferenceModel", "InferenceObjective", "InferenceModelRewrite");

  private final Direction to;
  private final Set<String> kinds;
  private final @Nullable String group;
  private final ModelConversion models;
  private final List<Item> items = new ArrayList<>();

  /** Whose each name is, or will be, by group, kind, namespace and name. */
  private final Map<String, Item> owners = new HashMap<>();

  private final List<FieldError> lost = new ArrayList<>();
  private final List<FieldError> failed = new ArrayList<>();

  /**
   * An instance converts once.
   *
   * @param kinds of {@link #KINDS}, those to convert; all others stay. Where InferencePool is not
   *     among them, references to pools keep their group
   * @param group of InferenceObjectives and InferenceModelRewrites as they are to be; null leaves
   *     those that are there in theirs, and makes new ones in upstream's first
   */
  public Converter(Direction to, Set<String> kinds, @Nullable String group) {
    this.to = to;
    this.kinds = Set.copyOf(kinds);
    this.group = group;
    this.models =
        new ModelConversion(
            Objects.requireNonNullElse(group, PoolConversion.OLD_GROUP),
            kinds.contains("InferencePool"));
  }

  /**
   * Converts files in the map's order.
   *
   * @param textByFile their text by their name
   */
  public Converted convert(Map<String, String> textByFile) {
    List<Part> parts = new ArrayList<>();
    textByFile.forEach(
        (file, text) ->
            Document.split(file, text)
                .forEach(document -> parts.add(new Part(document, read(document)))));
    parts.forEach(part -> items.addAll(part.items()));
    convertItems();
    StringBuilder all = new StringBuilder();
    for (Part part : parts) {
      for (String text : written(part)) {
        if (!all.isEmpty()) {
          all.append(all.charAt(all.length() - 1) == '\n' ? "---\n" : "\n---\n");
        }
        all.append(text);
      }
    }
    return new Converted(all.toString(), lost, failed);
  }

  /** An object in a document. */
  private static final class Item {
    private final Document document;
    private final SourceTree tree;
    private final FieldPath path;
    private final JsonNode object;

    /** What it becomes; null while it stays as it is. */
    private @Nullable List<ObjectNode> made;

    Item(Document document, SourceTree tree, FieldPath path, JsonNode object) {
      this.document = document;
      this.tree = tree;
      this.path = path;
      this.object = object;
    }

    Fields fields() {
      return new Fields(tree, path, object);
    }

    boolean is(String kind, String group) {
      return kind().equals(kind) && object.path("apiVersion").asText().startsWith(group + "/");
    }

    String pool() {
      return object.path("spec").path("poolRef").path("name").asText();
    }

    String kind() {
      return object.path("kind").asText();
    }

    String key() {
      JsonNode metadata = object.path("metadata");
      return metadata.path("namespace").asText() + "/" + metadata.path("name").asText();
    }

    /** File and line of its document, and where in that it is. */
    String place() {
      String within = path.text();
      return document.file() + ":" + document.line() + (within.isEmpty() ? "" : ": " + within);
    }

    /** Whether it has no name yet, which the API server will then make of its generateName. */
    boolean isNameless() {
      return object.path("metadata").path("name").asText().isEmpty();
    }
  }

  /** A document and the objects in it. */
  private record Part(Document document, List<Item> items) {}

  private interface Conversion {
    List<ObjectNode> run();
  }

  private List<Item> read(Document document) {
    SourceTree tree = document.tree();
    if (tree == null) {
      return List.of();
    }
    if (!tree.errors().isEmpty()) {
      failed.addAll(tree.errors());
      return List.of();
    }
    if (!document.isList()) {
      return List.of(new Item(document, tree, FieldPath.ROOT, tree.root()));
    }
    JsonNode list = tree.root().path("items");
    List<Item> own = new ArrayList<>();
    for (int i = 0; i < list.size(); i++) {
      FieldPath path = FieldPath.ROOT.field("items").element(i);
      own.add(new Item(document, tree, path, list.get(i)));
    }
    return own;
  }

  /** The objective if it is of the rewrite's pool; one of another pool only shares its name. */
  private static @Nullable Item ofTheSamePool(Item rewrite, @Nullable Item objective) {
    return objective != null && objective.pool().equals(rewrite.pool()) ? objective : null;
  }

  private void convertItems() {
    Map<String, Item> objectives = new HashMap<>();
    for (Item item : items) {
      if (!item.isNameless()) {
        owners.putIfAbsent(identity(item.object), item);
      }
      if (isObjective(item) && !item.isNameless() && kinds.contains(item.kind())) {
        objectives.putIfAbsent(item.key(), item);
      }
    }
    for (Item item : items) {
      if (kinds.contains(item.kind()) && !isObjective(item)) {
        if (to == Direction.NEW) {
          toNew(item);
        } else {
          toOld(item, ofTheSamePool(item, objectives.get(item.key())));
        }
      }
    }
    // What is left of them when all rewrites have found theirs.
    for (Item item : items) {
      if (kinds.contains(item.kind()) && isObjective(item) && item.made == null) {
        if (to == Direction.NEW) {
          regroup(item);
        } else {
          lost.add(
              new FieldError(
                  item.document.file(),
                  item.document.line(),
                  item.path.text(),
                  "InferenceObjective "
                      + item.key()
                      + " stays as it is: there is no InferenceModelRewrite of its name that an InferenceModel could be made of"));
        }
      }
    }
  }

  private static boolean isObjective(Item item) {
    return item.kind().equals("InferenceObjective");
  }

  private void toNew(Item item) {
    if (item.is("InferencePool", PoolConversion.OLD_GROUP)) {
      attempt(item, () -> List.of(PoolConversion.toNew(item.fields())));
    } else if (item.is("InferenceModel", PoolConversion.OLD_GROUP)) {
      attempt(item, () -> models.toNew(item.fields()));
    } else if (item.kind().equals("InferenceModelRewrite")) {
      regroup(item);
    }
  }

  private void toOld(Item item, @Nullable Item objective) {
    if (item.is("InferencePool", PoolConversion.NEW_GROUP)) {
      attempt(item, () -> List.of(PoolConversion.toOld(item.fields())));
    } else if (item.kind().equals("InferenceModelRewrite")) {
      Item pair = objective != null && objective.made == null ? objective : null;
      int before = pair == null ? 0 : pair.tree.warningCount();
      boolean done =
          attempt(item, () -> models.toOld(item.fields(), pair == null ? null : pair.fields()));
      if (done && pair != null) {
        pair.made = List.of();
        if (pair.tree != item.tree) {
          lost.addAll(pair.tree.warnings(before));
        }
      }
    }
  }

  /** Today's kinds have two groups. */
  private void regroup(Item item) {
    ObjectNode made = item.object.deepCopy();
    if (group != null) {
      made.put("apiVersion", group + "/v1alpha2");
    }
    JsonNode ref = made.path("spec").path("poolRef");
    if (kinds.contains("InferencePool")
        && ref instanceof ObjectNode pool
        && ref.path("group").asText().equals(PoolConversion.OLD_GROUP)) {
      pool.put("group", PoolConversion.NEW_GROUP);
    }
    if (!made.equals(item.object)) {
      attempt(item, () -> List.of(made));
    }
  }

  /** What no two objects of a cluster have in common. */
  private static String identity(JsonNode object) {
    JsonNode metadata = object.path("metadata");
    return String.join(
        "/",
        object.path("apiVersion").asText().replaceFirst("/.*", ""),
        object.path("kind").asText(),
        metadata.path("namespace").asText(),
        metadata.path("name").asText());
  }

  /** Of two objects with one name that are applied the second would take the first's place. */
  private void claim(Item item, List<ObjectNode> made) {
    for (ObjectNode object : made) {
      String name = object.path("metadata").path("name").asText();
      Item owner = owners.get(identity(object));
      if (owner != null && owner != item && !name.isEmpty()) {
        item.tree.error(
            item.path.field("metadata").field("name"),
            "makes this a second %s %s of %s, beside that of %s; rename one"
                .formatted(
                    object.path("kind").asText(),
                    name,
                    object.path("apiVersion").asText(),
                    owner.place()));
        return;
      }
    }
    made.forEach(object -> owners.put(identity(object), item));
  }

  /** What is lost of an object that can't be converted is not lost: it stays. */
  private boolean attempt(Item item, Conversion conversion) {
    int errors = item.tree.errorCount();
    int warnings = item.tree.warningCount();
    List<ObjectNode> made = conversion.run();
    if (item.tree.errorCount() == errors) {
      claim(item, made);
    }
    if (item.tree.errorCount() > errors) {
      item.tree.errors(errors).forEach(error -> failed.add(placed(error, item)));
      return false;
    }
    lost.addAll(item.tree.warnings(warnings));
    item.made = made;
    return true;
  }

  /**
   * What is missing has no line of its own, and nobody could tell which of many objects lacks it.
   */
  private static FieldError placed(FieldError error, Item item) {
    return error.line() > 0
        ? error
        : new FieldError(error.file(), item.document.line(), error.path(), error.message());
  }

  private static List<String> written(Part part) {
    Document document = part.document();
    List<Item> own = part.items();
    if (own.stream().allMatch(item -> item.made == null)) {
      return List.of(document.text());
    }
    List<JsonNode> objects = new ArrayList<>();
    for (Item item : own) {
      objects.addAll(item.made == null ? List.of(item.object) : item.made);
    }
    if (!document.isList()) {
      return objects.stream().map(TreeWriter::yaml).toList();
    }
    ObjectNode list = own.getFirst().tree.root().deepCopy();
    ArrayNode into = list.putArray("items");
    objects.forEach(into::add);
    return List.of(TreeWriter.yaml(list));
  }
}
