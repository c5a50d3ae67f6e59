package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.FieldsV1;
import java.lang.ref.WeakReference;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;

/**
 * Which fields of objects are whose, with what is the same in many of them kept once. It has a map
 * for each field, and in children of one kind only the identities of their owners differ.
 *
 * <p>Safe to use from any thread.
 */
final class FieldSets {

  /** As long as an object says so. None of them changes. */
  private final Map<Map<?, ?>, WeakReference<Map<?, ?>>> known = new WeakHashMap<>();

  /** Has them say the same in words that they share with others, and that nobody may change. */
  @SuppressWarnings("unchecked") // the same keys as before
  synchronized void share(FieldsV1 fields) {
    fields.setAdditionalProperties((Map<String, Object>) shared(fields.getAdditionalProperties()));
  }

  private Object shared(Object fields) {
    if (!(fields instanceof Map<?, ?> map) || map.values().stream().anyMatch(Objects::isNull)) {
      return fields;
    }
    Map<Object, Object> within = new LinkedHashMap<>();
    map.forEach((field, below) -> within.put(field, shared(below)));
    Map<?, ?> small = Map.copyOf(within);
    WeakReference<Map<?, ?>> held = known.get(small);
    Map<?, ?> before = held == null ? null : held.get();
    if (before != null) {
      return before;
    }
    known.put(small, new WeakReference<>(small));
    return small;
  }
}
