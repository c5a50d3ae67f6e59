package io.fairlead.epp.status;

import io.fairlead.core.TargetSnapshot;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.report.PickerReport;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The one place that knows how this picker is doing. Written from the control thread only; read
 * from any thread.
 */
public final class PickerStatus {

  private final List<Consumer<PickerReport>> listeners = new CopyOnWriteArrayList<>();
  private volatile PickerReport current = PickerReport.EMPTY;

  // What the next report says.
  private @Nullable String pool;
  private @Nullable ConfigHash configHash;
  private long generation;
  private PickerReport.@Nullable Refused refused;
  private PickerReport.Endpoints endpoints = PickerReport.EMPTY.endpoints();
  private @Nullable String saturatedSince;
  private List<PickerReport.ShadowOff> shadowsOff = List.of();
  private List<PickerReport.SchedulerOff> schedulersOff = List.of();
  private PickerReport.@Nullable Targets targets;

  /** The state now, from any thread. */
  public PickerReport current() {
    return current;
  }

  /** Calls {@code listener} on the control thread with every report that differs from the last. */
  public void listen(Consumer<PickerReport> listener) {
    listeners.add(listener);
  }

  /**
   * A config is in force, perhaps the one that was before.
   *
   * @param newest whether it is what was seen last: only then is a refusal over, for nobody is told
   *     twice of what was refused
   */
  public void configApplied(String of, ConfigHash hash, boolean newest) {
    pool = of;
    generation += hash.equals(configHash) ? 0 : 1;
    configHash = hash;
    refused = newest ? null : refused;
    report();
  }

  /**
   * The newest config can't be run; what ran before still does.
   *
   * @param hash which one; null when what was found names none
   */
  public void configRefused(@Nullable ConfigHash hash, String message) {
    refused = new PickerReport.Refused(hash, message);
    report();
  }

  /**
   * Endpoints were counted.
   *
   * @param matching those that match the pool's selector
   * @param listed those of them that may get requests
   * @param reason why none can serve, null when some can
   * @param out those listed that get none, since they don't answer, by name
   */
  public void endpoints(
      int matching, int listed, @Nullable String reason, List<PickerReport.Out> out) {
    List<PickerReport.Out> named =
        out.subList(0, Math.min(out.size(), PickerReport.Endpoints.MOST_NAMED));
    endpoints =
        new PickerReport.Endpoints(matching, listed - out.size(), reason, out.size(), named);
    report();
  }

  /**
   * How full the pool is was looked at.
   *
   * @param since since when there is no room, as ISO 8601 writes a moment; null while there is
   */
  public void saturated(@Nullable String since) {
    saturatedSince = since;
    report();
  }

  /** Which shadows run no more was looked at. */
  public void shadowsOff(List<PickerReport.ShadowOff> off) {
    shadowsOff = off;
    report();
  }

  /** Which external schedulers requests don't wait for was looked at. */
  public void schedulersOff(List<PickerReport.SchedulerOff> off) {
    schedulersOff = off;
    report();
  }

  /** What answers tell of the configured targets was looked at. */
  public void targets(List<TargetSnapshot> known) {
    targets =
        new PickerReport.Targets(
            names(known, TargetSnapshot.State.SERVED),
            names(known, TargetSnapshot.State.SERVED_EARLIER),
            known.stream()
                .filter(target -> target.state() == TargetSnapshot.State.NOT_SERVED)
                .map(target -> new PickerReport.NotServed(target.name(), target.refusedBy()))
                .toList());
    report();
  }

  private static List<String> names(List<TargetSnapshot> of, TargetSnapshot.State state) {
    return of.stream().filter(target -> target.state() == state).map(TargetSnapshot::name).toList();
  }

  private void report() {
    PickerReport next =
        new PickerReport(
            pool,
            configHash,
            generation,
            refused,
            endpoints,
            saturatedSince,
            shadowsOff,
            schedulersOff,
            targets);
    if (!next.equals(current)) {
      current = next;
      listeners.forEach(listener -> listener.accept(next));
    }
  }
}
