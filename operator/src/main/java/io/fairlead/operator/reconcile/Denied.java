package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.apply.Refusals;
import io.fairlead.operator.status.ConditionType;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Asks why kinds cannot be watched: an informer doesn't tell. One answer does for all pools that
 * its informer is for.
 *
 * <p>Safe to use from any thread.
 */
final class Denied {
  private static final int FORBIDDEN = 403;
  private static final int NOT_FOUND = 404;
  private static final int SERVER_ERROR = 500;

  /** How to install the kinds that are not Kubernetes' own; as docs/install.md says. */
  private static final Map<Class<? extends HasMetadata>, String> INSTALLS =
      Map.of(
          InferencePool.class, "kubectl create -k config/upstream-crd",
          InferenceModel.class, "kubectl create -k config/upstream-crd",
          EndpointPicker.class, "kubectl apply -k config/cluster, or with the chart fairlead-crds");

  /** When to ask again where it was said once that a kind is not there. */
  static final Duration IN_DOUBT = Duration.ofMillis(500);

  /** Of what was asked longer ago, once more is no second time: nobody asks while all is well. */
  private static final Duration COUNTS = Duration.ofMinutes(1);

  private final LongSupplier nanos;
  private final Map<Place, Answer> answers = new ConcurrentHashMap<>();

  private record Place(Class<? extends HasMetadata> kind, @Nullable String namespace) {}

  /**
   * @param why null when it is not denied
   * @param isBelieved false for what counts when it is said again: an API server that starts says
   *     of kinds that are there that it lacks them, and may fail once
   */
  private record Answer(@Nullable Verdict why, boolean isBelieved, long at) {
    /** How long it is not asked for again. */
    Duration lasts() {
      return isMissingOnce() ? IN_DOUBT.dividedBy(2) : PoolReconciler.LOOK_AGAIN;
    }

    /** An API server that fails once may do so again a moment later, and means nothing by it. */
    Duration lookAgain() {
      return isMissingOnce() ? IN_DOUBT : PoolReconciler.LOOK_AGAIN;
    }

    private boolean isMissingOnce() {
      return !isBelieved && why != null && why.reason() == Reason.KIND_NOT_FOUND;
    }
  }

  /**
   * @param nanos a clock that never jumps
   */
  Denied(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /**
   * The conditions of a pool in this namespace.
   *
   * @param namespace where to ask; null for all at once
   * @return empty when nothing is denied, so that waiting will do
   */
  Optional<Map<ConditionType, Verdict>> verdicts(
      List<Class<? extends HasMetadata>> unseen,
      @Nullable String namespace,
      KubernetesClient client) {
    List<Verdict> refusals =
        unseen.stream()
            .map(kind -> refusal(kind, namespace, client))
            .flatMap(Optional::stream)
            .toList();
    if (refusals.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(verdicts(Verdict.all(refusals)));
  }

  /** The conditions of a pool that can't be looked at for this reason. */
  static Map<ConditionType, Verdict> verdicts(Verdict why) {
    Map<ConditionType, Verdict> verdicts = new LinkedHashMap<>();
    verdicts.put(
        ConditionType.ACCEPTED,
        Verdict.pending("The pool is judged when the operator may see all that belongs to it"));
    verdicts.put(ConditionType.PROGRAMMED, why);
    verdicts.put(ConditionType.READY, why);
    return verdicts;
  }

  /**
   * When to ask again where the cluster has said once that it lacks one of these, or has failed at
   * it once.
   *
   * @param namespace as it was asked
   * @return empty when all that was said is believed
   */
  Optional<Duration> doubt(List<Class<? extends HasMetadata>> kinds, @Nullable String namespace) {
    return kinds.stream()
        .map(kind -> answers.get(new Place(kind, namespace)))
        .flatMap(Stream::ofNullable)
        .filter(answer -> !answer.isBelieved())
        .map(Answer::lookAgain)
        .min(Comparator.naturalOrder());
  }

  private Optional<Verdict> refusal(
      Class<? extends HasMetadata> kind, @Nullable String namespace, KubernetesClient client) {
    // Others that ask at the same time wait for the answer instead of asking, too.
    Answer answer =
        answers.compute(
            new Place(kind, namespace),
            (place, last) -> {
              if (last == null || isOlder(last, COUNTS)) {
                return ask(place, null, client);
              }
              return isOlder(last, last.lasts()) ? ask(place, last.why(), client) : last;
            });
    return answer.isBelieved() ? Optional.ofNullable(answer.why()) : Optional.empty();
  }

  private boolean isOlder(Answer answer, Duration age) {
    return nanos.getAsLong() - answer.at() >= age.toNanos();
  }

  /**
   * @param last what was found when it was asked before; null for nothing, or too long ago
   */
  private Answer ask(Place place, @Nullable Verdict last, KubernetesClient client) {
    var all = client.resources(place.kind());
    var objects =
        place.namespace() == null ? all.inAnyNamespace() : all.inNamespace(place.namespace());
    String verb = "list";
    try {
      var list = objects.list(new ListOptionsBuilder().withLimit(1L).build());
      // Who may list need not be one who may watch. From there on there is nothing to hear of.
      verb = "watch";
      objects
          .watch(
              new ListOptionsBuilder()
                  .withResourceVersion(list.getMetadata().getResourceVersion())
                  .withTimeoutSeconds(1L)
                  .build(),
              new Deaf<>())
          .close();
    } catch (KubernetesClientException e) {
      if (e.getCode() == FORBIDDEN) {
        return new Answer(
            Verdict.no(
                Reason.PERMISSION_DENIED,
                said(e, verb, place) + "; grant list and watch to the operator's ServiceAccount"),
            true,
            nanos.getAsLong());
      }
      Optional<Verdict> why =
          e.getCode() == NOT_FOUND ? Optional.of(missing(place.kind())) : failing(e, verb, place);
      if (why.isPresent()) {
        boolean isSaidAgain = last != null && last.reason() == why.get().reason();
        return new Answer(why.get(), isSaidAgain, nanos.getAsLong());
      }
    }
    return new Answer(null, true, nanos.getAsLong());
  }

  /**
   * Not in the API server's words, which may differ each time. One that is away, or has too much to
   * do, denies nothing.
   */
  private static Optional<Verdict> failing(KubernetesClientException e, String verb, Place place) {
    if (e.getCode() < SERVER_ERROR && !Refusals.isUnanswered(e)) {
      return Optional.empty();
    }
    return Optional.of(
        Verdict.no(
            Reason.API_SERVER_ERROR,
            "%s of %s cannot be %s in %s: the API server %s; what was seen last counts, %s tells what is wrong: see to the conversion webhook or whatever it names, or to the API server"
                .formatted(
                    HasMetadata.getKind(place.kind()),
                    HasMetadata.getApiVersion(place.kind()),
                    verb.equals("list") ? "listed" : "watched",
                    place.namespace() == null ? "all namespaces" : "namespace " + place.namespace(),
                    e.getCode() < SERVER_ERROR ? "gives no answer" : "answers " + e.getCode(),
                    get(place))));
  }

  private static String get(Place place) {
    String kind = HasMetadata.getFullResourceName(place.kind());
    return place.namespace() == null
        ? "kubectl get %s -A".formatted(kind)
        : "kubectl get %s --namespace %s".formatted(kind, place.namespace());
  }

  /** As the API server says it. Of a watch that is refused the client passes no words on. */
  private static String said(KubernetesClientException e, String verb, Place place) {
    String said = e.getStatus() == null ? null : e.getStatus().getMessage();
    return said != null && said.contains(" cannot ")
        ? said
        : "The operator's ServiceAccount cannot %s resource \"%s\" in API group \"%s\" %s"
            .formatted(
                verb,
                HasMetadata.getPlural(place.kind()),
                HasMetadata.getGroup(place.kind()),
                place.namespace() == null
                    ? "at the cluster scope"
                    : "in the namespace \"%s\"".formatted(place.namespace()));
  }

  /** Of a watch that is opened to see whether it can be. */
  private static final class Deaf<T> implements Watcher<T> {
    @Override
    public void eventReceived(Action action, T object) {}

    @Override
    public void onClose(WatcherException cause) {}
  }

  /** Of a kind that the cluster lacks. */
  static Verdict missing(Class<? extends HasMetadata> kind) {
    return Verdict.no(
        Reason.KIND_NOT_FOUND,
        "The cluster has no %s of %s; %s"
            .formatted(
                HasMetadata.getKind(kind), HasMetadata.getApiVersion(kind), installing(kind)));
  }

  /** Of a kind that the cluster is about to lack. */
  static Verdict terminating(Class<? extends HasMetadata> kind) {
    return Verdict.no(
        Reason.KIND_NOT_FOUND,
        "The CustomResourceDefinition of %s of %s is being deleted, and every object of the kind with it; when it is gone, %s"
            .formatted(
                HasMetadata.getKind(kind), HasMetadata.getApiVersion(kind), installing(kind)));
  }

  private static String installing(Class<? extends HasMetadata> kind) {
    String install = INSTALLS.get(kind);
    return install == null
        ? "the operator needs Kubernetes %s or newer".formatted(Settings.OLDEST_KUBERNETES)
        : "install it with " + install;
  }
}
