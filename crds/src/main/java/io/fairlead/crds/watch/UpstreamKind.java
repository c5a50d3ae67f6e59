package io.fairlead.crds.watch;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A kind of upstream's that moved from one group to another. Where the cluster has it in the newer
 * group, and it may be read, objects of that group count; else those of the older one.
 *
 * <p>Whoever asks may do so from any thread once {@link #start} has returned.
 */
public final class UpstreamKind {

  /** The groups, the one that counts where both have the kind first. */
  public static final List<String> GROUPS = List.of("llm-d.ai", "inference.networking.x-k8s.io");

  private static final String VERSION = "v1alpha2";

  private final List<WatchedKind> groups;

  /**
   * A kind that is not watched yet.
   *
   * @param namespace null for all of them
   */
  public UpstreamKind(KubernetesClient client, String kind, @Nullable String namespace) {
    groups =
        GROUPS.stream()
            .map(group -> new WatchedKind(client, group, VERSION, kind, namespace, null))
            .toList();
  }

  /** Begins to watch. */
  public void start(KindListener listener) {
    groups.forEach(group -> group.start(listener));
  }

  /** Ends the watch. */
  public void stop() {
    groups.forEach(WatchedKind::stop);
  }

  /** Whether it is known which objects there are, perhaps none. */
  public boolean known() {
    return groups.stream().allMatch(WatchedKind::known);
  }

  /** Those that count, as last seen. */
  public List<GenericKubernetesResource> objects() {
    return first(WatchedKind::objects);
  }

  /** Asks once for those that count, without watching; may block. */
  public List<GenericKubernetesResource> read() {
    return first(WatchedKind::read);
  }

  /** Those that don't count, since the cluster has the kind in the newer group, too. */
  public List<GenericKubernetesResource> superseded() {
    return groups.stream()
        .filter(WatchedKind::readable)
        .skip(1)
        .flatMap(group -> group.objects().stream())
        .toList();
  }

  private List<GenericKubernetesResource> first(
      Function<WatchedKind, List<GenericKubernetesResource>> holds) {
    return groups.stream()
        .flatMap(
            group -> {
              List<GenericKubernetesResource> objects = holds.apply(group);
              return group.readable() ? Stream.of(objects) : Stream.empty();
            })
        .findFirst()
        .orElse(List.of());
  }
}
