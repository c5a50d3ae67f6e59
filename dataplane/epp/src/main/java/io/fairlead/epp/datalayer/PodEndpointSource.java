package io.fairlead.epp.datalayer;

import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fairlead.crds.config.PoolConfig;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pool's pods as the API server tells them. Changes that come together are looked at together,
 * a moment later. Confined to the control thread, but for the informers' notices.
 */
public final class PodEndpointSource implements EndpointSource {

  private static final Logger LOG = LoggerFactory.getLogger(PodEndpointSource.class);
  private static final long SETTLE_MILLIS = 20;

  private final KubernetesClient client;
  private final String namespace;
  private final ScheduledExecutorService control;
  private final AtomicBoolean lookPlanned = new AtomicBoolean();
  private @Nullable Consumer<EndpointSet> sink;
  private @Nullable SharedIndexInformer<Pod> informer;
  private Map<String, String> selector = Map.of();
  private List<Integer> ports = List.of();
  private @Nullable EndpointSet last;
  private volatile boolean complained;

  /** Pods of one namespace; the client stays the caller's to close. */
  public PodEndpointSource(
      KubernetesClient client, String namespace, ScheduledExecutorService control) {
    this.client = client;
    this.namespace = namespace;
    this.control = control;
  }

  @Override
  public void start(Consumer<EndpointSet> sink) {
    this.sink = sink;
  }

  @Override
  public void follow(PoolConfig pool) {
    if (pool.selector().equals(selector) && pool.targetPorts().equals(ports)) {
      return;
    }
    boolean otherPods = informer == null || !pool.selector().equals(selector);
    selector = pool.selector();
    ports = pool.targetPorts();
    if (otherPods) {
      close();
      watch();
    }
    plan();
  }

  @Override
  public void close() {
    if (informer != null) {
      informer.stop();
      informer = null;
    }
  }

  private void watch() {
    SharedIndexInformer<Pod> made =
        client
            .pods()
            .inNamespace(namespace)
            .withLabelSelector(new LabelSelectorBuilder().withMatchLabels(selector).build())
            .runnableInformer(0);
    made.addEventHandler(
        new ResourceEventHandler<Pod>() {
          @Override
          public void onAdd(Pod pod) {
            plan();
          }

          @Override
          public void onUpdate(Pod before, Pod pod) {
            plan();
          }

          @Override
          public void onDelete(Pod pod, boolean unknown) {
            plan();
          }

          @Override
          public void onNothing() {
            plan();
          }
        });
    made.exceptionHandler(
        (started, failure) -> {
          if (!complained) {
            complained = true;
            LOG.warn(
                "pods in namespace {} can't be watched, trying again: {}",
                namespace,
                failure.toString());
          }
          return true;
        });
    informer = made;
    var _ = made.start();
  }

  private void plan() {
    if (lookPlanned.compareAndSet(false, true)) {
      var _ = control.schedule(this::look, SETTLE_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private void look() {
    lookPlanned.set(false);
    if (informer == null || sink == null) {
      return;
    }
    if (!informer.hasSynced()) {
      plan();
      return;
    }
    complained = false;
    // Labels are compared again: as text, a key that no label can have may select other pods.
    EndpointSet now = PodEndpoints.of(informer.getStore().list(), selector, ports);
    if (!now.equals(last)) {
      last = now;
      sink.accept(now);
    }
  }
}
