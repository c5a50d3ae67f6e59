package io.fairlead.epp.config;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.net.HttpURLConnection;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The objects of one kind in a namespace, or the one of a name. A kind that the cluster doesn't
 * have, or that may not be read, has no objects until that changes: then it is seen within a
 * minute.
 *
 * <p>{@link #start}, {@link #stop} and what asks are used by one thread.
 */
final class WatchedKind {

  private static final Logger LOG = LoggerFactory.getLogger(WatchedKind.class);

  private final KubernetesClient client;
  private final ResourceDefinitionContext kind;
  private final String namespace;
  private final @Nullable String name;
  private @Nullable SharedIndexInformer<GenericKubernetesResource> informer;

  /** Status with which the API server refuses to list; 0 while it doesn't. */
  private volatile int refusal;

  private volatile boolean complained;

  /**
   * A kind that is not watched yet.
   *
   * @param name of the only object wanted; null for all
   */
  WatchedKind(
      KubernetesClient client,
      String group,
      String version,
      String kind,
      String namespace,
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

  /** Begins to watch; {@code changed} is called on other threads. */
  void start(Runnable changed) {
    var all = client.genericKubernetesResources(kind).inNamespace(namespace);
    var made = name == null ? all.runnableInformer(0) : all.withName(name).runnableInformer(0);
    made.addEventHandler(
        new ResourceEventHandler<GenericKubernetesResource>() {
          @Override
          public void onAdd(GenericKubernetesResource object) {
            seen();
          }

          @Override
          public void onUpdate(GenericKubernetesResource before, GenericKubernetesResource now) {
            seen();
          }

          @Override
          public void onDelete(GenericKubernetesResource object, boolean unknown) {
            seen();
          }

          @Override
          public void onNothing() {
            seen();
          }

          private void seen() {
            refusal = 0;
            complained = false;
            changed.run();
          }
        });
    made.exceptionHandler(
        (started, failure) -> {
          failed(failure);
          changed.run();
          return true;
        });
    informer = made;
    var _ = made.start();
  }

  /** Asks once, without watching; may block. */
  List<GenericKubernetesResource> read() {
    var all = client.genericKubernetesResources(kind).inNamespace(namespace);
    try {
      refusal = 0;
      if (name == null) {
        return all.list().getItems();
      }
      GenericKubernetesResource one = all.withName(name).get();
      return one == null ? List.of() : List.of(one);
    } catch (KubernetesClientException e) {
      refusal = refusal(e);
      if (refusal == 0) {
        throw e;
      }
      return List.of();
    }
  }

  void stop() {
    if (informer != null) {
      informer.stop();
    }
  }

  /** Whether it is known which objects there are, perhaps none. */
  boolean known() {
    return refusal != 0 || (informer != null && informer.hasSynced());
  }

  /** Whether the cluster has the kind, and it may be read. */
  boolean readable() {
    return refusal == 0;
  }

  /** Whether it may not be read. */
  boolean forbidden() {
    return refusal == HttpURLConnection.HTTP_FORBIDDEN;
  }

  /** As last seen. */
  List<GenericKubernetesResource> objects() {
    return refusal != 0 || informer == null ? List.of() : informer.getStore().list();
  }

  @Override
  public String toString() {
    return kind.getPlural() + " of " + kind.getGroup();
  }

  private void failed(Throwable failure) {
    int said = refusal(failure);
    if (said != 0) {
      refusal = said;
    } else if (!complained) {
      complained = true;
      LOG.warn(
          "{} in namespace {} can't be watched, trying again: {}",
          this,
          namespace,
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
