package io.fairlead.crds.v1;

import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/**
 * A set of model server pods, chosen by label, that share their compute among models. Upstream's
 * kind; read as it is. One of the group before it was settled is read as if it were one of these.
 */
@Group(InferencePool.GROUP)
@Version(InferencePool.VERSION)
@Plural("inferencepools")
@ShortNames("infpool")
public class InferencePool extends CustomResource<InferencePoolSpec, InferencePoolStatus>
    implements Namespaced {
  public static final String GROUP = "inference.networking.k8s.io";
  public static final String VERSION = "v1";

  @Override
  protected @Nullable InferencePoolSpec initSpec() {
    return null;
  }

  @Override
  protected @Nullable InferencePoolStatus initStatus() {
    return null;
  }
}
