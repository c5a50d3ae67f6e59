package io.fairlead.crds.compile;

import io.fabric8.kubernetes.api.model.HasMetadata;

/**
 * A resource by its name.
 *
 * @param kind for example {@code InferenceModel}
 */
public record ObjectRef(String kind, String namespace, String name) {
  static ObjectRef of(HasMetadata object) {
    return new ObjectRef(
        object.getKind(),
        String.valueOf(object.getMetadata().getNamespace()),
        String.valueOf(object.getMetadata().getName()));
  }

  /** {@code Kind namespace/name}. */
  @Override
  public String toString() {
    return kind + " " + namespace + "/" + name;
  }
}
