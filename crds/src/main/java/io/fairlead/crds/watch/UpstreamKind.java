package io.fairlead.crds.watch;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
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

  private final String kind;
  private final List<WatchedKind> groups;

  /**
   * A kind that is not watched yet.
   *
   * @param namespace null for all of them
   */
  public UpstreamKind(KubernetesClient client, String kind, @Nullable String namespace) {
    this.kind = kind;
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

  /** What it is called. */
  public String kind() {
    return kind;
  }

  /** Whether it is of this namespace, or of all. */
  public boolean isOf(@Nullable String namespace) {
    return groups.getFirst().isOf(namespace);
  }

  /** Whether it is known which objects count, perhaps none. */
  public boolean known() {
    return deciding().stream().allMatch(WatchedKind::known);
  }

  /** Whether there was an answer of each group, be it one that is not believed yet. */
  public boolean heard() {
    return groups.stream().allMatch(WatchedKind::heard);
  }

  /** Whether there was no answer of a group yet, and it is too soon to call that a failure. */
  public boolean awaited() {
    return groups.stream().anyMatch(WatchedKind::awaited);
  }

  /** Those that count, as last seen and as far as that is known. */
  public List<GenericKubernetesResource> objects() {
    return deciding().stream().flatMap(group -> group.objects().stream()).toList();
  }

  /** Those that don't count, since the cluster has the kind in the newer group, too. */
  public List<GenericKubernetesResource> superseded() {
    return groups.stream()
        .filter(WatchedKind::readable)
        .skip(1)
        .flatMap(group -> group.objects().stream())
        .toList();
  }

  /** Those that count, those that don't, and those of which it is not known. */
  public Stream<GenericKubernetesResource> all() {
    return groups.stream().flatMap(group -> group.objects().stream());
  }

  /** The groups as far as the one that counts: those before it have no object that does. */
  public List<WatchedKind> deciding() {
    int counting = 0;
    while (counting < groups.size() - 1 && !groups.get(counting).readable()) {
      counting++;
    }
    return groups.subList(0, counting + 1);
  }

  /** Asks once for those that count, without watching; may block. */
  public List<GenericKubernetesResource> read() {
    for (WatchedKind group : groups) {
      var _ = group.read();
      if (group.readable()) {
        break;
      }
    }
    return objects();
  }
}
