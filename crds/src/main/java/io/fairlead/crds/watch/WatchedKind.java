package io.fairlead.crds.watch;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.net.HttpURLConnection;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The objects of one kind in a namespace or in all, or the one of a name. A kind that the cluster
 * doesn't have, or that may not be read, has no objects until that changes: then it is seen within
 * a minute.
 *
 * <p>That it is so is believed when it is said again some seconds later: an API server that starts
 * says so of kinds that are there. Until then, and while there is no answer at all, what was seen
 * last stays.
 *
 * <p>Whoever asks may do so from any thread once {@link #start} has returned.
 */
public final class WatchedKind {

  private static final Logger LOG = LoggerFactory.getLogger(WatchedKind.class);

  /** When it is asked again what was refused once, or was not answered. */
  private static final Executor SOON = later(3);

  private static final Executor LATER = later(20);

  /** What is said again sooner may be said for the same reason. */
  private static final long APART_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final KubernetesClient client;
  private final ResourceDefinitionContext kind;
  private final @Nullable String namespace;
  private final @Nullable String name;
  private final AtomicBoolean asking = new AtomicBoolean();
  private volatile @Nullable SharedIndexInformer<GenericKubernetesResource> informer;

  /** What was answered while the watch had no answer yet; null without one. */
  private volatile @Nullable List<GenericKubernetesResource> answer;

  /** Status with which the API server refuses to list, as it is believed; 0 while it doesn't. */
  private volatile int refusal;

  /** Whether it has refused once, with another status than is believed. */
  private volatile boolean doubted;

  /** When it did, in the JVM's nanoseconds. */
  private volatile long doubtedAt;

  private volatile @Nullable String failure;
  private volatile boolean overdue;
  private volatile boolean complained;
  private volatile boolean stopped;

  private static Executor later(int seconds) {
    return CompletableFuture.delayedExecutor(
        seconds, TimeUnit.SECONDS, task -> Thread.ofVirtual().name("kinds").start(task));
  }

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

  /**
   * Begins to watch.
   *
   * @param listener told also when another thing than before is known of the kind as a whole
   */
  public void start(KindListener listener) {
    SharedIndexInformer<GenericKubernetesResource> made = wanted().runnableInformer(0);
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
        (started, why) -> {
          failed(why, listener);
          return true;
        });
    informer = made;
    var _ =
        made.start()
            .thenRun(
                () -> {
                  answered(listener);
                  listener.turned();
                });
    askSoon(listener);
    lookAgain(listener);
  }

  private FilterWatchListDeletable<
          GenericKubernetesResource,
          GenericKubernetesResourceList,
          Resource<GenericKubernetesResource>>
      wanted() {
    var all = client.genericKubernetesResources(kind);
    if (namespace == null) {
      return all.inAnyNamespace();
    }
    var here = all.inNamespace(namespace);
    return name == null ? here : here.withField("metadata.name", name);
  }

  /**
   * A kind that is taken away takes its watch along without a word, and looks like one without
   * objects: so one without is asked for now and then. So is one that was refused: when the watch
   * finds what it knew before, it says nothing.
   */
  private void lookAgain(KindListener listener) {
    LATER.execute(
        () -> {
          if (stopped) {
            return;
          }
          if (refusal != 0 || (watched() && objects().isEmpty())) {
            ask(listener);
          }
          lookAgain(listener);
        });
  }

  private void askSoon(KindListener listener) {
    if (asking.compareAndSet(false, true)) {
      SOON.execute(
          () -> {
            asking.set(false);
            if (!stopped && unsettled()) {
              ask(listener);
            }
          });
    }
  }

  private boolean unsettled() {
    return doubted || (refusal == 0 && (!watched() || failure != null));
  }

  /** Asks for itself: a watch doesn't say why it has no answer, nor that it got one twice. */
  private void ask(KindListener listener) {
    if (awaited()) {
      // An answer may take long.
      overdue = true;
      listener.turned();
    }
    try {
      if (watched()) {
        var _ = wanted().list(new ListOptionsBuilder().withLimit(1L).build());
        answered(listener);
      } else {
        listed(wanted().list().getItems(), listener);
      }
    } catch (RuntimeException e) {
      int said = refusal(e);
      if (said == 0) {
        unanswered(e, listener);
      } else if (doubted && System.nanoTime() - doubtedAt >= APART_NANOS) {
        believe(said, listener);
      } else {
        doubt(said, listener);
      }
    }
    if (unsettled()) {
      askSoon(listener);
    }
  }

  /** Asks once, without watching, and believes it; may block. */
  public List<GenericKubernetesResource> read() {
    try {
      answer = wanted().list().getItems();
      refusal = 0;
    } catch (KubernetesClientException e) {
      refusal = refusal(e);
      if (refusal == 0) {
        throw e;
      }
    }
    return objects();
  }

  /** Ends the watch. */
  public void stop() {
    stopped = true;
    if (informer != null) {
      informer.stop();
    }
  }

  /** Whether it is of this namespace, or of all. */
  public boolean isOf(@Nullable String other) {
    return namespace == null || namespace.equals(other);
  }

  /** Whether it is known which objects there are, perhaps none. */
  public boolean known() {
    return refusal != 0 || readable();
  }

  /** Whether the cluster has the kind, and it may be read, or could be until a moment ago. */
  public boolean readable() {
    return refusal == 0 && (watched() || answer != null);
  }

  /** Whether it may not be read. */
  public boolean forbidden() {
    return refusal == HttpURLConnection.HTTP_FORBIDDEN;
  }

  /** Whether there was an answer, be it one that is not believed yet. */
  public boolean heard() {
    return known() || doubted;
  }

  /** Whether there was no answer yet, and it is too soon to call that a failure. */
  public boolean awaited() {
    return !heard() && !overdue;
  }

  /** Why there is no answer; null while there is, and before that is known. */
  public @Nullable String failure() {
    return failure;
  }

  /** As last seen; before all are known those of which the listener was told. */
  public List<GenericKubernetesResource> objects() {
    if (refusal != 0) {
      return List.of();
    }
    List<GenericKubernetesResource> last = answer;
    if (last != null && !watched()) {
      return last;
    }
    SharedIndexInformer<GenericKubernetesResource> watch = informer;
    return watch == null ? List.of() : watch.getStore().list();
  }

  /** What one object is, in its singular, and of which group. */
  public String title() {
    return kind.getKind() + " of " + kind.getGroup();
  }

  /** Where it is looked for. */
  public String place() {
    return namespace == null ? "all namespaces" : "namespace " + namespace;
  }

  @Override
  public String toString() {
    return kind.getPlural() + " of " + kind.getGroup();
  }

  /** Whether the watch knows which objects there are, or were when it last could. */
  private boolean watched() {
    SharedIndexInformer<GenericKubernetesResource> watch = informer;
    return watch != null && watch.hasSynced();
  }

  /** Called at each event; before the watch knows all, that there is one says little. */
  private void answered(KindListener listener) {
    if (!watched()) {
      return;
    }
    boolean turned = doubted || refusal != 0 || failure != null;
    answer = null;
    doubted = false;
    complained = false;
    if (turned) {
      refusal = 0;
      failure = null;
      listener.turned();
    }
  }

  private void listed(List<GenericKubernetesResource> objects, KindListener listener) {
    boolean turned = answer == null || refusal != 0 || failure != null;
    answer = objects;
    doubted = false;
    complained = false;
    refusal = 0;
    failure = null;
    if (turned) {
      listener.turned();
    }
  }

  private void failed(Throwable why, KindListener listener) {
    int said = refusal(why);
    if (said == 0) {
      complain(why);
    } else {
      doubt(said, listener);
    }
  }

  private void doubt(int said, KindListener listener) {
    if (said == refusal || doubted) {
      return;
    }
    boolean first = !heard();
    doubtedAt = System.nanoTime();
    doubted = true;
    askSoon(listener);
    if (first) {
      listener.turned();
    }
  }

  private void believe(int said, KindListener listener) {
    doubted = false;
    if (said == refusal) {
      return;
    }
    refusal = said;
    answer = null;
    failure = null;
    if (forbidden()) {
      LOG.info("{} in {} may not be listed, so no object of it counts", this, place());
    }
    listener.turned();
  }

  private void unanswered(RuntimeException e, KindListener listener) {
    complain(e);
    // What it says may differ each time, and who is told writes it down.
    if (refusal == 0 && failure == null) {
      String message =
          e instanceof KubernetesClientException said && said.getStatus() != null
              ? said.getStatus().getMessage()
              : null;
      failure = message == null ? String.valueOf(e.getMessage()) : message;
      listener.turned();
    }
  }

  private void complain(Throwable why) {
    if (!complained) {
      complained = true;
      LOG.warn(
          "{} in {} can't be listed or watched, trying again: {}", this, place(), why.toString());
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
