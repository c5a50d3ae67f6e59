package io.fairlead.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.observe.Ownership;
import io.fairlead.operator.status.Verdict;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.processing.dependent.kubernetes.SSABasedGenericKubernetesResourceMatcher;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings a pool's children to their desired state by server-side apply. An object that the pool
 * does not control is never touched, also when it takes a child's name between look and apply; what
 * matches already is not sent.
 */
public final class ChildApplier {
  /** Field manager of the children's fields. */
  public static final String FIELD_MANAGER = "fairlead-epp";

  private static final Logger LOG = LoggerFactory.getLogger(ChildApplier.class);
  private static final PatchContext APPLY = forced(FIELD_MANAGER);

  /**
   * A version that no object has by now. An apply that carries it makes an object, and is a
   * conflict where one is; unlike a plain create it leaves the fields with {@link #FIELD_MANAGER}
   * as applied ones, so that a later apply can take them back.
   */
  private static final String NO_OBJECT = "1";

  private static final int ATTEMPTS = 3;
  private static final int BAD_REQUEST = 400;
  private static final int FORBIDDEN = 403;
  private static final int CONFLICT = 409;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SERVER_ERROR = 500;

  private final SSABasedGenericKubernetesResourceMatcher<HasMetadata> matcher =
      SSABasedGenericKubernetesResourceMatcher.getInstance();

  /**
   * Applies in order and stops at the first child that cannot be applied.
   *
   * @return why not all could be, as the pool's Programmed condition; empty when all is well
   * @throws KubernetesClientException when the API server is overloaded, in trouble or away, or a
   *     child changes again and again between look and apply
   */
  public Optional<Verdict> apply(
      List<HasMetadata> desired, Observation seen, Context<InferencePool> context) {
    for (HasMetadata child : desired) {
      Optional<Verdict> failure = apply(child, seen, context);
      if (failure.isPresent()) {
        return failure;
      }
    }
    return Optional.empty();
  }

  /** Server-side apply that takes fields over from whoever has them. */
  static PatchContext forced(String fieldManager) {
    return new PatchContext.Builder()
        .withPatchType(PatchType.SERVER_SIDE_APPLY)
        .withFieldManager(fieldManager)
        .withForce(true)
        .build();
  }

  /**
   * Deletes a child as it was observed.
   *
   * @throws KubernetesClientException also when it has changed since, or another has its name
   */
  public void delete(HasMetadata child, KubernetesClient client) {
    LOG.info("deleting {}", describe(child));
    client.resource(child).lockResourceVersion(child.getMetadata().getResourceVersion()).delete();
  }

  private Optional<Verdict> apply(
      HasMetadata child, Observation seen, Context<InferencePool> context) {
    Optional<HasMetadata> cached =
        seen.child(child.getClass(), child.getMetadata().getName()).map(HasMetadata.class::cast);
    for (int attempt = 1; ; attempt++) {
      try {
        // An object without our labels is in no informer of ours, so absence is checked at the
        // source; so is what has changed since it was observed.
        HasMetadata actual = cached.orElseGet(() -> context.getClient().resource(child).get());
        return apply(child, actual, seen.pool(), context);
      } catch (KubernetesClientException e) {
        if (e.getCode() != CONFLICT || attempt == ATTEMPTS) {
          return Optional.of(refused(child, e));
        }
        cached = Optional.empty();
      }
    }
  }

  private Optional<Verdict> apply(
      HasMetadata child,
      @Nullable HasMetadata actual,
      InferencePool pool,
      Context<InferencePool> context) {
    ObjectMetaBuilder precondition = new ObjectMetaBuilder(child.getMetadata());
    if (actual == null) {
      precondition.withResourceVersion(NO_OBJECT);
    } else {
      Optional<Verdict> taken = taken(pool, actual);
      if (taken.isPresent()) {
        return taken;
      }
      if (matcher.matches(actual, child, context)) {
        return Optional.empty();
      }
      precondition
          .withUid(actual.getMetadata().getUid())
          .withResourceVersion(actual.getMetadata().getResourceVersion());
    }
    LOG.info("applying {}", describe(child));
    HasMetadata sent = context.getClient().getKubernetesSerialization().clone(child);
    sent.setMetadata(precondition.build());
    context.getClient().resource(sent).patch(APPLY);
    return Optional.empty();
  }

  private static Optional<Verdict> taken(InferencePool pool, HasMetadata actual) {
    if (actual.isMarkedForDeletion() || Ownership.byPredecessor(pool, actual)) {
      return Optional.of(
          Verdict.pending(
              "%s is being deleted; wait until it is gone".formatted(describe(actual))));
    }
    return Ownership.by(pool, actual)
        ? Optional.empty()
        : Optional.of(
            Verdict.no(
                "EPPUnavailable",
                "%s is not ours and stays untouched; delete it, its name is needed"
                    .formatted(describe(actual))));
  }

  private static Verdict refused(HasMetadata child, KubernetesClientException e) {
    if (e.getCode() < BAD_REQUEST
        || e.getCode() == CONFLICT
        || e.getCode() == TOO_MANY_REQUESTS
        || e.getCode() >= SERVER_ERROR) {
      throw e;
    }
    String said = e.getStatus() == null ? e.getMessage() : e.getStatus().getMessage();
    String message = "%s is refused by the API server: %s".formatted(describe(child), said);
    // Quotas answer 403 as well; only a missing permission says what one "cannot" do.
    return e.getCode() == FORBIDDEN && String.valueOf(said).contains(" cannot ")
        ? Verdict.no("PermissionDenied", message + "; grant it to the operator's ServiceAccount")
        : Verdict.no("EPPUnavailable", message);
  }

  private static String describe(HasMetadata child) {
    return "%s %s/%s"
        .formatted(
            child.getKind(), child.getMetadata().getNamespace(), child.getMetadata().getName());
  }
}
