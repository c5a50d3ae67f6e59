package io.fairlead.epp.config;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.crds.compile.Compilation;
import io.fairlead.crds.compile.PoolCompiler;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ProfileConfig.PluginReference;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.document.DocumentException;
import io.fairlead.crds.document.FieldError;
import io.fairlead.crds.document.FieldPath;
import io.fairlead.crds.document.SchedulerDocument;
import io.fairlead.crds.document.SourceTree;
import io.fairlead.crds.local.LocalResourceReader;
import io.fairlead.crds.local.LocalResources;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.epp.datalayer.EndpointSet;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes offers of what sources hold. */
public final class ConfigReaders {

  private static final Logger LOG = LoggerFactory.getLogger(ConfigReaders.class);

  private static final String SCHEDULER_ONLY = "EndpointPickerConfig";
  private static final String PICKER = "EndpointPicker";
  private static final String WHOLE = "PoolConfig";

  /** Of no pool in particular. */
  private static final InferencePool ANY_POOL =
      LocalResourceReader.read(
              "pool",
              """
              apiVersion: inference.networking.k8s.io/v1
              kind: InferencePool
              metadata: {name: any, namespace: default}
              spec:
                selector: {matchLabels: {app: any}}
                targetPorts: [{number: 8000}]
                endpointPickerRef: {name: any, port: {number: 9002}}
              """)
          .pools()
          .getFirst();

  private static final SchedulerConfig UPSTREAM_DEFAULT =
      new SchedulerConfig(
          List.of(
              plugin("queue-scorer"),
              plugin("kv-cache-utilization-scorer"),
              plugin("prefix-cache-scorer")),
          List.of(
              new ProfileConfig(
                  "default",
                  List.of(
                      new PluginReference("queue-scorer", 2),
                      new PluginReference("kv-cache-utilization-scorer", 2),
                      new PluginReference("prefix-cache-scorer", 3)))),
          null);

  private ConfigReaders() {}

  private static PluginConfig plugin(String type) {
    return new PluginConfig(type, type, Map.of());
  }

  /** A whole config document, as the operator generates it. */
  public static ConfigOffer document(String origin, String text) {
    return document(origin, ConfigMapSource.hash(text), SourceTree.parseOne(origin, text));
  }

  private static ConfigOffer document(String origin, String contentHash, SourceTree tree) {
    try {
      return offer(origin, contentHash, ConfigDocument.read(tree).value(), null, document(origin));
    } catch (DocumentException e) {
      return new ConfigOffer.Unreadable(origin, contentHash, messages(e.errors()));
    }
  }

  /**
   * A file of endpoints, and perhaps one with a config document or an EndpointPickerConfig.
   *
   * @param config null for the defaults: no models named, the default profile
   */
  public static ConfigOffer files(FileState state, Path endpoints, @Nullable Path config) {
    String origin = config == null ? endpoints.toString() : config.toString();
    ConfigOffer offer =
        config == null
            ? offer(origin, state.hash(), local(SchedulerConfig.DEFAULT), null, document(origin))
            : file(state, config);
    try {
      return offer.withEndpoints(endpoints(endpoints.toString(), state.text(endpoints)));
    } catch (DocumentException e) {
      String wrong = messages(e.errors());
      return switch (offer) {
        case ConfigOffer.Document document ->
            new ConfigOffer.Unreadable(origin, state.hash(), wrong)
                .with(new ConfigOffer.Unreadable.Rest(document, false));
        case ConfigOffer.Unreadable unreadable ->
            new ConfigOffer.Unreadable(origin, state.hash(), wrong + "\n" + unreadable.message())
                .with(unreadable.rest());
      };
    }
  }

  private static ConfigOffer file(FileState state, Path config) {
    try {
      return file(config.toString(), state.hash(), state.text(config));
    } catch (DocumentException e) {
      return new ConfigOffer.Unreadable(config.toString(), state.hash(), messages(e.errors()));
    }
  }

  private static EndpointSet endpoints(String origin, String text) throws DocumentException {
    LocalResources resources = LocalResourceReader.read(origin, text);
    if (!resources.errors().isEmpty()) {
      throw new DocumentException(resources.errors());
    }
    return LocalEndpoints.of(origin, resources);
  }

  private static ConfigOffer file(String origin, String contentHash, String text) {
    SourceTree tree = SourceTree.parseOne(origin, text);
    return kind(tree).equals(SCHEDULER_ONLY)
        ? scheduling(origin, contentHash, tree)
        : document(origin, contentHash, tree);
  }

  private static String kind(SourceTree tree) {
    return tree.root().path("kind").asText();
  }

  /** An EndpointPickerConfig, for a pool that comes from elsewhere. */
  public static ConfigOffer scheduling(String origin, String text) {
    return scheduling(origin, ConfigMapSource.hash(text), SourceTree.parseOne(origin, text));
  }

  private static ConfigOffer scheduling(String origin, String contentHash, SourceTree tree) {
    try {
      return offer(
          origin,
          contentHash,
          local(SchedulerDocument.read(tree).value()),
          null,
          new SchedulingPlace(origin, ""));
    } catch (DocumentException e) {
      return new ConfigOffer.Unreadable(origin, contentHash, messages(e.errors()))
          .with(plugins(origin, contentHash, tree));
    }
  }

  /** The plugins of a document that can't be read as a whole; null where they can't be either. */
  private static ConfigOffer.Unreadable.@Nullable Rest plugins(
      String origin, String contentHash, SourceTree tree) {
    ObjectNode plugins = JsonNodeFactory.instance.objectNode();
    plugins.set("plugins", tree.root().path("plugins"));
    int before = tree.errors().size();
    SchedulerConfig config = SchedulerDocument.read(tree, FieldPath.ROOT, plugins);
    if (tree.errors().size() > before) {
      return null;
    }
    return new ConfigOffer.Unreadable.Rest(
        offer(origin, contentHash, local(config), null, new SchedulingPlace(origin, "")), true);
  }

  /** An EndpointPickerConfig in a file, for a pool that comes from elsewhere. */
  public static ConfigOffer scheduling(FileState state, Path config) {
    try {
      return scheduling(config.toString(), state.text(config));
    } catch (DocumentException e) {
      return new ConfigOffer.Unreadable(config.toString(), state.hash(), messages(e.errors()));
    }
  }

  /** A scheduling, wherever it stands: for who asks what it would do, and for no pool. */
  public static ConfigOffer tried(String origin, String text) {
    List<SourceTree> trees = SourceTree.parse(origin, text);
    if (trees.stream().anyMatch(tree -> kind(tree).equals(PICKER))) {
      return picker(origin, text);
    }
    String contentHash = ConfigMapSource.hash(text);
    SourceTree tree = trees.size() == 1 ? trees.getFirst() : SourceTree.parseOne(origin, text);
    return switch (kind(tree)) {
      case SCHEDULER_ONLY -> scheduling(origin, contentHash, tree);
      case WHOLE -> document(origin, contentHash, tree);
      default ->
          new ConfigOffer.Unreadable(
              origin,
              contentHash,
              tree.errors().isEmpty()
                  ? origin + ": kind: set EndpointPickerConfig, EndpointPicker or PoolConfig"
                  : messages(tree.errors()));
    };
  }

  private static ConfigOffer picker(String origin, String text) {
    String contentHash = ConfigMapSource.hash(text);
    LocalResources resources = LocalResourceReader.read(origin, text);
    if (!resources.errors().isEmpty()) {
      return new ConfigOffer.Unreadable(origin, contentHash, messages(resources.errors()));
    }
    if (resources.pickers().size() != 1) {
      String message = "holds " + resources.pickers().size() + " EndpointPickers; keep exactly one";
      return new ConfigOffer.Unreadable(origin, contentHash, origin + ": " + message);
    }
    Compilation compilation =
        PoolCompiler.compile(ANY_POOL, List.of(), resources.pickers().getFirst());
    PoolConfig config = compilation.config();
    if (config == null) {
      return new ConfigOffer.Unreadable(
          origin,
          contentHash,
          compilation.findings().stream()
              .map(finding -> origin + ": " + finding.message())
              .collect(Collectors.joining("\n")));
    }
    return offer(
        origin, contentHash, config, null, new SchedulingPlace(origin, "spec.scheduling."));
  }

  /** What upstream's picker does without an EndpointPickerConfig. */
  public static ConfigOffer upstreamDefault() {
    String origin = "upstream's default";
    return offer(origin, origin, local(UPSTREAM_DEFAULT), null, new SchedulingPlace(origin, ""));
  }

  /** A folder (or file) of resources. */
  public static ConfigOffer folder(FileState state, Path folder) {
    return FolderReader.read(state, folder);
  }

  /** Of a whole config document. */
  private static SchedulingPlace document(String origin) {
    return new SchedulingPlace(origin, "scheduling.");
  }

  private static PoolConfig local(SchedulerConfig scheduler) {
    return new PoolConfig("default", "local", Map.of(), List.of(), "http", List.of(), scheduler);
  }

  /** A reader that fails must neither take its watcher down nor go unnoticed. */
  static ConfigOffer guarded(String origin, String contentHash, Supplier<ConfigOffer> reader) {
    try {
      return reader.get();
    } catch (RuntimeException | Error e) {
      LOG.error("{}: can't be made sense of", origin, e);
      return new ConfigOffer.Unreadable(
          origin, contentHash, origin + ": can't be made sense of: " + e);
    }
  }

  static ConfigOffer.Document offer(
      String origin,
      String contentHash,
      PoolConfig config,
      @Nullable EndpointSet endpoints,
      SchedulingPlace scheduling) {
    return new ConfigOffer.Document(
        origin,
        contentHash,
        config,
        ConfigDocument.hash(config),
        endpoints,
        scheduling,
        null,
        null);
  }

  static String messages(List<FieldError> errors) {
    return errors.stream().map(FieldError::toString).collect(Collectors.joining("\n"));
  }
}
