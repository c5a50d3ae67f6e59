package io.fairlead.operator.status;

import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateRunning;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.operator.children.Children;
import java.util.Comparator;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One pod of a picker.
 *
 * @param pod as observed
 * @param report its own account; null before it wrote one that can be read
 * @param unreadable what is wrong with its account; null when it has none or a good one
 */
public record Replica(Pod pod, @Nullable PickerReport report, @Nullable String unreadable) {

  /** An order that does not change while the pods are the same. */
  static final Comparator<Replica> NEWEST_FIRST =
      Comparator.comparing(Replica::created).reversed().thenComparing(Replica::name);

  /** With what was read of its account; null when it wrote none. */
  public static Replica of(Pod pod, PickerReport.@Nullable Reading reading) {
    return reading == null
        ? new Replica(pod, null, null)
        : new Replica(pod, reading.report(), reading.problem());
  }

  /** Whether traffic reaches it and will go on doing so. */
  public boolean ready() {
    return pod.getMetadata().getDeletionTimestamp() == null
        && pod.getStatus() != null
        && pod.getStatus().getConditions().stream()
            .anyMatch(c -> "Ready".equals(c.getType()) && "True".equals(c.getStatus()));
  }

  /**
   * Since when the picker in it runs that is not ready, as the kubelet writes it; empty where it
   * does not run, or is.
   */
  public Optional<String> startingSince() {
    return pod.isMarkedForDeletion() || pod.getStatus() == null
        ? Optional.empty()
        : pod.getStatus().getContainerStatuses().stream()
            .filter(status -> Children.CONTAINER.equals(status.getName()))
            .filter(status -> !Boolean.TRUE.equals(status.getReady()))
            .map(ContainerStatus::getState)
            .flatMap(Stream::ofNullable)
            .map(ContainerState::getRunning)
            .flatMap(Stream::ofNullable)
            .map(ContainerStateRunning::getStartedAt)
            .flatMap(Stream::ofNullable)
            .findFirst();
  }

  private String created() {
    return Objects.requireNonNullElse(pod.getMetadata().getCreationTimestamp(), "");
  }

  /** The pod's name. */
  public String name() {
    return pod.getMetadata().getName();
  }
}
