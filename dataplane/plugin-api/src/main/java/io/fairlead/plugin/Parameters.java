package io.fairlead.plugin;

import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * A plugin instance's settings, read by name with type and range checked. Remembers what was read,
 * so that a setting nobody knows is an error and not a silent typo.
 */
public final class Parameters {

  private final Map<String, Object> values;
  private final Set<String> unread;

  /** Settings as they come from the document: String, Boolean, Long, Double, List or Map. */
  public Parameters(Map<String, Object> values) {
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
      throw new InvalidParameterException(
          field, "is " + shown(value) + "; set a whole number from " + min + " to " + max);
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
      throw new InvalidParameterException(
          field, "is " + shown(value) + "; set a number from " + min + " to " + max);
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
      throw new InvalidParameterException(field, "is " + shown(value) + "; set true or false");
    }
    return flag;
  }

  /** Settings that no call has asked for yet. */
  public Set<String> unread() {
    return Set.copyOf(unread);
  }

  private static String shown(Object value) {
    return value instanceof String text ? "\"" + text + "\"" : value.toString();
  }
}
