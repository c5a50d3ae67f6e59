package io.fairlead.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fairlead.operator.apply.ChildFailure.Outlook;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

/** What is told where the API server does not do what was asked of a child, with the next step. */
public final class Refusals {
  /** Said of whoever may not bind a role. */
  private static final String NOT_HELD = "RBAC permissions not currently held";

  /**
   * As the API server itself begins to say what one may not do, or that one would need more to have
   * an object owned.
   */
  private static final Pattern MISSING_PERMISSION =
      Pattern.compile("\\S+( \"[^\"]*\")? is forbidden: (User \"|cannot set )");

  private static final int BAD_REQUEST = 400;
  private static final int FORBIDDEN = 403;
  private static final int CONFLICT = 409;
  private static final int UNPROCESSABLE = 422;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SERVER_ERROR = 500;

  private Refusals() {}

  static ChildFailure notTried(HasMetadata child, WriteLanes.NoRoomException e) {
    String kind = child.getKind();
    return new ChildFailure(
        child,
        Verdict.no(
            Reason.API_SERVER_ERROR,
            "%s is not as it should be: the API server takes long for whatever is written of a %s in namespace %s, as happens while an admission webhook hangs, so only a few are tried at a time; see to the webhooks that are asked about a %s, it is tried in its turn"
                .formatted(describe(child), kind, child.getMetadata().getNamespace(), kind)),
        e.isSlow() ? Outlook.LASTS : Outlook.COMES);
  }

  static ChildFailure refused(
      HasMetadata child, KubernetesClientException e, Duration took, Duration patience) {
    if (isUnanswered(e)) {
      return new ChildFailure(
          child,
          Verdict.no(
              Reason.API_SERVER_ERROR,
              "%s is not as it should be: the API server gave no answer within %d s, as happens while an admission webhook hangs; see to the webhooks that are asked about a %s, it is tried again all the while"
                  .formatted(describe(child), patience.toSeconds(), child.getKind())),
          Outlook.SLOW);
    }
    if (e.getCode() < BAD_REQUEST) {
      throw e;
    }
    String said = said(e);
    boolean mayPass =
        e.getCode() == CONFLICT || e.getCode() == TOO_MANY_REQUESTS || e.getCode() >= SERVER_ERROR;
    if (mayPass) {
      return new ChildFailure(
          child,
          Verdict.no(
              Reason.API_SERVER_ERROR,
              "%s is not as it should be: the API server answers %d: %s; see to what it names, it is tried again all the while"
                  .formatted(describe(child), e.getCode(), said)),
          took.compareTo(WriteLanes.LONG) < 0 ? Outlook.MAY_PASS : Outlook.SLOW);
    }
    String message = "%s is refused by the API server: %s".formatted(describe(child), said);
    if (isMissingPermission(e)) {
      return ChildFailure.lasting(
          child,
          Verdict.no(
              Reason.PERMISSION_DENIED, message + "; grant it to the operator's ServiceAccount"));
    }
    // What a role holds that may not be bound is long, and the next step must not be cut off.
    if (e.getCode() == FORBIDDEN
        && child instanceof RoleBinding binding
        && said.contains(NOT_HELD)) {
      return ChildFailure.lasting(
          child,
          Verdict.no(
              Reason.PERMISSION_DENIED,
              "%s is refused by the API server: the operator may not bind the role in it; grant the verb bind of clusterroles.rbac.authorization.k8s.io %s to the operator's ServiceAccount"
                  .formatted(describe(child), binding.getRoleRef().getName())));
    }
    return ChildFailure.lasting(
        child, Verdict.no(Reason.EPP_UNAVAILABLE, message + nextStep(child, e.getCode(), said)));
  }

  /** What is told where it does not take the status of an object. */
  static String status(HasMetadata object, KubernetesClientException e) {
    return "The API server does not take the status of %s, so that what is there is not true any more: it answers %d: %s%s; it is tried again all the while"
        .formatted(
            describe(object),
            e.getCode(),
            said(e),
            isMissingPermission(e)
                ? "; grant it to the operator's ServiceAccount"
                : "; see to the webhook or policy that it names");
  }

  /** What is refused is no field's fault where a quota, a policy or the namespace's end is why. */
  private static String nextStep(HasMetadata child, int code, String said) {
    if (said.contains("exceeded quota") || said.contains("failed quota")) {
      return "; raise that ResourceQuota, or delete what uses it up";
    }
    if (said.contains("is being terminated")) {
      return "; the namespace is being deleted: kubectl get namespace %s -o yaml tells what keeps it"
          .formatted(child.getMetadata().getNamespace());
    }
    if (said.contains("is immutable") || said.contains("cannot change roleRef")) {
      return "; that can't be changed: kubectl delete %s --namespace %s, and it is made anew"
          .formatted(argument(child), child.getMetadata().getNamespace());
    }
    if (said.contains("denied")) {
      return child instanceof Deployment
          ? "; see to that webhook or policy, or have spec.podTemplate of the EndpointPicker be as it wants"
          : "; see to that webhook or policy";
    }
    return code == UNPROCESSABLE ? correct(child) : "; see to what it names";
  }

  /** What the API server calls invalid names the field, and not where it is from. */
  private static String correct(HasMetadata child) {
    return "; correct that field in the EndpointPicker, or, if it was edited by hand, in the object: kubectl get %s --namespace %s -o yaml --show-managed-fields tells by whom"
        .formatted(argument(child), child.getMetadata().getNamespace());
  }

  /** As what {@code kubectl} is to do something with. */
  private static String argument(HasMetadata child) {
    return child.getKind().toLowerCase(Locale.ROOT) + " " + child.getMetadata().getName();
  }

  private static String said(KubernetesClientException e) {
    return String.valueOf(e.getStatus() == null ? e.getMessage() : e.getStatus().getMessage());
  }

  /** Quotas, policies and webhooks answer 403 as well, and say whatever they like. */
  private static boolean isMissingPermission(KubernetesClientException e) {
    return e.getCode() == FORBIDDEN && MISSING_PERMISSION.matcher(said(e)).lookingAt();
  }

  /** It is there, and took the request: not as one that is away, which refuses connections. */
  public static boolean isUnanswered(KubernetesClientException e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof TimeoutException
          || (cause instanceof HttpTimeoutException
              && !(cause instanceof HttpConnectTimeoutException))) {
        return true;
      }
    }
    return false;
  }

  /**
   * What keeps a child that is not wanted any more.
   *
   * @throws KubernetesClientException the same, where it passes by itself
   */
  static ChildFailure stays(HasMetadata child, KubernetesClientException e) {
    boolean denied = isMissingPermission(e);
    if (!denied && !isByAdmission(e)) {
      throw e;
    }
    return ChildFailure.lasting(
        child,
        Verdict.no(
            denied ? Reason.PERMISSION_DENIED : Reason.OBJECT_NOT_APPLIED,
            "%s is not wanted any more and stays: %s; %s, or delete it by hand"
                .formatted(
                    describe(child),
                    said(e),
                    denied
                        ? "grant it to the operator's ServiceAccount"
                        : "see to that webhook or policy")));
  }

  /** Whether a policy or a webhook refuses it, or one that is asked does not answer. */
  private static boolean isByAdmission(KubernetesClientException e) {
    return e.getCode() == FORBIDDEN
        || e.getCode() == UNPROCESSABLE
        || (e.getCode() >= SERVER_ERROR && said(e).contains("webhook"));
  }

  static String describe(HasMetadata child) {
    return "%s %s/%s"
        .formatted(
            child.getKind(), child.getMetadata().getNamespace(), child.getMetadata().getName());
  }
}
