package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fairlead.crds.Lenient;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How a picker's metrics are found.
 *
 * @param podMonitor a PodMonitor for the pods; none when absent
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record MonitoringSpec(@Nullable PodMonitorSpec podMonitor) {

  /**
   * An object of the Prometheus operator's.
   *
   * @param interval how often metrics are read; as Prometheus does by default when absent
   * @param labels by which a Prometheus chooses
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_EMPTY)
  public record PodMonitorSpec(@Nullable String interval, Map<String, String> labels) {
    public PodMonitorSpec {
      labels = Lenient.map(labels);
    }
  }
}
