package io.fairlead.plugin;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A plugin instance's settings, read by name with type and range checked. Remembers what was read,
 * so that a setting nobody knows is an error and not a silent typo.
 */
public final class Parameters {

  /** What comes before a field's name in errors; empty for the outermost object. */
  private final String path;

  private final Map<String, Object> values;
  private final Plugins plugins;
  private final Set<String> unread;
  private final Map<String, String> ignored = new LinkedHashMap<>();
  private final List<Parameters> objects = new ArrayList<>();

  /** The document's other plugins. */
  @FunctionalInterface
  public interface Plugins {

    /** The plugin of this name, or null when none is listed. */
    @Nullable Plugin named(String name);
  }

  /** Settings as they come from the document: String, Boolean, Long, Double, List or Map. */
  public Parameters(Map<String, Object> values) {
    this(values, name -> null);
  }

  /** Settings that may name other plugins. */
  public Parameters(Map<String, Object> values, Plugins plugins) {
    this("", values, plugins);
  }

  private Parameters(String path, Map<String, Object> values, Plugins plugins) {
    this.path = path;
    this.plugins = plugins;
    this.values = Map.copyOf(values);
    this.unread = new LinkedHashSet<>(values.keySet());
  }

  /** A whole number from {@code min} to {@code max}, or {@code absent} when not set. */
  public int integer(String field, int absent, int min, int max) {
    unread.remove(field);
    Object value = values.get(field);
    if (value == null) {
      return absent;
    }
    if (!(value instanceof Long number) || number < min || number > max) {
      throw refused(field, value, "a whole number from " + min + " to " + max);
    }
    return number.intValue();
  }

  /** A number from {@code min} to {@code max}, or {@code absent} when not set. */
  public double number(String field, double absent, double min, double max) {
    unread.remove(field);
    Object value = values.get(field);
    if (value == null) {
      return absent;
    }
    if (!(value instanceof Number number)
        || !(number.doubleValue() >= min && number.doubleValue() <= max)) {
      throw refused(field, value, "a number from " + min + " to " + max);
    }
    return number.doubleValue();
  }

  /** True or false, or {@code absent} when not set. */
  public boolean flag(String field, boolean absent) {
    unread.remove(field);
    Object value = values.get(field);
    if (value == null) {
      return absent;
    }
    if (!(value instanceof Boolean flag)) {
      throw refused(field, value, "true or false");
    }
    return flag;
  }

  /** A text that is not empty, or {@code absent} when not set. */
  public String text(String field, String absent) {
    unread.remove(field);
    Object value = values.get(field);
    if (value == null) {
      return absent;
    }
    if (!(value instanceof String text) || text.isEmpty()) {
      throw refused(field, value, "a text");
    }
    return text;
  }

  /** A text that may be empty, or {@code absent} when not set. */
  public String anyText(String field, String absent) {
    if ("".equals(values.get(field))) {
      unread.remove(field);
      return "";
    }
    return text(field, absent);
  }

  /** One of the texts in {@code choices}, or {@code absent} when not set. */
  public String choice(String field, String absent, List<String> choices) {
    String value = text(field, absent);
    if (values.containsKey(field) && !choices.contains(value)) {
      throw refused(field, value, "one of " + String.join(", ", choices));
    }
    return value;
  }

  /** A list of texts; empty when not set. */
  public List<String> texts(String field) {
    unread.remove(field);
    Object value = values.get(field);
    if (value == null) {
      return List.of();
    }
    if (!(value instanceof List<?> list)) {
      throw refused(field, value, "a list of texts");
    }
    List<String> texts = new ArrayList<>();
    for (Object element : list) {
      if (!(element instanceof String text)) {
        throw refused(field + "[" + texts.size() + "]", element, "a text");
      }
      texts.add(text);
    }
    return texts;
  }

  /** The plugin of this kind that is named here, or null when not set. */
  public <P extends Plugin> @Nullable P plugin(String field, Class<P> kind) {
    if (!has(field)) {
      return null;
    }
    String name = text(field, "");
    Plugin named = plugins.named(name);
    if (!kind.isInstance(named)) {
      throw refused(field, name, "the name of a listed plugin that is a " + kind.getSimpleName());
    }
    return kind.cast(named);
  }

  /** An object with settings of its own; an empty one when not set. */
  public Parameters object(String field) {
    unread.remove(field);
    Object value = values.get(field);
    return nested(field, value == null ? Map.of() : value);
  }

  /** A list of objects with settings of their own; empty when not set. */
  public List<Parameters> objects(String field) {
    unread.remove(field);
    Object value = values.get(field);
    if (value == null) {
      return List.of();
    }
    if (!(value instanceof List<?> list)) {
      throw refused(field, value, "a list of objects");
    }
    List<Parameters> objects = new ArrayList<>();
    for (Object element : list) {
      objects.add(nested(field + "[" + objects.size() + "]", element));
    }
    return objects;
  }

  /** An object of texts by texts, e.g. labels; empty when not set. */
  public Map<String, String> textsByText(String field) {
    unread.remove(field);
    Object value = values.get(field);
    if (value == null) {
      return Map.of();
    }
    if (!(value instanceof Map<?, ?> map)) {
      throw refused(field, value, "an object of texts");
    }
    Map<String, String> texts = new LinkedHashMap<>();
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      if (!(entry.getKey() instanceof String key) || !(entry.getValue() instanceof String text)) {
        throw refused(field + "." + entry.getKey(), entry.getValue(), "a text");
      }
      texts.put(key, text);
    }
    return texts;
  }

  /**
   * Takes a setting that changes nothing, whatever it says. When it is there, whoever wrote the
   * document is told.
   *
   * @param why it changes nothing
   */
  public void ignored(String field, String why) {
    if (has(field)) {
      unread.remove(field);
      ignored.put(field, why);
    }
  }

  /** Why settings that are there change nothing, by their path. */
  public Map<String, String> ignored() {
    Map<String, String> all = new LinkedHashMap<>();
    ignored.forEach((field, why) -> all.put(path + field, why));
    objects.forEach(object -> all.putAll(object.ignored()));
    return all;
  }

  /** Whether the setting is there. */
  public boolean has(String field) {
    return values.containsKey(field);
  }

  /** An error about a setting of this object, with its whole path. */
  public InvalidParameterException invalid(String field, String message) {
    return new InvalidParameterException(path + field, message);
  }

  /** Settings that no call has asked for yet, those of nested objects with their path. */
  public Set<String> unread() {
    Set<String> all = new LinkedHashSet<>();
    unread.forEach(field -> all.add(path + field));
    objects.forEach(object -> all.addAll(object.unread()));
    return all;
  }

  private Parameters nested(String field, @Nullable Object value) {
    if (!(value instanceof Map<?, ?> map)) {
      throw refused(field, value, "an object");
    }
    Map<String, Object> settings = new LinkedHashMap<>();
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      settings.put(String.valueOf(entry.getKey()), entry.getValue());
    }
    Parameters nested = new Parameters(path + field + ".", settings, plugins);
    objects.add(nested);
    return nested;
  }

  private InvalidParameterException refused(String field, @Nullable Object value, String wanted) {
    return invalid(field, "is " + shown(value) + "; set " + wanted);
  }

  private static String shown(@Nullable Object value) {
    return value instanceof String text ? "\"" + text + "\"" : String.valueOf(value);
  }
}
