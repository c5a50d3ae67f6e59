package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.Service;
import io.fairlead.crds.v1.EndpointPickerRef;
import io.fairlead.crds.v1.Port;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.util.regex.Pattern;

/** Whether the pool's {@code endpointPickerRef} leads to a Service that we may provide. */
public sealed interface ServiceRef {
  /** Syntax of a Service's name. */
  Pattern NAME = Pattern.compile("[a-z]([-a-z0-9]{0,61}[a-z0-9])?");

  /** It does: this Service is ours or free. */
  record Resolved(String name, int port) implements ServiceRef {}

  /**
   * It does not.
   *
   * @param accepted what that means for the pool as a whole
   * @param resolvedRefs what is wrong with the reference
   */
  record Unresolved(Verdict accepted, Verdict resolvedRefs) implements ServiceRef {}

  /** Judges the reference of a pool that we serve. */
  static ServiceRef of(Observation seen) {
    EndpointPickerRef ref = seen.ref();
    if (ref == null) {
      return new Unresolved(
          Verdict.no(
              Reason.ENDPOINT_PICKER_REF_MISSING,
              "InferencePool %s has no spec.endpointPickerRef; name a Service there"
                  .formatted(seen.pool().getMetadata().getName())),
          Verdict.pending("There is no reference to resolve"));
    }
    if (!isService(ref)) {
      return invalid(
          "spec.endpointPickerRef is a %s of group \"%s\"; only a core Service can be provided"
              .formatted(ref.kind(), ref.group()));
    }
    String name = ref.name();
    if (name == null || !NAME.matcher(name).matches()) {
      return invalid(
          "spec.endpointPickerRef.name \"%s\" cannot be the name of a Service; use at most 63 of a-z, 0-9 and -, beginning with a letter"
              .formatted(name));
    }
    Port port = ref.port();
    Integer number = port == null ? null : port.number();
    if (number == null || number < 1 || number > 65535) {
      return invalid("spec.endpointPickerRef.port.number is missing; set it, 9002 for instance");
    }
    Service service = seen.service();
    if (service != null
        && !Ownership.isOrBecomes(seen.pool(), service)
        && !Ownership.byPredecessor(seen.pool(), service)) {
      return Ownership.ours(service)
          ? invalid(
              "Service %s is that of InferencePool %s, and every pool needs one of its own; name another in spec.endpointPickerRef"
                  .formatted(name, Ownership.pool(service).orElseThrow().getName()))
          : invalid(
              "Service %s is not ours and stays untouched; delete it or name another in spec.endpointPickerRef"
                  .formatted(name));
    }
    return new Resolved(name, number);
  }

  /** Whether the reference is to a core Service, as it is by default. */
  static boolean isService(EndpointPickerRef ref) {
    return (ref.group() == null || ref.group().isEmpty())
        && (ref.kind() == null || ref.kind().equals("Service"));
  }

  private static Unresolved invalid(String message) {
    return new Unresolved(
        Verdict.yes(Reason.ACCEPTED, "The pool is served by Fairlead"),
        Verdict.no(Reason.INVALID_EXTENSION_REF, message));
  }
}
