package io.fairlead.operator.children;

import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.fairlead.v1alpha1.AutoscalingSpec;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPickerSpec;
import io.fairlead.crds.fairlead.v1alpha1.ExternalPlace;
import io.fairlead.crds.fairlead.v1alpha1.Frontend;
import io.fairlead.crds.fairlead.v1alpha1.HandOverSpec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Everything that the children are built from.
 *
 * @param namespace namespace of the pool and of every child
 * @param pool the pool's name
 * @param poolApiVersion group and version of the pool, for owner references
 * @param poolUid the pool's UID, for owner references
 * @param service the Service that gateways ask; null to leave what has its name as it is
 * @param document the scheduler config, as stored; null to leave what is stored as it is
 * @param documentHash which config that is; null without one
 * @param lastGood the document that ran before it, for pickers that cannot run this one; null when
 *     there is none
 * @param frontend what the picker is to those who send requests
 * @param image of the data plane
 * @param settings what else the picker's author wants of the pods
 * @param schedulers of the author's own, each in a container beside the picker's or elsewhere:
 *     those that the document speaks of
 * @param account UID of the ServiceAccount that pods are to have begun with; null where any does
 * @param deployed what there is of the picker, which counts where its author leaves the number of
 *     pods to others
 */
public record PickerDesign(
    String namespace,
    String pool,
    String poolApiVersion,
    String poolUid,
    @Nullable ServicePlace service,
    @Nullable String document,
    @Nullable ConfigHash documentHash,
    @Nullable String lastGood,
    Frontend frontend,
    PickerImage image,
    EndpointPickerSpec settings,
    List<ExternalPlace> schedulers,
    @Nullable String account,
    Deployed deployed) {

  /**
   * What there is of a picker.
   *
   * @param pods that are asked for; 0 before there is a Deployment
   * @param handsOver whether these hand over what they know by the Secret that is made for them
   */
  public record Deployed(int pods, boolean handsOver) {
    public static final Deployed NOTHING = new Deployed(0, false);
  }

  /**
   * Where gateways find the picker.
   *
   * @param name of the Service
   * @param port 1 to 65535
   */
  public record ServicePlace(String name, int port) {}

  public PickerDesign {
    schedulers = List.copyOf(schedulers);
  }

  /** The picker's name, see {@link Names#child}. */
  public String picker() {
    return Names.child(pool);
  }

  /** Whether more than one pod may serve requests at a time. */
  boolean mayBeMany() {
    AutoscalingSpec autoscaling = settings.autoscaling();
    Integer said = autoscaling == null ? settings.replicas() : autoscaling.maxReplicas();
    Integer most = isScaledByOthers() ? Integer.valueOf(deployed.pods()) : said;
    return settings.disruptionBudget() != null || (most != null && most > 1);
  }

  private boolean isScaledByOthers() {
    return settings.autoscaling() == null && settings.replicas() == null;
  }

  /**
   * How pods hand over what they know; null where they don't. To begin or to end that replaces
   * them: others who scale them to one pod and back all day must not bring that about.
   */
  @Nullable HandOverSpec handOver() {
    HandOverSpec asked = settings.handOver();
    if (asked == null) {
      return mayBeMany() || (isScaledByOthers() && deployed.handsOver()) ? HandOverSpec.OWN : null;
    }
    return Boolean.FALSE.equals(asked.enabled()) ? null : asked;
  }

  /**
   * The same as far as the picker's author brings it about, by whichever field: what others do who
   * scale the Deployment is not asked for.
   */
  @Nullable HandOverSpec handOverAskedFor() {
    boolean others =
        settings.handOver() == null && isScaledByOthers() && settings.disruptionBudget() == null;
    return others ? null : handOver();
  }

  /** Name of the Secret that pods share to hand over what they know; null where they don't. */
  @Nullable String handOverSecret() {
    HandOverSpec asked = handOver();
    if (asked == null) {
      return null;
    }
    return asked.secretName() == null ? Names.handOver(picker()) : asked.secretName();
  }

  /** The same, and pods begin with nothing. */
  public PickerDesign withoutHandOver() {
    return new PickerDesign(
        namespace,
        pool,
        poolApiVersion,
        poolUid,
        service,
        document,
        documentHash,
        lastGood,
        frontend,
        image,
        settings.withoutHandOver(),
        schedulers,
        account,
        deployed);
  }
}
