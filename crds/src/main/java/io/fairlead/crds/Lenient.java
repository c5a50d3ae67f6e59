package io.fairlead.crds;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Collections of wire objects, made safe to hold: never null, never changed, without null members.
 *
 * <p>A resource that cannot be decoded stops its informer and with it everybody else's resources,
 * so a null that the schema forbids but an older CRD let in is left out here and judged later,
 * where it can be named in a condition.
 */
public final class Lenient {
  private Lenient() {}

  /** An unmodifiable copy of {@code list} without its nulls; empty for null. */
  public static <T> List<T> list(@Nullable List<? extends @Nullable T> list) {
    if (list == null) {
      return List.of();
    }
    List<T> kept = new ArrayList<>(list.size());
    for (T element : list) {
      if (element != null) {
        kept.add(element);
      }
    }
    return Collections.unmodifiableList(kept);
  }

  /** An unmodifiable copy of {@code map} in its order, without null values; empty for null. */
  public static Map<String, String> map(@Nullable Map<String, ? extends @Nullable String> map) {
    if (map == null) {
      return Map.of();
    }
    Map<String, String> kept = new LinkedHashMap<>();
    map.forEach(
        (key, value) -> {
          if (value != null) {
            kept.put(key, value);
          }
        });
    return Collections.unmodifiableMap(kept);
  }
}
