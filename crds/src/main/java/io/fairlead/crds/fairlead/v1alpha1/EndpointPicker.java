package io.fairlead.crds.fairlead.v1alpha1;

import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/**
 * How one pool's endpoint picker is run and how it schedules. Optional: a pool without one is
 * served with defaults.
 */
@Group(EndpointPicker.GROUP)
@Version(EndpointPicker.VERSION)
@Plural("endpointpickers")
@ShortNames("epp")
public final class EndpointPicker extends CustomResource<EndpointPickerSpec, EndpointPickerStatus>
    implements Namespaced {
  public static final String GROUP = "fairlead.io";
  public static final String VERSION = "v1alpha1";
  public static final String KIND = "EndpointPicker";

  @Override
  protected @Nullable EndpointPickerSpec initSpec() {
    return null;
  }

  @Override
  protected @Nullable EndpointPickerStatus initStatus() {
    return null;
  }
}
