package io.fairlead.crds.convert;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.TargetModel;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An InferenceModel to an InferenceObjective and an InferenceModelRewrite of its name, and back.
 * What a model is called is to be told apart from what it is important for: today a request names
 * both, the model in its body and the objective in a header.
 */
final class ModelConversion {
  private static final String MODEL_VERSION = PoolConversion.OLD_GROUP + "/v1alpha2";
  private static final String NO_FIELD = "has no counterpart in %s";
  private static final int MOST_TARGETS = 10;

  /** Group of the objects that are made. */
  private final String group;

  /** Whether the pools that are referred to change their group. */
  private final boolean poolsMove;

  ModelConversion(String group, boolean poolsMove) {
    this.group = group;
    this.poolsMove = poolsMove;
  }

  List<ObjectNode> toNew(Fields model) {
    String version = group + "/v1alpha2";
    ObjectNode objective = Metadata.begin(model, version, "InferenceObjective", true);
    ObjectNode rewrite = JsonNodeFactory.instance.objectNode();
    rewrite.put("apiVersion", version).put("kind", "InferenceModelRewrite");
    rewrite.set("metadata", objective.path("metadata").deepCopy());
    Fields spec = model.below("spec");
    ObjectNode ref = reference(spec, PoolConversion.OLD_GROUP, PoolConversion.NEW_GROUP);
    ObjectNode objectiveSpec = objective.putObject("spec");
    objectiveSpec.set("poolRef", ref);
    priority(spec, objective.path("metadata").path("name").asText(), objectiveSpec);
    ObjectNode rewriteSpec = rewrite.putObject("spec");
    rewriteSpec.set("poolRef", ref.deepCopy());
    ObjectNode rule = rewriteSpec.putArray("rules").addObject();
    String name = spec.text("modelName");
    if (name.isEmpty()) {
      spec.wrong("modelName", "is empty, and no rewrite can match that; name the model");
    }
    rule.putArray("matches").addObject().putObject("model").put("type", "Exact").put("value", name);
    ArrayNode targets = rule.putArray("targets");
    JsonNode given = spec.take("targetModels");
    for (int i = 0; i < given.size(); i++) {
      Fields target = spec.element("targetModels", i);
      ObjectNode made = targets.addObject();
      if (!target.text("name").isEmpty()) {
        target.move("name", made, "modelRewrite");
      }
      target.moveNumber("weight", made, "weight", 1, TargetModel.MOST_WEIGHT);
      target.rest(NO_FIELD.formatted("an InferenceModelRewrite"));
    }
    if (given.isEmpty()) {
      targets.addObject().put("modelRewrite", name);
    }
    spec.rest(NO_FIELD.formatted("an InferenceObjective or InferenceModelRewrite"));
    model.rest(NO_FIELD.formatted("an InferenceObjective or InferenceModelRewrite"));
    return List.of(objective, rewrite);
  }

  private static void priority(Fields spec, String name, ObjectNode to) {
    String criticality = spec.text("criticality");
    if (criticality.isEmpty()) {
      return;
    }
    if (criticality.equals(Criticality.STANDARD.wireName())) {
      to.put("priority", 0);
    } else if (criticality.equals(Criticality.CRITICAL.wireName())) {
      to.put("priority", 1);
    } else if (criticality.equals(Criticality.SHEDDABLE.wireName())) {
      to.put("priority", -1);
    } else {
      spec.wrong("criticality", "is none of Critical, Standard, Sheddable; use one of them");
      return;
    }
    if (to.path("priority").asInt() != 0) {
      spec.lost(
          "criticality",
          "counts only for requests that say so from now on: send the header x-gateway-inference-objective: "
              + (name.isEmpty() ? "the name that the objective is given" : name));
    }
  }

  /**
   * One model for every match of the rewrite.
   *
   * @param objective of the same name; null where there is none
   */
  List<ObjectNode> toOld(Fields rewrite, @Nullable Fields objective) {
    ObjectNode head = Metadata.begin(rewrite, MODEL_VERSION, "InferenceModel", false);
    Fields spec = rewrite.below("spec");
    ObjectNode ref = reference(spec, PoolConversion.NEW_GROUP, PoolConversion.OLD_GROUP);
    String criticality = objective == null ? null : criticality(objective, head);
    JsonNode rules = spec.take("rules");
    List<ObjectNode> models = new ArrayList<>();
    for (int i = 0; i < rules.size(); i++) {
      rule(spec.element("rules", i), head, ref, criticality, models);
    }
    if (models.isEmpty()) {
      spec.wrong("rules", "names no model, so there is no InferenceModel to make of it");
    }
    String name = head.path("metadata").path("name").asText();
    // Names that the API server makes differ by themselves.
    if (models.size() > 1 && !name.isEmpty()) {
      for (int i = 0; i < models.size(); i++) {
        ((ObjectNode) models.get(i).path("metadata")).put("name", name + "-" + (i + 1));
      }
      rewrite
          .below("metadata")
          .lost("name", "gets a number: the rewrite is " + models.size() + " InferenceModels");
    }
    spec.rest(NO_FIELD.formatted("an InferenceModel"));
    rewrite.rest(NO_FIELD.formatted("an InferenceModel"));
    return models;
  }

  private static void rule(
      Fields rule,
      ObjectNode head,
      ObjectNode ref,
      @Nullable String criticality,
      List<ObjectNode> models) {
    JsonNode matches = rule.take("matches");
    ArrayNode targets = targets(rule);
    if (matches.isEmpty()) {
      rule.wrong("matches", "is empty: no InferenceModel is for every model; name the models");
    }
    for (int i = 0; i < matches.size(); i++) {
      Fields match = rule.element("matches", i);
      Fields model = match.below("model");
      model.take("type");
      String name = model.text("value");
      model.rest(NO_FIELD.formatted("an InferenceModel"));
      match.rest(NO_FIELD.formatted("an InferenceModel"));
      ObjectNode made = head.deepCopy();
      ObjectNode spec = made.putObject("spec");
      spec.put("modelName", name);
      if (criticality != null) {
        spec.put("criticality", criticality);
      }
      boolean itself =
          targets.size() == 1
              && targets.path(0).size() == 1
              && targets.path(0).path("name").asText().equals(name);
      if (!itself) {
        spec.set("targetModels", targets.deepCopy());
      }
      spec.set("poolRef", ref.deepCopy());
      models.add(made);
    }
    rule.rest(NO_FIELD.formatted("an InferenceModel"));
  }

  private static ArrayNode targets(Fields rule) {
    ArrayNode made = JsonNodeFactory.instance.arrayNode();
    JsonNode given = rule.take("targets");
    boolean weighted = false;
    for (JsonNode target : given) {
      weighted |= target.path("weight").asInt() > 0;
    }
    Set<String> names = new HashSet<>();
    for (int i = 0; i < given.size(); i++) {
      Fields target = rule.element("targets", i);
      if (weighted && target.take("weight").asInt() <= 0) {
        target.lost(
            "modelRewrite", "is left out: without a weight beside others it gets no request");
        target.take("modelRewrite");
      } else {
        ObjectNode to = made.addObject();
        target.move("modelRewrite", to, "name");
        target.moveNumber("weight", to, "weight", 1, TargetModel.MOST_WEIGHT);
        if (!names.add(to.path("name").asText())) {
          target.wrong("modelRewrite", "is there twice; an InferenceModel names a target once");
        }
      }
      target.rest(NO_FIELD.formatted("an InferenceModel"));
    }
    if (made.size() > MOST_TARGETS) {
      rule.wrong("targets", "are more than the 10 that an InferenceModel may have; remove some");
    }
    return made;
  }

  /** Takes all of the objective; null where it says nothing. */
  private static @Nullable String criticality(Fields objective, ObjectNode head) {
    JsonNode own = Metadata.begin(objective, MODEL_VERSION, "InferenceModel", false);
    for (String field : List.of("labels", "annotations")) {
      JsonNode mine = own.path("metadata").path(field);
      if (!mine.isMissingNode() && !mine.equals(head.path("metadata").path(field))) {
        objective
            .below("metadata")
            .lost(field, "is left out: the InferenceModel has that of the rewrite");
      }
    }
    Fields spec = objective.below("spec");
    spec.take("poolRef");
    JsonNode priority = spec.take("priority");
    spec.rest(NO_FIELD.formatted("an InferenceModel"));
    objective.rest(NO_FIELD.formatted("an InferenceModel"));
    if (!priority.isNumber()) {
      return null;
    }
    int sign = priority.decimalValue().signum();
    Criticality is =
        sign > 0 ? Criticality.CRITICAL : sign < 0 ? Criticality.SHEDDABLE : Criticality.STANDARD;
    if (priority.decimalValue().abs().compareTo(BigDecimal.ONE) > 0) {
      spec.lost(
          "priority",
          "is "
              + priority
              + " and becomes "
              + is.wireName()
              + ": how far from 0 it was is not kept");
    }
    return is.wireName();
  }

  /** Of a model or a rewrite: the group follows the pool. */
  private ObjectNode reference(Fields spec, String from, String to) {
    ObjectNode made = JsonNodeFactory.instance.objectNode();
    if (spec.take("poolRef").isMissingNode()) {
      spec.wrong("poolRef", "is missing; name the InferencePool");
      return made;
    }
    Fields ref = spec.below("poolRef");
    String group = ref.text("group");
    boolean moves = poolsMove && (group.isEmpty() || group.equals(from));
    made.put("group", moves ? to : group.isEmpty() ? from : group);
    ref.move("kind", made, "kind");
    ref.move("name", made, "name");
    ref.rest(NO_FIELD.formatted("a reference"));
    return made;
  }
}
