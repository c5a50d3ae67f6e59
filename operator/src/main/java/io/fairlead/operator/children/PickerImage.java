package io.fairlead.operator.children;

import java.util.List;

/**
 * What a picker's pods run.
 *
 * @param name of the image
 * @param pullSecrets Secrets of a pool's namespace that its registry asks for, where the picker's
 *     author names none; Kubernetes passes over those that are not there
 */
public record PickerImage(String name, List<String> pullSecrets) {

  public PickerImage {
    pullSecrets = List.copyOf(pullSecrets);
  }

  /** From a registry that asks for nothing. */
  public PickerImage(String name) {
    this(name, List.of());
  }

  /** Another image, with the same Secrets. */
  public PickerImage named(String other) {
    return new PickerImage(other, pullSecrets);
  }
}
