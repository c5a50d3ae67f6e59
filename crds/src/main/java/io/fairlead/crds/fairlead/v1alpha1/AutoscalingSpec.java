package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fairlead.crds.Lenient;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Between how many pods a picker is scaled, and by what.
 *
 * @param minReplicas at least 1; 1 when absent
 * @param maxReplicas at least {@code minReplicas}
 * @param cpuUtilizationPercent of what pods request, on average; when absent, 70 where no metric is
 *     named, and else nothing
 * @param podMetrics the picker's own, served by an adapter
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record AutoscalingSpec(
    @Nullable Integer minReplicas,
    @Nullable Integer maxReplicas,
    @Nullable Integer cpuUtilizationPercent,
    List<PodMetricSpec> podMetrics) {

  public AutoscalingSpec {
    podMetrics = Lenient.list(podMetrics);
  }
}
