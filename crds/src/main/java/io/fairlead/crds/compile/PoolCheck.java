package io.fairlead.crds.compile;

import io.fairlead.crds.document.FieldPath;
import io.fairlead.crds.v1.EndpointPickerRef;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1.InferencePoolSpec;
import io.fairlead.crds.v1.Port;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Judges a pool's spec, also where the schema does not: an older CRD may have let anything in. */
final class PoolCheck {
  private final ObjectRef pool;
  private final List<Finding> findings = new ArrayList<>();

  private PoolCheck(ObjectRef pool) {
    this.pool = pool;
  }

  static List<Finding> of(InferencePool pool) {
    PoolCheck check = new PoolCheck(ObjectRef.of(pool));
    InferencePoolSpec spec = pool.getSpec();
    if (spec == null) {
      check.reject("spec", "is missing; give the pool a selector and targetPorts");
      return check.findings;
    }
    check.selector(spec.selector() == null ? Map.of() : spec.selector().matchLabels());
    check.ports(spec.targetPorts());
    String protocol = spec.appProtocol();
    if (protocol != null && !protocol.equals("http") && !protocol.equals("kubernetes.io/h2c")) {
      check.reject(
          "spec.appProtocol",
          "is " + FieldPath.quote(protocol) + "; use http or kubernetes.io/h2c");
    }
    if (spec.endpointPickerRef() != null) {
      check.picker(spec.endpointPickerRef());
    }
    return check.findings;
  }

  private void selector(Map<String, String> labels) {
    FieldPath path = new FieldPath("spec.selector.matchLabels");
    if (labels.isEmpty()) {
      reject(path.text(), "is empty; name at least one label that the model server pods carry");
    }
    labels.forEach(
        (key, value) -> {
          if (!Labels.isKey(key)) {
            reject(
                path.field(key).text(),
                "is no label key, so no pod can carry it; write the key and the value of one label");
          } else if (!Labels.isValue(value)) {
            reject(
                path.field(key).text(),
                "is "
                    + FieldPath.quote(value)
                    + ", which no label value can be; use up to 63 letters, digits, '-', '_' and '.'");
          }
        });
  }

  private void ports(List<Port> ports) {
    if (ports.isEmpty() || ports.size() > 8) {
      reject("spec.targetPorts", "must list 1 to 8 ports");
    }
    Set<Integer> seen = new HashSet<>();
    for (int i = 0; i < ports.size(); i++) {
      Integer number = ports.get(i).number();
      String path = "spec.targetPorts[" + i + "].number";
      if (number == null || number < 1 || number > 65535) {
        reject(path, "must be a port from 1 to 65535");
      } else if (!seen.add(number)) {
        reject(path, "repeats port " + number + "; list every port only once");
      }
    }
  }

  private void picker(EndpointPickerRef ref) {
    boolean service =
        (ref.group() == null || ref.group().isEmpty())
            && (ref.kind() == null || ref.kind().equals("Service"));
    String name = ref.name() == null ? "" : ref.name();
    if (service && !Labels.isServiceName(name)) {
      findings.add(
          new Finding(
              pool,
              "spec.endpointPickerRef.name",
              Finding.INVALID_EXTENSION_REF,
              "spec.endpointPickerRef.name is "
                  + FieldPath.quote(name)
                  + ", which no Service can be called; use lower-case letters, digits and '-'",
              Finding.Severity.WARNS));
    }
  }

  private void reject(String path, String message) {
    findings.add(
        new Finding(
            pool, path, Finding.INVALID_SPEC, path + " " + message, Finding.Severity.REJECTS));
  }
}
