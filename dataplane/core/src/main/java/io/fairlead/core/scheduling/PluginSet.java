package io.fairlead.core.scheduling;

import io.fairlead.crds.config.PluginConfig;
import io.fairlead.plugin.InvalidParameterException;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The plugins of one document, made, by name. */
final class PluginSet {

  private final SortedMap<String, PluginFactory> factories;
  private final Problems problems;

  /** Null for a name whose plugin could not be made, or that only names what is built in. */
  private final Map<String, @Nullable Made> made = new LinkedHashMap<>();

  private final Map<String, Entry> waiting = new LinkedHashMap<>();
  private final Set<String> broken = new HashSet<>();

  private PluginSet(SortedMap<String, PluginFactory> factories, Problems problems) {
    this.factories = factories;
    this.problems = problems;
  }

  /**
   * A plugin with where the document has it.
   *
   * @param path of its entry
   */
  record Made(String path, String name, String type, Plugin plugin) {}

  private record Entry(String path, PluginConfig config) {}

  /** Ends the making of a plugin that names a broken one: that one's problems say enough. */
  private static final class NamesBroken extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  static PluginSet make(
      List<PluginConfig> configs, SortedMap<String, PluginFactory> factories, Problems problems) {
    PluginSet set = new PluginSet(factories, problems);
    for (int i = 0; i < configs.size(); i++) {
      String name = configs.get(i).name();
      if (!name.isEmpty()) {
        set.made.put(name, null);
        set.waiting.putIfAbsent(name, new Entry(path(i), configs.get(i)));
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
        set.makeWaiting(name);
      }
    }
    return set;
  }

  /** A plugin of a built-in type with its default settings, for what the document leaves out. */
  <P extends Plugin> P builtIn(String type, Class<P> kind) {
    PluginFactory factory = factories.get(type);
    if (factory == null) {
      throw new IllegalStateException("no built-in plugin type " + type);
    }
    return kind.cast(factory.create(new Parameters(Map.of())));
  }

  boolean knows(String name) {
    return made.containsKey(name);
  }

  @Nullable Made get(String name) {
    return made.get(name);
  }

  /** Those that could be made, in document order. */
  List<Made> all() {
    return made.values().stream().flatMap(java.util.stream.Stream::ofNullable).toList();
  }

  /** Every name, for messages. */
  String names() {
    return made.isEmpty() ? "none" : String.join(", ", made.keySet());
  }

  private static String path(int index) {
    return "scheduler.plugins[" + index + "]";
  }

  private void makeWaiting(String name) {
    Entry entry = waiting.remove(name);
    if (entry != null) {
      Made plugin = make(entry.path(), entry.config());
      made.put(name, plugin);
      if (plugin == null && !UpstreamTypes.builtIn(entry.config().type())) {
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
    if (UpstreamTypes.builtIn(type)) {
      if (!config.parameters().isEmpty()) {
        problems.add(
            path + ".parameters",
            "of " + type + " can't be set: what it does is built in; remove them");
      }
      return null;
    }
    PluginFactory factory = factories.get(type);
    if (factory == null) {
      problems.add(path + ".type", UpstreamTypes.unknown(type, factories.keySet()));
      return null;
    }
    Parameters parameters = new Parameters(config.parameters(), this::named);
    Plugin plugin;
    try {
      plugin = factory.create(parameters);
    } catch (InvalidParameterException e) {
      problems.add(path + ".parameters." + e.field(), e);
      return null;
    } catch (NamesBroken e) {
      return null;
    }
    for (String unread : new TreeSet<>(parameters.unread())) {
      problems.add(path + ".parameters." + unread, "is not a setting of " + type + "; remove it");
    }
    return new Made(path, config.name(), type, plugin);
  }
}
