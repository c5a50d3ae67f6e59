package io.fairlead.operator.children;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscalerBuilder;
import io.fabric8.kubernetes.api.model.autoscaling.v2.MetricSpec;
import io.fabric8.kubernetes.api.model.autoscaling.v2.MetricSpecBuilder;
import io.fairlead.crds.fairlead.v1alpha1.AutoscalingSpec;
import io.fairlead.crds.fairlead.v1alpha1.PodMetricSpec;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The autoscaler of a picker's Deployment. While there is one, the operator says nothing of how
 * many pods run, so that the two never fight.
 */
final class PickerAutoscaler {

  /** Of what a pod requests: room for a burst until the next pod is up. */
  private static final int USUAL_CPU_PERCENT = 70;

  private static final BigDecimal THOUSAND = BigDecimal.valueOf(1_000);

  /** Suffixes of powers of a thousand. */
  private static final String LARGER = "kMGT";

  private PickerAutoscaler() {}

  static HorizontalPodAutoscaler of(PickerDesign design, AutoscalingSpec asked) {
    return new HorizontalPodAutoscalerBuilder()
        .withMetadata(Children.meta(design, design.picker()).build())
        .withNewSpec()
        .withNewScaleTargetRef()
        .withApiVersion("apps/v1")
        .withKind("Deployment")
        .withName(design.picker())
        .endScaleTargetRef()
        .withMinReplicas(asked.minReplicas() == null ? Integer.valueOf(1) : asked.minReplicas())
        .withMaxReplicas(asked.maxReplicas())
        .withMetrics(metrics(asked))
        .endSpec()
        .build();
  }

  private static List<MetricSpec> metrics(AutoscalingSpec asked) {
    List<MetricSpec> metrics = new ArrayList<>();
    Integer cpu = asked.cpuUtilizationPercent();
    if (cpu != null || asked.podMetrics().isEmpty()) {
      metrics.add(
          new MetricSpecBuilder()
              .withType("Resource")
              .withNewResource()
              .withName("cpu")
              .withNewTarget()
              .withType("Utilization")
              .withAverageUtilization(cpu == null ? Integer.valueOf(USUAL_CPU_PERCENT) : cpu)
              .endTarget()
              .endResource()
              .build());
    }
    for (PodMetricSpec metric : asked.podMetrics()) {
      metrics.add(
          new MetricSpecBuilder()
              .withType("Pods")
              .withNewPods()
              .withNewMetric()
              .withName(metric.name())
              .endMetric()
              .withNewTarget()
              .withType("AverageValue")
              .withAverageValue(canonical(metric.averageValue()))
              .endTarget()
              .endPods()
              .build());
    }
    return List.copyOf(metrics);
  }

  /** As the API server writes it: what it writes otherwise would be applied again and again. */
  static Quantity canonical(@Nullable String asked) {
    BigDecimal amount = Quantity.getAmountInBytes(new Quantity(asked));
    BigDecimal thousandths = amount.movePointRight(3).setScale(0, RoundingMode.UP);
    if (thousandths.remainder(THOUSAND).signum() != 0) {
      return new Quantity(thousandths.toBigInteger() + "m");
    }
    BigDecimal whole = thousandths.divide(THOUSAND);
    int power = 0;
    while (power < LARGER.length()
        && whole.signum() > 0
        && whole.remainder(THOUSAND).signum() == 0) {
      whole = whole.divide(THOUSAND);
      power++;
    }
    return new Quantity(
        whole.toBigInteger() + (power == 0 ? "" : LARGER.substring(power - 1, power)));
  }
}
