package io.fairlead.crds.document;

import com.fasterxml.jackson.databind.JsonNode;
import io.fairlead.crds.config.GoDuration;
import io.fairlead.crds.fairlead.v1alpha1.ExternalSpec;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A validation rule of a CRD, which the API server evaluates as CEL, and its twin in Java.
 *
 * @param message what is said when it does not hold
 * @param holds whether it holds of the value that it stands at
 */
record CelRule(String message, Predicate<JsonNode> holds) {
  private static final Set<String> OPERATORS_LABELS =
      Set.of(
          "fairlead.io/picker",
          "fairlead.io/network-policy",
          "app.kubernetes.io/name",
          "app.kubernetes.io/instance",
          "app.kubernetes.io/component",
          "app.kubernetes.io/part-of",
          "app.kubernetes.io/managed-by");

  private static final Set<String> OPERATORS_VARIABLES =
      Set.of("POD_NAME", "POD_NAMESPACE", "POD_UID");

  private static final Pattern NO_BLANKS = Pattern.compile("\\S+");
  private static final Pattern ADDRESS =
      Pattern.compile("(?:[^\\s/:]+|\\[[0-9a-fA-F:.]+\\]):([1-9][0-9]{0,4})");
  private static final int MOST_PORTS = 65_535;

  private static final Map<String, Predicate<JsonNode>> TWINS =
      Map.ofEntries(
          Map.entry(
              "has(self.sidecar) != has(self.service)",
              external -> external.has("sidecar") != external.has("service")),
          Map.entry(
              "!(has(self.caConfigMap) && has(self.caSecret))",
              tls -> !(tls.has("caConfigMap") && tls.has("caSecret"))),
          Map.entry(
              "!has(self.insecureSkipVerify) || !self.insecureSkipVerify || !(has(self.serverName) || has(self.caConfigMap) || has(self.caSecret))",
              tls ->
                  !tls.path("insecureSkipVerify").asBoolean()
                      || !(tls.has("serverName") || tls.has("caConfigMap") || tls.has("caSecret"))),
          Map.entry(
              "!has(self.allowedOrigins) || (has(self.frontend) && self.frontend == 'Gateway')",
              picker ->
                  !picker.has("allowedOrigins")
                      || picker.path("frontend").asText().equals("Gateway")),
          Map.entry(
              "!(self in [8080, 9002, 9003, 9004, 9090])",
              port -> !ExternalSpec.PICKERS_PORTS.contains(port.asInt())),
          Map.entry(
              "duration(self) >= duration('1ms') && duration(self) <= duration('10s')",
              text -> within(text, "1ms", "10s")),
          Map.entry("duration(self) <= duration('100ms')", text -> within(text, "0s", "100ms")),
          Map.entry(
              "duration(self) >= duration('100ms') && duration(self) <= duration('1m')",
              text -> within(text, "100ms", "1m")),
          Map.entry(
              "self.all(a, self.exists_one(b, a.number == b.number))", CelRule::distinctNumbers),
          Map.entry(
              "self.kind != 'Service' || has(self.port)",
              ref -> !ref.path("kind").asText().equals("Service") || ref.has("port")),
          Map.entry(
              "self.all(t, has(t.weight)) || self.all(t, !has(t.weight))", CelRule::allOrNoWeights),
          Map.entry(
              "!has(self.autoscaling) || !has(self.replicas)",
              picker -> !picker.has("autoscaling") || !picker.has("replicas")),
          Map.entry(
              "!has(self.scheduling) || !has(self.schedulingFrom)",
              picker -> !picker.has("scheduling") || !picker.has("schedulingFrom")),
          Map.entry(
              "has(self.ipBlock) != (has(self.podSelector) || has(self.namespaceSelector))",
              peer ->
                  peer.has("ipBlock")
                      != (peer.has("podSelector") || peer.has("namespaceSelector"))),
          Map.entry(
              "!has(self.minReplicas) || self.minReplicas <= self.maxReplicas",
              scaled -> scaled.path("minReplicas").asInt(0) <= scaled.path("maxReplicas").asInt()),
          Map.entry(
              "!has(self.secretName) || !has(self.enabled) || self.enabled",
              handOver -> !handOver.has("secretName") || handOver.path("enabled").asBoolean(true)),
          Map.entry(
              "has(self.minAvailable) != has(self.maxUnavailable)",
              budget -> budget.has("minAvailable") != budget.has("maxUnavailable")),
          Map.entry(
              "self.all(key, !(key in [\"fairlead.io/picker\", \"fairlead.io/network-policy\", \"app.kubernetes.io/name\", \"app.kubernetes.io/instance\", \"app.kubernetes.io/component\", \"app.kubernetes.io/part-of\", \"app.kubernetes.io/managed-by\"]))",
              labels -> OPERATORS_LABELS.stream().noneMatch(labels::has)),
          Map.entry("self.matches('^\\\\S+$')", text -> NO_BLANKS.matcher(text.asText()).matches()),
          Map.entry(
              "self.matches('^([^\\\\s/:]+|\\\\[[0-9a-fA-F:.]+\\\\]):([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])$')",
              text -> isAddress(text.asText())),
          Map.entry(
              "[has(self.secretKeyRef), has(self.configMapKeyRef), has(self.fieldRef)].exists_one(one, one)",
              source ->
                  Stream.of("secretKeyRef", "configMapKeyRef", "fieldRef")
                          .filter(source::has)
                          .count()
                      == 1),
          Map.entry(
              "self.all(one, !has(one.value) || one.value == '' || !has(one.valueFrom))",
              variables ->
                  variables
                      .valueStream()
                      .noneMatch(
                          one -> !one.path("value").asText().isEmpty() && one.has("valueFrom"))),
          Map.entry(
              "self.all(one, !(one.name in [\"POD_NAME\", \"POD_NAMESPACE\", \"POD_UID\"]))",
              variables ->
                  variables.findValuesAsText("name").stream()
                      .noneMatch(OPERATORS_VARIABLES::contains)),
          // A file has no previous state that it could differ from.
          Map.entry("self == oldSelf", self -> true));

  static CelRule of(JsonNode rule) {
    Predicate<JsonNode> twin = TWINS.get(rule.path("rule").asText());
    if (twin == null) {
      throw new IllegalArgumentException("CEL rule without a twin in Java: " + rule.path("rule"));
    }
    return new CelRule(rule.path("message").asText(), twin);
  }

  private static boolean within(JsonNode text, String least, String most) {
    Duration duration = GoDuration.parse(text.asText());
    return duration != null
        && duration.compareTo(Objects.requireNonNull(GoDuration.parse(least))) >= 0
        && duration.compareTo(Objects.requireNonNull(GoDuration.parse(most))) <= 0;
  }

  private static boolean isAddress(String text) {
    Matcher address = ADDRESS.matcher(text);
    return address.matches() && Integer.parseInt(address.group(1)) <= MOST_PORTS;
  }

  private static boolean distinctNumbers(JsonNode ports) {
    Set<Integer> seen = new HashSet<>();
    for (JsonNode port : ports) {
      if (!seen.add(port.path("number").asInt())) {
        return false;
      }
    }
    return true;
  }

  private static boolean allOrNoWeights(JsonNode targets) {
    int weighted = 0;
    for (JsonNode target : targets) {
      weighted += target.has("weight") ? 1 : 0;
    }
    return weighted == 0 || weighted == targets.size();
  }
}
