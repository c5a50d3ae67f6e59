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
  private @Nullable Followed current;
  private @Nullable Next next;
  private @Nullable Answer answered;
  private @Nullable EndpointSet last;
  private volatile boolean complained;

  /** The pods of a pool and what is wanted of them. */
  private record Followed(
      Map<String, String> selector, List<Integer> ports, SharedIndexInformer<Pod> informer) {

    boolean synced() {
      return informer.hasSynced();
    }

    /** Whether both have one informer. */
    boolean watchesAsMuchAs(Followed other) {
      return selector.equals(other.selector);
    }

    /** Labels are compared again: as text, a key that no label can have may select other pods. */
    EndpointSet endpoints() {
      return PodEndpoints.of(informer.getStore().list(), selector, ports);
    }
  }

  /** What is followed as soon as it is known. */
  private record Next(Followed pods, Consumer<@Nullable EndpointSet> found) {}

  /** What is followed as soon as its endpoints are in force. */
  private record Answer(Followed pods, EndpointSet endpoints) {}

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
  public void follow(PoolConfig pool, Consumer<@Nullable EndpointSet> found) {
    forgetWhatIsNotInForce();
    plan();
    Followed now = current;
    boolean samePods = now != null && pool.selector().equals(now.selector());
    if (now != null && samePods && pool.targetPorts().equals(now.ports())) {
      found.accept(null);
      return;
    }
    SharedIndexInformer<Pod> informer =
        now != null && samePods ? now.informer() : watch(pool.selector());
    next = new Next(new Followed(pool.selector(), pool.targetPorts(), informer), found);
    answerWhenKnown();
  }

  @Override
  public void taken() {
    Answer taken = answered;
    if (taken == null) {
      return;
    }
    if (current != null && !current.watchesAsMuchAs(taken.pods())) {
      current.informer().stop();
    }
    current = taken.pods();
    last = taken.endpoints();
    answered = null;
    plan();
  }

  @Override
  public void close() {
    forgetWhatIsNotInForce();
    if (current != null) {
      current.informer().stop();
      current = null;
    }
  }

  private void forgetWhatIsNotInForce() {
    if (next != null) {
      stop(next.pods());
      next = null;
    }
    if (answered != null) {
      stop(answered.pods());
      answered = null;
    }
  }

  /** Stops what has an informer of its own. */
  private void stop(Followed pods) {
    if (current == null || !current.watchesAsMuchAs(pods)) {
      pods.informer().stop();
    }
  }

  private void answerWhenKnown() {
    Next waiting = next;
    if (waiting == null || !waiting.pods().synced()) {
      return;
    }
    next = null;
    complained = false;
    Answer answer = new Answer(waiting.pods(), waiting.pods().endpoints());
    answered = answer;
    waiting.found().accept(answer.endpoints());
  }

  private SharedIndexInformer<Pod> watch(Map<String, String> selector) {
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
    var _ = made.start();
    return made;
  }

  private void plan() {
    if (lookPlanned.compareAndSet(false, true)) {
      var _ = control.schedule(this::look, SETTLE_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private void look() {
    lookPlanned.set(false);
    answerWhenKnown();
    if (next != null) {
      plan();
    }
    if (answered != null) {
      return; // It is looked again once it is known whether its endpoints came into force.
    }
    if (current == null || sink == null || !current.synced()) {
      return;
    }
    complained = false;
    EndpointSet now = current.endpoints();
    if (!now.equals(last)) {
      last = now;
      sink.accept(now);
    }
  }
}
