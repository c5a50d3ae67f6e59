package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Where the pods of a picker have a scheduler of the author's own: what the operator mounts and the
 * config names. There may be one for the scheduling in force, and one for each shadow.
 *
 * @param name of the container and of its folders, a DNS label
 * @param spec what was asked for
 */
public record ExternalPlace(String name, ExternalSpec spec) {

  private static final String IN_FORCE = "scheduler";
  private static final int MAX = 50;

  /** That of the scheduling in force. */
  public static ExternalPlace inForce(ExternalSpec spec) {
    return new ExternalPlace(IN_FORCE, spec);
  }

  /** That of a shadow, which is a service; a long name is shortened and stays unique. */
  public static ExternalPlace ofShadow(String shadow, ExternalSpec spec) {
    String name = IN_FORCE + "-" + shadow;
    return new ExternalPlace(
        name.length() <= MAX
            ? name
            : name.substring(0, MAX - 9)
                + "-"
                + UUID.nameUUIDFromBytes(shadow.getBytes(StandardCharsets.UTF_8))
                    .toString()
                    .substring(0, 8),
        spec);
  }

  /** All of a picker, that in force first. */
  public static List<ExternalPlace> of(@Nullable EndpointPickerSpec picker) {
    List<ExternalPlace> places = new ArrayList<>(ofScheduling(picker));
    places.addAll(ofShadows(picker));
    return places;
  }

  /** That of a picker's scheduling; empty where it has none. */
  public static List<ExternalPlace> ofScheduling(@Nullable EndpointPickerSpec picker) {
    ExternalSpec spec = picker == null ? null : ExternalSpec.of(picker.scheduling());
    return spec != null && spec.canBe() ? List.of(inForce(spec)) : List.of();
  }

  /** Those of a picker's shadows; one that is refused has none. */
  public static List<ExternalPlace> ofShadows(@Nullable EndpointPickerSpec picker) {
    List<ExternalPlace> places = new ArrayList<>();
    for (ShadowSpec shadow : picker == null ? List.<ShadowSpec>of() : picker.shadows()) {
      ExternalSpec tried = ExternalSpec.of(shadow.scheduling());
      if (tried != null && tried.sidecar() == null && tried.canBe() && shadow.name() != null) {
        places.add(ofShadow(shadow.name(), tried));
      }
    }
    return places;
  }

  /** Whether it is that of the scheduling in force, and of no shadow. */
  @JsonIgnore
  public boolean isInForce() {
    return name.equals(IN_FORCE);
  }

  /** The folder of its socket. */
  public String socketFolder() {
    return "/run/fairlead/" + name;
  }

  /** The folder of the certificates that its own must come from, in the picker's container. */
  public String caFolder() {
    return "/etc/fairlead/" + name;
  }

  /** The file in it. */
  public String caFile() {
    return caFolder() + "/ca.crt";
  }

  /** Where it is reached from the picker, and listens itself where it is a sidecar. */
  public String address() {
    ExternalSpec.SidecarSpec sidecar = spec.sidecar();
    if (sidecar == null) {
      return spec.service() == null ? "" : String.valueOf(spec.service().address());
    }
    return sidecar.port() == null
        ? "unix:" + socketFolder() + "/socket"
        : "127.0.0.1:" + sidecar.port();
  }
}
