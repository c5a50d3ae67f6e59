package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPeer;
import io.fairlead.crds.Lenient;
import java.util.List;

/**
 * Who may reach a picker's pods.
 *
 * @param requestsFrom who may send requests; anybody when empty
 * @param metricsFrom who may read metrics; pods of namespaces with the label {@code
 *     fairlead.io/metrics-reader=true} when empty
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record NetworkPolicySpec(
    List<NetworkPolicyPeer> requestsFrom, List<NetworkPolicyPeer> metricsFrom) {

  public NetworkPolicySpec {
    requestsFrom = Lenient.list(requestsFrom);
    metricsFrom = Lenient.list(metricsFrom);
  }
}
