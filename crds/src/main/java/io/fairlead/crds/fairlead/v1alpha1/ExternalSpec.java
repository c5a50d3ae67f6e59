package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fairlead.crds.Lenient;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The field {@code external} of a scheduling: a scheduler of the author's own. One of {@code
 * sidecar} and {@code service} is set.
 *
 * @param sidecar runs beside each picker
 * @param service runs elsewhere
 * @param timeout how long a request waits for its word
 * @param batchDelay how long the first request of a batch waits for others
 * @param batchRequests requests in a batch at most
 * @param refresh how often it is asked again about a request that waits for room
 * @param state whether it is told of endpoints' loads
 * @param prefixMatches whether it is told what each endpoint holds of a prompt
 * @param headers names of the requests' headers that it is told
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ExternalSpec(
    @Nullable SidecarSpec sidecar,
    @Nullable ServiceSpec service,
    @Nullable String timeout,
    @Nullable String batchDelay,
    @Nullable Integer batchRequests,
    @Nullable String refresh,
    @Nullable Boolean state,
    @Nullable Boolean prefixMatches,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> headers) {

  /** Where the picker itself listens in the same pod. */
  public static final Set<Integer> PICKERS_PORTS = Set.of(8080, 9002, 9003, 9004, 9090);

  private static final JsonMapper JSON = JsonMapper.builder().build();

  public ExternalSpec {
    headers = Lenient.list(headers);
  }

  /**
   * A container of each picker's pod.
   *
   * @param image container image
   * @param command in place of the image's entry point
   * @param args in place of the image's own
   * @param env more variables of its environment
   * @param port where it listens; null for a Unix socket
   * @param resources the defaults when null
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record SidecarSpec(
      @Nullable String image,
      @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> command,
      @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> args,
      @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, String> env,
      @Nullable Integer port,
      @Nullable ResourceRequirements resources) {
    public SidecarSpec {
      command = Lenient.list(command);
      args = Lenient.list(args);
      env = Collections.unmodifiableMap(new TreeMap<>(Lenient.map(env)));
    }
  }

  /**
   * A scheduler that runs elsewhere.
   *
   * @param address host and port
   * @param tls how it is spoken to; null for clear text
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ServiceSpec(@Nullable String address, @Nullable TlsSpec tls) {}

  /**
   * Whose certificates are trusted: those of the key ca.crt, or of the picker's image where neither
   * is set.
   *
   * @param caConfigMap name of a ConfigMap
   * @param caSecret name of a Secret
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record TlsSpec(@Nullable String caConfigMap, @Nullable String caSecret) {

    /** Whether there is a file to trust. */
    public boolean hasFile() {
      return caConfigMap != null || caSecret != null;
    }
  }

  /**
   * Whether pods can be made that have it. The compiler says what is wrong with one that can't be
   * in any; a pod template with it would keep all pods of the picker away.
   */
  public boolean canBe() {
    return sidecar != null
        ? service == null
            && sidecar.image() != null
            && !sidecar.image().isBlank()
            && (sidecar.port() == null || !PICKERS_PORTS.contains(sidecar.port()))
        : service != null && service.address() != null;
  }

  /** What of it is in pods: the rest is in the config, which is read hot. */
  public ExternalSpec ofPods() {
    return new ExternalSpec(sidecar, service, null, null, null, null, null, null, List.of());
  }

  /** Reads that of a scheduling, as the API server has let it through; null if it has none. */
  public static @Nullable ExternalSpec of(@Nullable JsonNode scheduling) {
    JsonNode external = scheduling == null ? null : scheduling.get("external");
    if (external == null || !external.isObject()) {
      return null;
    }
    try {
      return JSON.convertValue(external, ExternalSpec.class);
    } catch (IllegalArgumentException e) {
      return null; // the compiler says what is wrong
    }
  }
}
