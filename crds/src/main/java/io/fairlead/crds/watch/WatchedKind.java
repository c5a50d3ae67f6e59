package io.fairlead.crds.watch;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.net.HttpURLConnection;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The objects of one kind in a namespace or in all, or the one of a name. A kind that the cluster
 * doesn't have, or that may not be read, has no objects until that changes: then it is seen within
 * a minute.
 *
 * <p>Whoever asks may do so from any thread once {@link #start} has returned.
 */
public final class WatchedKind {

  private static final Logger LOG = LoggerFactory.getLogger(WatchedKind.class);

  private static final Executor LATER = CompletableFuture.delayedExecutor(20, TimeUnit.SECONDS);

  private final KubernetesClient client;
  private final ResourceDefinitionContext kind;
  private final @Nullable String namespace;
  private final @Nullable String name;
  private volatile @Nullable SharedIndexInformer<GenericKubernetesResource> informer;

  /** Status with which the API server refuses to list; 0 while it doesn't. */
  private volatile int refusal;

  private volatile boolean complained;
  private volatile boolean stopped;

  /**
   * A kind that is not watched yet.
   *
   * @param namespace null for all of them, where {@code name} is null, too
   * @param name of the only object wanted; null for all
   */
  public WatchedKind(
      KubernetesClient client,
      String group,
      String version,
      String kind,
      @Nullable String namespace,
      @Nullable String name) {
    this.client = client;
    this.kind =
        new ResourceDefinitionContext.Builder()
            .withGroup(group)
            .withVersion(version)
            .withKind(kind)
            .withPlural(plural(kind))
            .withNamespaced(true)
            .build();
    this.namespace = namespace;
    this.name = name;
  }

  private static String plural(String kind) {
    return kind.toLowerCase(Locale.ROOT) + "s";
  }

  /** Begins to watch. */
  public void start(KindListener listener) {
    SharedIndexInformer<GenericKubernetesResource> made = informer();
    made.addEventHandler(
        new ResourceEventHandler<GenericKubernetesResource>() {
          @Override
          public void onAdd(GenericKubernetesResource object) {
            answered(listener);
            listener.changed(object);
          }

          @Override
          public void onUpdate(GenericKubernetesResource before, GenericKubernetesResource now) {
            answered(listener);
            listener.changed(before);
            listener.changed(now);
          }

          @Override
          public void onDelete(GenericKubernetesResource object, boolean unknown) {
            answered(listener);
            listener.changed(object);
          }

          @Override
          public void onNothing() {
            answered(listener);
          }
        });
    made.exceptionHandler(
        (started, failure) -> {
          failed(failure, listener);
          return true;
        });
    informer = made;
    var _ = made.start().thenRun(listener::turned);
    lookAgain(made, listener);
  }

  /**
   * A kind that is taken away takes its watch along without a word, and looks like one without
   * objects: so one without is asked for now and then. So is one that was refused: when the watch
   * finds what it knew before, it says nothing.
   */
  private void lookAgain(
      SharedIndexInformer<GenericKubernetesResource> watch, KindListener listener) {
    LATER.execute(
        () ->
            Thread.startVirtualThread(
                () -> {
                  if (stopped) {
                    return;
                  }
                  if (refusal != 0
                      || (watch.hasSynced() && watch.getStore().listKeys().isEmpty())) {
                    look(listener);
                  }
                  lookAgain(watch, listener);
                }));
  }

  private void look(KindListener listener) {
    ListOptions one = new ListOptionsBuilder().withLimit(1L).build();
    var all = client.genericKubernetesResources(kind);
    try {
      if (namespace == null) {
        var _ = all.inAnyNamespace().list(one);
      } else if (name == null) {
        var _ = all.inNamespace(namespace).list(one);
      } else {
        var _ = all.inNamespace(namespace).withName(name).get();
      }
      answered(listener);
    } catch (KubernetesClientException e) {
      failed(e, listener);
    }
  }

  private SharedIndexInformer<GenericKubernetesResource> informer() {
    var all = client.genericKubernetesResources(kind);
    if (namespace == null) {
      return all.inAnyNamespace().runnableInformer(0);
    }
    return name == null
        ? all.inNamespace(namespace).runnableInformer(0)
        : all.inNamespace(namespace).withName(name).runnableInformer(0);
  }

  /** Asks once, without watching; may block. */
  public List<GenericKubernetesResource> read() {
    var all = client.genericKubernetesResources(kind);
    try {
      refusal = 0;
      if (namespace == null) {
        return all.inAnyNamespace().list().getItems();
      }
      if (name == null) {
        return all.inNamespace(namespace).list().getItems();
      }
      GenericKubernetesResource one = all.inNamespace(namespace).withName(name).get();
      return one == null ? List.of() : List.of(one);
    } catch (KubernetesClientException e) {
      refusal = refusal(e);
      if (refusal == 0) {
        throw e;
      }
      return List.of();
    }
  }

  /** Ends the watch. */
  public void stop() {
    stopped = true;
    if (informer != null) {
      informer.stop();
    }
  }

  /** Whether it is known which objects there are, perhaps none. */
  public boolean known() {
    return refusal != 0 || (informer != null && informer.hasSynced());
  }

  /** Whether the cluster has the kind, and it may be read. */
  public boolean readable() {
    return refusal == 0;
  }

  /** Whether it may not be read. */
  public boolean forbidden() {
    return refusal == HttpURLConnection.HTTP_FORBIDDEN;
  }

  /** As last seen. */
  public List<GenericKubernetesResource> objects() {
    return refusal != 0 || informer == null ? List.of() : informer.getStore().list();
  }

  @Override
  public String toString() {
    return kind.getPlural() + " of " + kind.getGroup();
  }

  private void answered(KindListener listener) {
    complained = false;
    if (refusal != 0) {
      refusal = 0;
      listener.turned();
    }
  }

  private void failed(Throwable failure, KindListener listener) {
    int said = refusal(failure);
    if (said != 0 && said != refusal) {
      refusal = said;
      listener.turned();
    } else if (said == 0 && !complained) {
      complained = true;
      LOG.warn(
          "{} in {} can't be watched, trying again: {}",
          this,
          namespace == null ? "all namespaces" : "namespace " + namespace,
          failure.toString());
    }
  }

  /** 404 and 403 are answers; anything else is no answer, and 0. */
  private static int refusal(Throwable failure) {
    for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof KubernetesClientException answer
          && (answer.getCode() == HttpURLConnection.HTTP_NOT_FOUND
              || answer.getCode() == HttpURLConnection.HTTP_FORBIDDEN)) {
        return answer.getCode();
      }
    }
    return 0;
  }
}
