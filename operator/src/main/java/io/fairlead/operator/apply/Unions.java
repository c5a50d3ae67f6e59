package io.fairlead.operator.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Fields of which the API server lets an object have one only, or such alone that fit each other. A
 * server-side apply can't take another's away: after an edit by hand ours stands beside it, which
 * is refused for ever.
 */
final class Unions {
  /** Of each of these an object has one. */
  private static final List<Set<String>> ONE_OF =
      List.of(
          Set.of("exec", "grpc", "httpGet", "tcpSocket", "sleep"),
          Set.of("value", "valueFrom"),
          Set.of("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"),
          Set.of("minAvailable", "maxUnavailable"));

  /** What is in one of these has to fit what else is in it. */
  private static final Set<String> WHOLE = Set.of("ports", "resources", "seccompProfile");

  /** A volume's name is beside its source, which is one of many. */
  private static final String VOLUMES = "volumes";

  private static final String NAME = "name";

  private Unions() {}

  /**
   * Puts what is wanted in the place of what excludes it, and leaves everything else as it is.
   *
   * @param there what is there, which is changed
   * @param wanted what is to be applied
   */
  static void settle(ObjectNode there, JsonNode wanted) {
    for (Set<String> arms : ONE_OF) {
      settle(there, wanted, new ArrayList<>(arms));
    }
    wanted
        .properties()
        .forEach(
            field -> {
              String name = field.getKey();
              JsonNode old = there.get(name);
              if (old != null && WHOLE.contains(name)) {
                there.set(name, field.getValue());
              } else if (old instanceof ObjectNode object && field.getValue().isObject()) {
                settle(object, field.getValue());
              } else if (old != null && old.isArray() && field.getValue().isArray()) {
                settleNamed(old, field.getValue(), VOLUMES.equals(name));
              }
            });
  }

  private static void settleNamed(JsonNode there, JsonNode wanted, boolean volumes) {
    for (JsonNode element : wanted) {
      for (JsonNode old : there) {
        if (old instanceof ObjectNode object
            && element.hasNonNull(NAME)
            && element.get(NAME).equals(old.get(NAME))) {
          if (volumes) {
            List<String> sources = new ArrayList<>();
            List.of(old, element).forEach(one -> one.fieldNames().forEachRemaining(sources::add));
            sources.removeIf(NAME::equals);
            settle(object, element, sources);
          }
          settle(object, element);
        }
      }
    }
  }

  /** Where something of it is wanted and something else is there. */
  private static void settle(ObjectNode there, JsonNode wanted, List<String> arms) {
    List<String> ours = arms.stream().filter(wanted::has).distinct().toList();
    if (!ours.isEmpty() && arms.stream().anyMatch(arm -> there.has(arm) && !ours.contains(arm))) {
      there.remove(arms.stream().filter(arm -> !ours.contains(arm)).toList());
      ours.stream().filter(arm -> !there.has(arm)).forEach(arm -> there.set(arm, wanted.get(arm)));
    }
  }
}
