package io.fairlead.epp.datalayer;

import io.fabric8.kubernetes.api.model.discovery.v1.EndpointSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fairlead.crds.report.PickerReport;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many ready pickers share the pool, as the EndpointSlices of their Service tell. Changes that
 * come together are looked at together, a moment later. While the API server can't be reached or
 * doesn't allow it, the last number known holds; before the first nothing is told.
 *
 * <p>Confined to the control thread, but for the informer's notices.
 */
public final class ReplicaSource implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ReplicaSource.class);
  private static final long SETTLE_MILLIS = 20;

  /** With the name of the Service, on each of its slices. */
  private static final String SERVICE_LABEL = "kubernetes.io/service-name";

  private final KubernetesClient client;
  private final String namespace;
  private final String label;
  private final String value;
  private final ScheduledExecutorService control;
  private final AtomicBoolean lookPlanned = new AtomicBoolean();
  private @Nullable SharedIndexInformer<EndpointSlice> informer;
  private int last;
  private volatile @Nullable List<String> addresses;
  private volatile boolean complained;

  private ReplicaSource(
      KubernetesClient client,
      String namespace,
      String label,
      String value,
      ScheduledExecutorService control) {
    this.client = client;
    this.namespace = namespace;
    this.label = label;
    this.value = value;
    this.control = control;
  }

  /** Of the Service of this name; the client stays the caller's to close. */
  public static ReplicaSource ofService(
      KubernetesClient client, String namespace, String name, ScheduledExecutorService control) {
    return new ReplicaSource(client, namespace, SERVICE_LABEL, name, control);
  }

  /**
   * Of the Services that the operator has made for this picker: slices carry the labels of their
   * Service. So a Service that is renamed restarts no picker.
   */
  public static ReplicaSource ofPicker(
      KubernetesClient client, String namespace, String picker, ScheduledExecutorService control) {
    return new ReplicaSource(client, namespace, PickerReport.PICKER_LABEL, picker, control);
  }

  /**
   * Begins to watch and returns at once.
   *
   * @param sink gets the number of pickers, at least 1, and each other one from then on, on the
   *     control thread
   */
  public void start(IntConsumer sink) {
    SharedIndexInformer<EndpointSlice> made =
        client
            .discovery()
            .v1()
            .endpointSlices()
            .inNamespace(namespace)
            .withLabel(label, value)
            .runnableInformer(0);
    made.addEventHandler(
        new ResourceEventHandler<EndpointSlice>() {
          @Override
          public void onAdd(EndpointSlice slice) {
            plan(made, sink);
          }

          @Override
          public void onUpdate(EndpointSlice before, EndpointSlice slice) {
            plan(made, sink);
          }

          @Override
          public void onDelete(EndpointSlice slice, boolean unknown) {
            plan(made, sink);
          }

          @Override
          public void onNothing() {
            plan(made, sink);
          }
        });
    made.exceptionHandler(
        (started, failure) -> {
          if (!complained) {
            complained = true;
            LOG.warn(
                "endpointslices with {}={} in namespace {} can't be watched, trying again; the"
                    + " number of pickers stays as it was: {}",
                label,
                value,
                namespace,
                failure.toString());
          }
          return true;
        });
    informer = made;
    var _ = made.start();
  }

  /** Of the ready pickers, as listed last; null before the first list. Any thread. */
  public @Nullable List<String> addresses() {
    return addresses;
  }

  @Override
  public void close() {
    if (informer != null) {
      informer.stop();
    }
  }

  private void plan(SharedIndexInformer<EndpointSlice> slices, IntConsumer sink) {
    if (lookPlanned.compareAndSet(false, true)) {
      var _ = control.schedule(() -> look(slices, sink), SETTLE_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private void look(SharedIndexInformer<EndpointSlice> slices, IntConsumer sink) {
    lookPlanned.set(false);
    if (!slices.hasSynced()) {
      plan(slices, sink);
      return;
    }
    complained = false;
    List<EndpointSlice> all = slices.getStore().list();
    addresses = ReadyReplicas.addresses(all);
    int now = ReadyReplicas.count(all);
    if (now != last) {
      last = now;
      sink.accept(now);
    }
  }
}
