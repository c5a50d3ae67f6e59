package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.Service;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.Frontend;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.observe.Ownership;
import io.fairlead.operator.observe.ServiceRef;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Whether all is there that a pool and its picker refer to. */
final class ResolvedRefs {
  private ResolvedRefs() {}

  /**
   * Judges the pool's Service and what its picker names.
   *
   * @param named what is wrong with Secrets and ConfigMaps that the picker names
   */
  static Verdict judge(Wanted wanted, ChildFailures failures, List<Verdict> named) {
    EndpointPicker picker = wanted.picker();
    Verdict service =
        switch (wanted.service()) {
          case ServiceRef.Resolved resolved when picker != null && PickerTelling.isPaused(picker) ->
              whilePaused(wanted.seen(), picker, resolved, wanted.frontend());
          case ServiceRef.Resolved resolved
              when wanted.design().isEmpty() && wanted.seen().service() == null ->
              Verdict.pending(
                  "Service %s is free, and is made when the pool is accepted; condition Accepted says what to do"
                      .formatted(resolved.name()));
          case ServiceRef.Resolved resolved ->
              provided(resolved, picker, wanted.frontend(), failures);
          case ServiceRef.Unresolved broken -> broken.resolvedRefs();
        };
    if (named.isEmpty()) {
      return service;
    }
    return Verdict.all(
        service.isTrue() ? named : Stream.concat(Stream.of(service), named.stream()).toList());
  }

  /** Nothing was applied, so what is there is looked at. */
  private static Verdict whilePaused(
      Observation seen, EndpointPicker picker, ServiceRef.Resolved ref, Frontend frontend) {
    Service service = seen.service();
    String name = picker.getMetadata().getName();
    if (service == null || !Ownership.by(seen.pool(), service)) {
      return Verdict.pending(
          "Service %s is not there, and EndpointPicker %s is paused; set spec.paused to false to have it made"
              .formatted(ref.name(), name));
    }
    return service.getSpec().getPorts().stream().noneMatch(port -> port.getPort() == ref.port())
        ? Verdict.pending(
            "Service %s has no port %d, and EndpointPicker %s is paused; set spec.paused to false to have it so"
                .formatted(ref.name(), ref.port(), name))
        : provided(ref, picker, frontend, ChildFailures.NONE);
  }

  private static Verdict provided(
      ServiceRef.Resolved service,
      @Nullable EndpointPicker picker,
      Frontend frontend,
      ChildFailures failures) {
    return failures
        .ofService()
        .orElseGet(
            () ->
                Verdict.yes(
                    Reason.RESOLVED_REFS,
                    switch (frontend) {
                      case EXT_PROC -> "Service %s is provided".formatted(service.name());
                      case GATEWAY ->
                          "Service %s is provided: clients send their requests to its port %d over %s"
                              .formatted(
                                  service.name(), service.port(), isTls(picker) ? "HTTPS" : "HTTP");
                    }));
  }

  private static boolean isTls(@Nullable EndpointPicker picker) {
    return picker != null && picker.getSpec() != null && picker.getSpec().tls() != null;
  }
}
