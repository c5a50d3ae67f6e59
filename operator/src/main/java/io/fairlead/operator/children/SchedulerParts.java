package io.fairlead.operator.children;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fairlead.crds.fairlead.v1alpha1.ExternalPlace;
import io.fairlead.crds.fairlead.v1alpha1.ExternalSpec.ServiceSpec;
import io.fairlead.crds.fairlead.v1alpha1.ExternalSpec.SidecarSpec;
import io.fairlead.crds.fairlead.v1alpha1.ExternalSpec.TlsSpec;
import java.util.ArrayList;
import java.util.List;

/** What a picker's pod has for one scheduler of the author's own. */
final class SchedulerParts {

  private static final String ADDRESS = "SCHEDULER_ADDRESS";
  private static final String CA_KEY = "ca.crt";
  private static final int READ_ONLY = 0444;

  private SchedulerParts() {}

  /** Its container; none where it runs elsewhere. */
  static List<Container> container(ExternalPlace place) {
    SidecarSpec sidecar = place.spec().sidecar();
    if (sidecar == null) {
      return List.of();
    }
    List<VolumeMount> mounts = new ArrayList<>();
    mounts.add(mount(temporary(place), "/tmp", false));
    if (hasSocket(place)) {
      mounts.add(mount(place.name(), place.socketFolder(), false));
    }
    return List.of(
        new ContainerBuilder()
            .withName(place.name())
            .withImage(sidecar.image())
            .withImagePullPolicy("IfNotPresent")
            .withCommand(sidecar.command())
            .withArgs(sidecar.args())
            .withEnv(environment(place, sidecar))
            .withResources(resources(sidecar))
            .withNewSecurityContext()
            .withRunAsNonRoot(true)
            .withAllowPrivilegeEscalation(false)
            .withReadOnlyRootFilesystem(true)
            .withNewCapabilities()
            .withDrop("ALL")
            .endCapabilities()
            .endSecurityContext()
            .withVolumeMounts(mounts)
            .build());
  }

  /** The address first, so that what follows may refer to it. */
  private static List<EnvVar> environment(ExternalPlace place, SidecarSpec sidecar) {
    List<EnvVar> all = new ArrayList<>();
    all.add(variable(ADDRESS, place.address()));
    sidecar
        .env()
        .forEach(
            (name, value) -> {
              if (!name.equals(ADDRESS)) {
                all.add(variable(name, value));
              }
            });
    return all;
  }

  private static EnvVar variable(String name, String value) {
    return new EnvVarBuilder().withName(name).withValue(value).build();
  }

  private static ResourceRequirements resources(SidecarSpec sidecar) {
    ResourceRequirements asked = sidecar.resources();
    return asked != null
        ? asked
        : new ResourceRequirementsBuilder()
            .addToRequests("cpu", new Quantity("250m"))
            .addToRequests("memory", new Quantity("128Mi"))
            .addToLimits("memory", new Quantity("512Mi"))
            .build();
  }

  private static boolean hasSocket(ExternalPlace place) {
    SidecarSpec sidecar = place.spec().sidecar();
    return sidecar != null && sidecar.port() == null;
  }

  private static String temporary(ExternalPlace place) {
    return "tmp-" + place.name(); // no other place begins so
  }

  /** Volumes of the pod. */
  static List<Volume> volumes(ExternalPlace place) {
    List<Volume> volumes = new ArrayList<>();
    if (place.spec().sidecar() != null) {
      volumes.add(emptyDir(temporary(place)));
    }
    if (hasSocket(place)) {
      volumes.add(emptyDir(place.name()));
    }
    ServiceSpec service = place.spec().service();
    TlsSpec tls = service == null ? null : service.tls();
    if (tls != null && tls.hasFile()) {
      volumes.add(authorities(place, tls));
    }
    return volumes;
  }

  /**
   * Its file is found missing by the picker, which goes on without the scheduler and says so: a pod
   * that can't start says less, and serves nobody. Of a Secret it holds no other key.
   */
  private static Volume authorities(ExternalPlace place, TlsSpec tls) {
    VolumeBuilder volume = new VolumeBuilder().withName(place.name());
    return tls.caConfigMap() != null
        ? volume
            .withNewConfigMap()
            .withName(tls.caConfigMap())
            .withOptional(true)
            .withDefaultMode(READ_ONLY)
            .addNewItem()
            .withKey(CA_KEY)
            .withPath(CA_KEY)
            .endItem()
            .endConfigMap()
            .build()
        : volume
            .withNewSecret()
            .withSecretName(tls.caSecret())
            .withOptional(true)
            .withDefaultMode(READ_ONLY)
            .addNewItem()
            .withKey(CA_KEY)
            .withPath(CA_KEY)
            .endItem()
            .endSecret()
            .build();
  }

  /** What the picker's own container sees of it. */
  static List<VolumeMount> mounts(ExternalPlace place) {
    ServiceSpec service = place.spec().service();
    if (service != null && service.tls() != null && service.tls().hasFile()) {
      return List.of(mount(place.name(), place.caFolder(), true));
    }
    return hasSocket(place) ? List.of(mount(place.name(), place.socketFolder(), false)) : List.of();
  }

  private static VolumeMount mount(String volume, String path, boolean readOnly) {
    return new VolumeMountBuilder()
        .withName(volume)
        .withMountPath(path)
        .withReadOnly(readOnly ? true : null)
        .build();
  }

  static Volume emptyDir(String name) {
    return new VolumeBuilder().withName(name).withNewEmptyDir().endEmptyDir().build();
  }
}
