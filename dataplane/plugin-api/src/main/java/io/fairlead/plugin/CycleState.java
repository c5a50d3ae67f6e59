package io.fairlead.plugin;

import org.jspecify.annotations.Nullable;

/**
 * What plugins tell one another about the request that is being decided. Valid until the decision
 * is made.
 */
public interface CycleState {

  /** The last value put under this key for the current request, or null. */
  <T> @Nullable T get(Key<T> key);

  /** Leaves a value for plugins that run later. */
  <T> void put(Key<T> key, T value);

  /**
   * Names a value; keys are the same only if they are the same object. Make one constant.
   *
   * @param <T> type of the value
   */
  final class Key<T> {
    private final Class<T> type;

    /** A key for values of this type. */
    public Key(Class<T> type) {
      this.type = type;
    }

    /** The type of the value. */
    public Class<T> type() {
      return type;
    }
  }
}
