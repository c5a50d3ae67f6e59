package io.fairlead.crds.document;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.FlowTrust;
import io.fairlead.crds.config.GoDuration;
import io.fairlead.crds.config.ReceiptsConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.TimeoutsConfig;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The section {@code requests} of a config document, and of an {@code EndpointPicker}: read
 * strictly. What is at its default is not written, so that what an older release wrote keeps its
 * hash.
 */
public final class RequestsDocument {
  private static final Schema SCHEMA = Schemas.document("requests");

  private RequestsDocument() {}

  /**
   * Reads the object {@code node} at {@code path} of {@code tree}; a missing one is the default.
   * Errors are added to the tree; with any error the result means nothing.
   */
  public static RequestsConfig read(SourceTree tree, FieldPath path, JsonNode node) {
    if (node.isMissingNode()) {
      return RequestsConfig.DEFAULT;
    }
    int before = tree.errorCount();
    SCHEMA.check(tree, path, node);
    if (tree.errorCount() > before) {
      return RequestsConfig.DEFAULT;
    }
    RequestsConfig preset = RequestsConfig.DEFAULT;
    return new RequestsConfig(
        criticality(node.path("unconfiguredModels").asText(preset.unconfiguredModels().wireName())),
        timeouts(tree, path.field("timeouts"), node.path("timeouts")),
        node.path("trustTimeoutHeaders").asBoolean(preset.trustTimeoutHeaders()),
        node.path("retryBudgetPercent").asInt(preset.retryBudgetPercent()),
        trust(tree, path.field("trustFlowHeaders"), node.path("trustFlowHeaders")),
        receipts(node.path("receipts")));
  }

  private static ReceiptsConfig receipts(JsonNode node) {
    ReceiptsConfig preset = ReceiptsConfig.DEFAULT;
    return new ReceiptsConfig(
        node.path("keep").asInt(preset.keep()),
        node.path("every").asInt(preset.every()),
        node.path("responseHeader").asBoolean(preset.responseHeader()));
  }

  private static FlowTrust trust(SourceTree tree, FieldPath path, JsonNode node) {
    FlowTrust.Mode extProc = mode(node, "extProc", FlowTrust.DEFAULT.extProc());
    FlowTrust.Mode gateway = mode(node, "gateway", FlowTrust.DEFAULT.gateway());
    JsonNode secret = node.path("secretSha256");
    boolean asked = extProc == FlowTrust.Mode.SECRET || gateway == FlowTrust.Mode.SECRET;
    if (asked && !secret.isTextual()) {
      tree.error(
          path.field("secretSha256"),
          "is missing, and a frontend asks for the secret; set the 64 digits that sha256sum prints");
      return FlowTrust.DEFAULT;
    }
    return new FlowTrust(extProc, gateway, secret.isTextual() ? secret.asText() : null);
  }

  private static FlowTrust.Mode mode(JsonNode node, String field, FlowTrust.Mode preset) {
    String name = node.path(field).asText(preset.wireName());
    return Arrays.stream(FlowTrust.Mode.values())
        .filter(value -> value.wireName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  /** Of a wire name that the schema has let through. */
  static Criticality criticality(String wireName) {
    return Arrays.stream(Criticality.values())
        .filter(value -> value.wireName().equals(wireName))
        .findFirst()
        .orElseThrow();
  }

  /** Reads timeouts, also those of a model; the fields are known to be strings. */
  static TimeoutsConfig timeouts(SourceTree tree, FieldPath path, JsonNode node) {
    return new TimeoutsConfig(
        timeout(tree, path, node, "firstByte"),
        timeout(tree, path, node, "silence"),
        timeout(tree, path, node, "total"));
  }

  /**
   * Reads one timeout, a string if it is there.
   *
   * @return null when it is not there, or wrong: then the tree has an error
   */
  public static @Nullable Duration timeout(
      SourceTree tree, FieldPath path, JsonNode node, String field) {
    return DurationField.read(tree, path, node, field, Duration.ofNanos(1), TimeoutsConfig.LONGEST);
  }

  /** What is not at its default; empty when all is. */
  static ObjectNode tree(RequestsConfig config) {
    RequestsConfig preset = RequestsConfig.DEFAULT;
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    if (config.unconfiguredModels() != preset.unconfiguredModels()) {
      node.put("unconfiguredModels", config.unconfiguredModels().wireName());
    }
    put(node, config.timeouts());
    if (config.trustTimeoutHeaders() != preset.trustTimeoutHeaders()) {
      node.put("trustTimeoutHeaders", config.trustTimeoutHeaders());
    }
    if (config.retryBudgetPercent() != preset.retryBudgetPercent()) {
      node.put("retryBudgetPercent", config.retryBudgetPercent());
    }
    if (!config.trustFlowHeaders().equals(preset.trustFlowHeaders())) {
      put(node.putObject("trustFlowHeaders"), config.trustFlowHeaders());
    }
    ReceiptsConfig receipts = config.receipts();
    if (!receipts.equals(preset.receipts())) {
      ObjectNode kept =
          node.putObject("receipts").put("keep", receipts.keep()).put("every", receipts.every());
      if (receipts.responseHeader()) {
        kept.put("responseHeader", true);
      }
    }
    return node;
  }

  private static void put(ObjectNode node, FlowTrust trust) {
    if (trust.extProc() != FlowTrust.DEFAULT.extProc()) {
      node.put("extProc", trust.extProc().wireName());
    }
    if (trust.gateway() != FlowTrust.DEFAULT.gateway()) {
      node.put("gateway", trust.gateway().wireName());
    }
    if (trust.secretSha256() != null) {
      node.put("secretSha256", trust.secretSha256());
    }
  }

  /** Adds what is set as {@code timeouts}, if anything is. */
  static void put(ObjectNode owner, TimeoutsConfig timeouts) {
    if (!timeouts.equals(TimeoutsConfig.UNSET)) {
      ObjectNode node = owner.putObject("timeouts");
      put(node, "firstByte", timeouts.firstByte());
      put(node, "silence", timeouts.silence());
      put(node, "total", timeouts.total());
    }
  }

  private static void put(ObjectNode node, String field, @Nullable Duration value) {
    if (value != null) {
      node.put(field, GoDuration.format(value));
    }
  }
}
