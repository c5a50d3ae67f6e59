package io.fairlead.crds.convert;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** InferencePool of the group x-k8s.io to the settled one, and back. */
final class PoolConversion {
  static final String OLD_GROUP = "inference.networking.x-k8s.io";
  static final String NEW_GROUP = "inference.networking.k8s.io";
  private static final int USUAL_PORT = 9002;
  private static final int LAST_PORT = 65_535;

  private PoolConversion() {}

  static ObjectNode toNew(Fields pool) {
    ObjectNode made = Metadata.begin(pool, NEW_GROUP + "/v1", "InferencePool", false);
    Fields spec = pool.below("spec");
    ObjectNode to = made.putObject("spec");
    JsonNode selector = spec.labels("selector");
    if (selector.isMissingNode() || (selector.isObject() && selector.isEmpty())) {
      spec.wrong(
          "selector", "is empty, and a pool of v1 needs a label; name one that the pods have");
    }
    to.putObject("selector").set("matchLabels", selector);
    JsonNode port = spec.number("targetPortNumber", 1, LAST_PORT);
    if (port.isMissingNode()) {
      spec.wrong("targetPortNumber", "is missing; set the port that the model servers listen on");
    }
    to.putArray("targetPorts").addObject().set("number", port);
    if (!spec.take("extensionRef").isMissingNode()) {
      reference(spec.below("extensionRef"), to.putObject("endpointPickerRef"));
    }
    spec.rest("has no counterpart in a pool of v1");
    pool.rest("has no counterpart in a pool of v1");
    return made;
  }

  private static void reference(Fields from, ObjectNode to) {
    from.move("group", to, "group");
    from.move("kind", to, "kind");
    from.move("name", to, "name");
    JsonNode port = from.number("portNumber", 1, LAST_PORT);
    if (!port.isMissingNode()) {
      to.putObject("port").set("number", port);
    } else if (to.path("kind").asText("Service").equals("Service")) {
      // Where it is absent it counts as this; in v1 there is no such default.
      to.putObject("port").put("number", USUAL_PORT);
    }
    from.move("failureMode", to, "failureMode");
    from.rest("has no counterpart in a pool of v1");
  }

  static ObjectNode toOld(Fields pool) {
    ObjectNode made = Metadata.begin(pool, OLD_GROUP + "/v1alpha2", "InferencePool", false);
    Fields spec = pool.below("spec");
    ObjectNode to = made.putObject("spec");
    Fields selector = spec.below("selector");
    JsonNode labels = selector.labels("matchLabels");
    if (!labels.isMissingNode()) {
      to.set("selector", labels);
    }
    selector.rest("has no counterpart in a pool of v1alpha2");
    JsonNode ports = spec.take("targetPorts");
    if (ports.path(0).path("number").isMissingNode()) {
      spec.wrong("targetPorts", "names no port; set the one that the model servers listen on");
    } else {
      spec.element("targetPorts", 0).moveNumber("number", to, "targetPortNumber", 1, LAST_PORT);
    }
    for (int i = 1; i < ports.size(); i++) {
      Fields more = spec.element("targetPorts", i);
      more.lost("number", "is left out: a pool of v1alpha2 has one port, the first");
    }
    String protocol = spec.text("appProtocol");
    if (!protocol.isEmpty() && !protocol.equals("http")) {
      spec.lost(
          "appProtocol", "has no counterpart in a pool of v1alpha2, whose servers speak http");
    }
    if (spec.take("endpointPickerRef").isMissingNode()) {
      spec.wrong(
          "endpointPickerRef", "is missing, and a pool of v1alpha2 needs it; name a Service");
    } else {
      oldReference(spec.below("endpointPickerRef"), to.putObject("extensionRef"));
    }
    spec.rest("has no counterpart in a pool of v1alpha2");
    pool.rest("has no counterpart in a pool of v1alpha2");
    return made;
  }

  private static void oldReference(Fields from, ObjectNode to) {
    from.move("group", to, "group");
    from.move("kind", to, "kind");
    from.move("name", to, "name");
    Fields port = from.below("port");
    port.moveNumber("number", to, "portNumber", 1, LAST_PORT);
    port.rest("has no counterpart in a pool of v1alpha2");
    from.move("failureMode", to, "failureMode");
    from.rest("has no counterpart in a pool of v1alpha2");
  }
}
