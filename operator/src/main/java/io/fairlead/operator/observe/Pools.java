package io.fairlead.operator.observe;

import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Which pools there are: of one of the two groups, or of both. */
public interface Pools {

  /** Whether it is known which there are in the namespace. */
  boolean known(@Nullable String namespace);

  /** Whether there is one of this name. */
  boolean has(@Nullable String namespace, String name);

  /** To be told of each that comes or goes, and perhaps of changes; must not block. */
  void listen(Consumer<ResourceID> listener);

  /** The pools of both. */
  static Pools both(Pools one, Pools other) {
    return new Pools() {
      @Override
      public boolean known(@Nullable String namespace) {
        return one.known(namespace) && other.known(namespace);
      }

      @Override
      public boolean has(@Nullable String namespace, String name) {
        return one.has(namespace, name) || other.has(namespace, name);
      }

      @Override
      public void listen(Consumer<ResourceID> listener) {
        one.listen(listener);
        other.listen(listener);
      }
    };
  }
}
