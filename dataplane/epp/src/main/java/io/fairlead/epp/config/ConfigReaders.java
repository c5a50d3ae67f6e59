package io.fairlead.epp.config;

import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.document.DocumentException;
import io.fairlead.crds.document.FieldError;
import io.fairlead.crds.document.SchedulerDocument;
import io.fairlead.crds.local.LocalResourceReader;
import io.fairlead.crds.local.LocalResources;
import io.fairlead.epp.datalayer.EndpointSet;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Makes offers of what sources hold. */
public final class ConfigReaders {

  private static final Pattern SCHEDULER_ONLY =
      Pattern.compile("(?m)^[\"']?kind[\"']?:\\s*[\"']?EndpointPickerConfig\\b");

  private ConfigReaders() {}

  /** A whole config document, as the operator generates it. */
  public static ConfigOffer document(String origin, String text) {
    String contentHash = ConfigMapSource.hash(text);
    try {
      return offer(origin, contentHash, ConfigDocument.read(origin, text).value(), null);
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
    LocalResources resources =
        LocalResourceReader.read(endpoints.toString(), state.text(endpoints));
    if (!resources.errors().isEmpty()) {
      return new ConfigOffer.Unreadable(origin, state.hash(), messages(resources.errors()));
    }
    try {
      EndpointSet set = LocalEndpoints.of(endpoints.toString(), resources);
      PoolConfig pool =
          config == null
              ? local(SchedulerConfig.DEFAULT)
              : config(config.toString(), state.text(config));
      return offer(origin, state.hash(), pool, set);
    } catch (DocumentException e) {
      return new ConfigOffer.Unreadable(origin, state.hash(), messages(e.errors()));
    }
  }

  /** A folder (or file) of resources. */
  public static ConfigOffer folder(FileState state, Path folder) {
    return FolderReader.read(state, folder);
  }

  private static PoolConfig config(String file, String text) throws DocumentException {
    return SCHEDULER_ONLY.matcher(text).find()
        ? local(SchedulerDocument.read(file, text).value())
        : ConfigDocument.read(file, text).value();
  }

  private static PoolConfig local(SchedulerConfig scheduler) {
    return new PoolConfig("default", "local", Map.of(), List.of(), "http", List.of(), scheduler);
  }

  static ConfigOffer offer(
      String origin, String contentHash, PoolConfig config, @Nullable EndpointSet endpoints) {
    return new ConfigOffer.Document(
        origin, contentHash, config, ConfigDocument.hash(config), endpoints);
  }

  static String messages(List<FieldError> errors) {
    return errors.stream().map(FieldError::toString).collect(Collectors.joining("\n"));
  }
}
