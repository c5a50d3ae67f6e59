package io.fairlead.crds.local;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fairlead.crds.document.FieldError;
import io.fairlead.crds.document.FieldPath;
import io.fairlead.crds.document.Schema;
import io.fairlead.crds.document.Schemas;
import io.fairlead.crds.document.SourceTree;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Reads resources from YAML or JSON files with any number of documents each: our kinds,
 * EndpointSlices, and the plain list {@code endpoints: [{name, namespace, address, port, labels}]},
 * where the port may be a string and names are unique in their namespaces. Since no API server is
 * there, the schemas of the CRDs are checked here; unlike there, an unknown field is an error.
 *
 * <p>An instance reads once.
 */
public final class LocalResourceReader {
  private static final Schema ENDPOINTS_FILE = Schemas.document("endpoints-file");
  private static final int MAX_PORT = 65_535;
  private static final JsonMapper MAPPER =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  private final List<InferencePool> pools = new ArrayList<>();
  private final List<InferenceModel> models = new ArrayList<>();
  private final List<EndpointPicker> pickers = new ArrayList<>();
  private final List<EndpointSlice> slices = new ArrayList<>();
  private final List<StaticEndpoint> endpoints = new ArrayList<>();
  private final List<FieldError> errors = new ArrayList<>();
  private final Map<String, String> seen = new HashMap<>();

  private LocalResourceReader() {}

  /**
   * Reads a file, or the {@code .yaml}, {@code .yml} and {@code .json} files of a folder (not of
   * folders in it).
   */
  public static LocalResources read(Path path) {
    LocalResourceReader reader = new LocalResourceReader();
    if (Files.isDirectory(path)) {
      reader.folder(path);
    } else {
      reader.file(path);
    }
    return reader.result();
  }

  /** Reads {@code text} as the content of a file called {@code file}. */
  public static LocalResources read(String file, String text) {
    LocalResourceReader reader = new LocalResourceReader();
    reader.text(file, text);
    return reader.result();
  }

  /** Reads several files whose text is known already, in the map's order. */
  public static LocalResources read(Map<String, String> textByFile) {
    LocalResourceReader reader = new LocalResourceReader();
    textByFile.forEach(reader::text);
    return reader.result();
  }

  private LocalResources result() {
    return new LocalResources(pools, models, pickers, slices, endpoints, errors);
  }

  private void folder(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      files.filter(LocalResourceReader::isResourceFile).sorted().forEach(this::file);
    } catch (IOException e) {
      errors.add(new FieldError(folder.toString(), 0, "", "cannot be listed: " + e));
    }
  }

  private static boolean isResourceFile(Path path) {
    String name = path.getFileName().toString();
    boolean named = name.endsWith(".yaml") || name.endsWith(".yml") || name.endsWith(".json");
    // Editors and mounted ConfigMaps keep their own files under names with a leading dot.
    return named
        && !name.startsWith(".")
        && !name.equals("kustomization.yaml")
        && !Files.isDirectory(path);
  }

  private void file(Path file) {
    try {
      text(file.toString(), Files.readString(file));
    } catch (NoSuchFileException e) {
      errors.add(new FieldError(file.toString(), 0, "", "does not exist"));
    } catch (CharacterCodingException e) {
      errors.add(new FieldError(file.toString(), 0, "", "is not UTF-8 text; save it as UTF-8"));
    } catch (IOException e) {
      errors.add(new FieldError(file.toString(), 0, "", "cannot be read: " + e));
    }
  }

  private void text(String file, String text) {
    for (SourceTree tree : SourceTree.parse(file, text)) {
      if (tree.errors().isEmpty()) {
        document(tree);
      }
      errors.addAll(tree.errors());
    }
  }

  private void document(SourceTree tree) {
    JsonNode root = tree.root();
    if (root.has("endpoints") && !root.has("kind") && !root.has("apiVersion")) {
      ENDPOINTS_FILE.check(tree);
      if (tree.errors().isEmpty()) {
        for (int i = 0; i < root.path("endpoints").size(); i++) {
          endpoint(tree, FieldPath.ROOT.field("endpoints").element(i), root.at("/endpoints/" + i));
        }
      }
      return;
    }
    Optional<LocalKind> kind = LocalKind.of(root);
    if (kind.isEmpty()) {
      tree.error(
          FieldPath.ROOT.field("kind"),
          "is "
              + FieldPath.quote(root.path("kind").asText("missing"))
              + " of "
              + FieldPath.quote(root.path("apiVersion").asText("missing"))
              + ", expected one of "
              + LocalKind.expected()
              + ", or a list of endpoints");
      return;
    }
    kind.get().schema().check(tree);
    if (tree.errors().isEmpty()) {
      unique(tree);
    }
    if (tree.errors().isEmpty()) {
      add(kind.get().type(), tree);
    }
  }

  private void unique(SourceTree tree) {
    JsonNode metadata = tree.root().path("metadata");
    String object =
        tree.root().path("kind").asText()
            + " "
            + metadata.path("namespace").asText()
            + "/"
            + metadata.path("name").asText();
    String first = seen.putIfAbsent(object, tree.file());
    if (first != null) {
      tree.error(
          FieldPath.ROOT.field("metadata").field("name"),
          "makes this a second "
              + object
              + ", first defined in "
              + first
              + "; rename or remove one");
    }
  }

  private void add(LocalKind.Type kind, SourceTree tree) {
    try {
      switch (kind) {
        case INFERENCE_POOL -> pools.add(MAPPER.treeToValue(tree.root(), InferencePool.class));
        case INFERENCE_MODEL -> models.add(MAPPER.treeToValue(tree.root(), InferenceModel.class));
        case ENDPOINT_PICKER -> pickers.add(MAPPER.treeToValue(tree.root(), EndpointPicker.class));
        case ENDPOINT_SLICE -> slices.add(MAPPER.treeToValue(tree.root(), EndpointSlice.class));
      }
    } catch (JsonProcessingException e) {
      tree.error(FieldPath.ROOT, "cannot be read: " + e.getOriginalMessage());
    }
  }

  private void endpoint(SourceTree tree, FieldPath path, JsonNode node) {
    String digits = node.path("port").asText();
    int port = digits.matches("[0-9]{1,5}") ? Integer.parseInt(digits) : 0;
    if (port < 1 || port > MAX_PORT) {
      tree.error(
          path.field("port"),
          "is " + node.path("port") + ", expected a port from 1 to " + MAX_PORT);
      return;
    }
    Map<String, String> labels = new TreeMap<>();
    node.path("labels").properties().forEach(e -> labels.put(e.getKey(), e.getValue().asText()));
    endpoints.add(
        new StaticEndpoint(
            node.path("namespace").asText(),
            node.path("name").asText(),
            node.path("address").asText(),
            port,
            labels));
  }
}
