package io.fairlead.core;

import io.fairlead.plugin.CycleState;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Plugins' notes about the current request. A handful at most: searched, not hashed. */
final class Notes implements CycleState {

  private final List<Key<?>> keys = new ArrayList<>();
  private final List<Object> values = new ArrayList<>();

  void clear() {
    keys.clear();
    values.clear();
  }

  @Override
  public <T> @Nullable T get(Key<T> key) {
    int at = indexOf(key);
    return at < 0 ? null : key.type().cast(values.get(at));
  }

  @Override
  public <T> void put(Key<T> key, T value) {
    int at = indexOf(key);
    if (at < 0) {
      keys.add(key);
      values.add(value);
    } else {
      values.set(at, value);
    }
  }

  private int indexOf(Key<?> key) {
    for (int i = 0; i < keys.size(); i++) {
      if (keys.get(i) == key) {
        return i;
      }
    }
    return -1;
  }
}
