package io.fairlead.crds.local;

import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fairlead.crds.document.FieldError;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import java.util.List;

/**
 * What a file or folder holds. Each list is in the order of file names and then of the files. With
 * any error the rest is incomplete: keep the last good state and show the errors.
 *
 * @param errors everything that an API server would have refused, and files that could not be read
 */
public record LocalResources(
    List<InferencePool> pools,
    List<InferenceModel> models,
    List<EndpointPicker> pickers,
    List<EndpointSlice> slices,
    List<StaticEndpoint> endpoints,
    List<FieldError> errors) {
  public LocalResources {
    pools = List.copyOf(pools);
    models = List.copyOf(models);
    pickers = List.copyOf(pickers);
    slices = List.copyOf(slices);
    endpoints = List.copyOf(endpoints);
    errors = List.copyOf(errors);
  }
}
