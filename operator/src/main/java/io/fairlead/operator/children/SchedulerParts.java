package io.fairlead.operator.children;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.json.JsonMapper;
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
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a picker's pod has for one scheduler of the author's own. */
final class SchedulerParts {

  private static final String ADDRESS = "SCHEDULER_ADDRESS";

  /** What pods have, to go on with where what is asked for next can't be run. */
  private static final String PLACES = "fairlead.io/schedulers";

  /**
   * Kubernetes mounts the token of the pod's account into every container that has nothing at its
   * path: a scheduler would have all that the picker may do.
   */
  private static final String NO_TOKEN = "no-token"; // places begin with "scheduler"

  private static final String TOKEN_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private SchedulerParts() {}

  /** Says of a Deployment which of them its pods have; empty for none. */
  static Map<String, String> annotations(List<ExternalPlace> places) {
    if (places.isEmpty()) {
      return Map.of();
    }
    List<ExternalPlace> ofPods =
        places.stream()
            .map(place -> new ExternalPlace(place.name(), place.spec().ofPods()))
            .toList();
    try {
      return Map.of(PLACES, JSON.writeValueAsString(ofPods));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("what came as JSON could not be written as JSON", e);
    }
  }

  /** Reads it back; none where somebody has made something else of it. */
  static List<ExternalPlace> of(@Nullable Map<String, String> annotations) {
    String places = annotations == null ? null : annotations.get(PLACES);
    try {
      return places == null ? List.of() : JSON.readValue(places, new TypeReference<>() {});
    } catch (JsonProcessingException e) {
      return List.of();
    }
  }

  /** Its container; none where it runs elsewhere. */
  static List<Container> container(ExternalPlace place) {
    SidecarSpec sidecar = place.spec().sidecar();
    if (sidecar == null) {
      return List.of();
    }
    List<VolumeMount> mounts = new ArrayList<>();
    mounts.add(mount(temporary(place), "/tmp", false));
    mounts.add(mount(NO_TOKEN, TOKEN_FOLDER, true));
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
      volumes.add(emptyDir(NO_TOKEN));
    }
    if (hasSocket(place)) {
      volumes.add(emptyDir(place.name()));
    }
    ServiceSpec service = place.spec().service();
    TlsSpec tls = service == null ? null : service.tls();
    if (tls != null && tls.hasFile()) {
      // Where the file is missing the picker goes on without the scheduler, and serves.
      volumes.add(Authorities.volume(place.name(), tls.caConfigMap(), tls.caSecret()));
    }
    return volumes;
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
