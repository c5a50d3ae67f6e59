package io.fairlead.core.scheduling;

import io.fairlead.crds.config.PluginConfig;
import io.fairlead.plugin.InvalidParameterException;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The plugins of one document, made, by name, and those that it leaves out but needs. Instances of
 * the set before are taken over as {@link KeptPlugins} says.
 */
final class PluginSet {

  /** Where upstream's older documents set what the prefix cache producer takes. */
  private static final String PREFIX_SCORER = "prefix-cache-scorer";

  /** Older documents set where engines tell of their caches on the scorer. */
  private static final String PRECISE_SCORER = "precise-prefix-cache-scorer";

  private final SortedMap<String, PluginFactory> factories;
  private final KeptPlugins kept;
  private final Problems problems;

  /** Null for a name whose plugin could not be made. */
  private final Map<String, @Nullable Made> made = new LinkedHashMap<>();

  /** By type, with default settings. */
  private final Map<String, Plugin> implied = new TreeMap<>();

  private final Map<String, Entry> waiting = new LinkedHashMap<>();
  private final Set<String> broken = new HashSet<>();

  PluginSet(SortedMap<String, PluginFactory> factories, KeptPlugins kept, Problems problems) {
    this.factories = factories;
    this.kept = kept;
    this.problems = problems;
  }

  /**
   * A plugin with where the document has it.
   *
   * @param path of its entry
   * @param uses the plugins that its settings name, by name
   * @param prefix what its entry says of the prefix index
   * @param ignored why settings of its change nothing, by their path
   * @param kept whether it is the instance that was there before
   */
  record Made(
      String path,
      PluginConfig config,
      Plugin plugin,
      Map<String, @Nullable Plugin> uses,
      @Nullable PrefixSettings prefix,
      @Nullable KvEventsSource events,
      Map<String, String> ignored,
      boolean kept) {

    String name() {
      return config.name();
    }

    String type() {
      return config.type();
    }
  }

  private record Entry(String path, PluginConfig config) {}

  /** Ends the making of a plugin that names a broken one: that one's problems say enough. */
  private static final class NamesBroken extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  void make(List<PluginConfig> configs) {
    for (int i = 0; i < configs.size(); i++) {
      String name = configs.get(i).name();
      if (!name.isEmpty()) {
        made.put(name, null);
        waiting.putIfAbsent(name, new Entry(path(i), configs.get(i)));
      }
    }
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < configs.size(); i++) {
      String name = configs.get(i).name();
      if (name.isEmpty()) {
        problems.add(path(i) + ".name", "is empty; set a name or leave the field out");
      } else if (!seen.add(name)) {
        problems.add(
            path(i) + ".name", "\"" + name + "\" is there twice; give each plugin its own name");
      } else {
        makeWaiting(name);
      }
    }
  }

  /** The plugin of a built-in type with its default settings, for what the document leaves out. */
  <P extends Plugin> P builtIn(String type, Class<P> kind) {
    return builtIn(type, Map.of(), kind);
  }

  /** The same, with parameters that are the same each time. */
  <P extends Plugin> P builtIn(String type, Map<String, Object> parameters, Class<P> kind) {
    return kind.cast(implied.computeIfAbsent(type, name -> makeImplied(name, parameters)));
  }

  private Plugin makeImplied(String type, Map<String, Object> parameters) {
    Plugin before = kept.implied(type);
    if (before != null) {
      return before;
    }
    PluginFactory factory = factories.get(type);
    if (factory == null) {
      throw new IllegalStateException("no built-in plugin type " + type);
    }
    return factory.create(new Parameters(parameters));
  }

  boolean knows(String name) {
    return made.containsKey(name);
  }

  @Nullable Made get(String name) {
    return made.get(name);
  }

  /** Those listed that could be made, in document order. */
  List<Made> all() {
    return made.values().stream().flatMap(Stream::ofNullable).toList();
  }

  /** Every instance of this kind, listed ones first, each once. */
  <P> List<P> instances(Class<P> kind) {
    List<P> instances = new ArrayList<>();
    Stream.concat(all().stream().map(Made::plugin), implied.values().stream())
        .filter(kind::isInstance)
        .forEach(plugin -> instances.add(kind.cast(plugin)));
    return instances;
  }

  /** Every name, for messages. */
  String names() {
    return made.isEmpty() ? "none" : String.join(", ", made.keySet());
  }

  /** What a later document may take over. */
  KeptPlugins keep(List<String> profiles) {
    return new KeptPlugins(factories, profiles, all(), implied);
  }

  private static String path(int index) {
    return "scheduler.plugins[" + index + "]";
  }

  private void makeWaiting(String name) {
    Entry entry = waiting.remove(name);
    if (entry != null) {
      Made plugin = make(entry.path(), entry.config());
      made.put(name, plugin);
      if (plugin == null) {
        broken.add(name);
      }
    }
  }

  /** A plugin that another one names: made before its turn if need be. */
  private @Nullable Plugin named(String name) {
    makeWaiting(name);
    if (broken.contains(name)) {
      throw new NamesBroken();
    }
    Made found = made.get(name);
    return found == null ? null : found.plugin();
  }

  private @Nullable Made make(String path, PluginConfig config) {
    String type = config.type();
    PluginFactory factory = factories.get(type);
    if (factory == null) {
      problems.add(path + ".type", UpstreamTypes.unknown(type, factories.keySet()));
      return null;
    }
    try {
      Made before = kept.listed(config, this::named);
      return before != null
          ? new Made(
              path,
              config,
              before.plugin(),
              before.uses(),
              before.prefix(),
              before.events(),
              before.ignored(),
              true)
          : make(path, config, factory);
    } catch (InvalidParameterException e) {
      problems.add(path + ".parameters." + e.field(), e);
      return null;
    } catch (NamesBroken e) {
      return null;
    } catch (RuntimeException | Error e) {
      problems.failed(path, "\"" + config.name() + "\" of type " + type + " can't be made", e);
      return null;
    }
  }

  private Made make(String path, PluginConfig config, PluginFactory factory) {
    Map<String, @Nullable Plugin> uses = new LinkedHashMap<>();
    Parameters parameters =
        new Parameters(
            config.parameters(),
            name -> {
              Plugin used = named(name);
              uses.put(name, used);
              return used;
            });
    Plugin plugin = Objects.requireNonNull(factory.create(parameters), "create returned no plugin");
    PrefixSettings prefix = null;
    KvEventsSource events = null;
    if (plugin instanceof PrefixSettings own) {
      prefix = own;
    } else if (config.type().equals(PREFIX_SCORER)) {
      PrefixSettings own = PrefixSettings.read(parameters);
      prefix = own.equals(PrefixSettings.DEFAULT) ? null : own;
    } else if (plugin instanceof KvEventsSource own) {
      events = own;
    } else if (config.type().equals(PRECISE_SCORER)) {
      events = KvEventsSource.read(parameters);
    }
    for (String unread : new TreeSet<>(parameters.unread())) {
      problems.add(
          path + ".parameters." + unread, "is not a setting of " + config.type() + "; remove it");
    }
    return new Made(path, config, plugin, uses, prefix, events, parameters.ignored(), false);
  }
}
