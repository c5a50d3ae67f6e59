package io.fairlead.crds.v1alpha2;

import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/**
 * A model name that clients may ask a pool for: how critical it is and which served models answer
 * for it.
 */
@Group(InferenceModel.GROUP)
@Version(InferenceModel.VERSION)
@Plural("inferencemodels")
@ShortNames("infmodel")
public final class InferenceModel extends CustomResource<InferenceModelSpec, InferenceModelStatus>
    implements Namespaced {
  public static final String GROUP = "inference.networking.x-k8s.io";
  public static final String VERSION = "v1alpha2";

  @Override
  protected @Nullable InferenceModelSpec initSpec() {
    return null;
  }

  @Override
  protected @Nullable InferenceModelStatus initStatus() {
    return null;
  }
}
