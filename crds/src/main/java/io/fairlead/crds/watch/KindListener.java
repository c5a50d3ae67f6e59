package io.fairlead.crds.watch;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;

/** Hears what changes in a kind, on threads of the client's; must not block. */
public interface KindListener {

  /** An object has come, is another, or has gone: told as it was and as it is. */
  void changed(GenericKubernetesResource object);

  /** It became known which objects there are, or the kind as a whole has come or gone. */
  void turned();
}
