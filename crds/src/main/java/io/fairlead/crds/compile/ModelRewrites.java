package io.fairlead.crds.compile;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fairlead.crds.compile.Finding.Severity;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.crds.document.FieldPath;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Rules that rewrite models, as models with targets. Of several for one model the oldest object's
 * counts, then the first in it; before all of them an InferenceModel, which says more.
 */
final class ModelRewrites {

  private final Map<String, ModelConfig> models;
  private final Map<String, String> owners = new HashMap<>();
  private final List<Finding> findings;

  /**
   * @param models gets those that the rules come to
   * @param taken who has the names in it
   * @param findings gets what is wrong with rules
   */
  ModelRewrites(
      Map<String, ModelConfig> models, Map<String, ObjectRef> taken, List<Finding> findings) {
    this.models = models;
    this.findings = findings;
    taken.forEach((name, owner) -> owners.put(name, owner.toString()));
  }

  /** To be called with the oldest object first. */
  void add(GenericKubernetesResource rewrite) {
    ObjectRef object = ObjectRef.of(rewrite);
    List<Finding> found = new ArrayList<>();
    int before = models.size();
    FieldPath path = new FieldPath("spec.rules");
    JsonNode rules = PoolMembers.spec(rewrite).path("rules");
    if (rules.isEmpty()) {
      found.add(finding(object, path, Finding.INVALID_SPEC, "is empty; name models in it"));
    }
    for (int i = 0; i < rules.size(); i++) {
      rule(object, path.element(i), rules.get(i), found);
    }
    Severity severity = models.size() == before ? Severity.REJECTS : Severity.WARNS;
    found.forEach(
        finding ->
            findings.add(
                new Finding(
                    object, finding.path(), finding.reason(), finding.message(), severity)));
  }

  private void rule(ObjectRef object, FieldPath path, JsonNode rule, List<Finding> found) {
    List<TargetModel> targets = targets(rule.path("targets"));
    JsonNode matches = rule.path("matches");
    if (targets.isEmpty()) {
      found.add(
          finding(
              object,
              path.field("targets"),
              Finding.INVALID_SPEC,
              "has none with a modelRewrite; the rule is left out"));
    } else if (matches.isEmpty()) {
      found.add(
          finding(
              object,
              path.field("matches"),
              Finding.INVALID_SPEC,
              "is empty, so that the rule is for every model: that is not carried out, and the rule is left out; name the models"));
    } else if (!unusable(object, path.field("targets"), rule.path("targets"), found)) {
      for (int j = 0; j < matches.size(); j++) {
        FieldPath match = path.field("matches").element(j).field("model");
        match(object, path, match, matches.get(j).path("model"), targets, found);
      }
    }
  }

  private void match(
      ObjectRef object,
      FieldPath rule,
      FieldPath path,
      JsonNode model,
      List<TargetModel> targets,
      List<Finding> found) {
    String name = model.path("value").asText();
    if (name.isEmpty() || !model.path("type").asText("Exact").equals("Exact")) {
      found.add(
          finding(
              object, path, Finding.INVALID_SPEC, "names no model exactly; the match is left out"));
      return;
    }
    Optional<String> problem = ModelCheck.nameProblem(name);
    if (problem.isPresent()) {
      found.add(finding(object, path.field("value"), Finding.INVALID_SPEC, problem.get()));
      return;
    }
    String owner = owners.putIfAbsent(name, object + ", " + rule.text());
    if (owner == null) {
      models.put(name, new ModelConfig(name, Criticality.STANDARD, targets));
    } else {
      found.add(
          finding(
              object,
              path.field("value"),
              Finding.MODEL_NAME_IN_USE,
              "is "
                  + FieldPath.quote(name)
                  + ", which belongs to "
                  + owner
                  + "; the match is left out"));
    }
  }

  /** A name that fits into no config would keep all others of the pool out of it. */
  private static boolean unusable(
      ObjectRef object, FieldPath path, JsonNode targets, List<Finding> found) {
    int before = found.size();
    for (int i = 0; i < targets.size(); i++) {
      String name = targets.get(i).path("modelRewrite").asText();
      FieldPath field = path.element(i).field("modelRewrite");
      ModelCheck.nameProblem(name)
          .filter(problem -> !name.isEmpty())
          .ifPresent(problem -> found.add(finding(object, field, Finding.INVALID_SPEC, problem)));
    }
    return found.size() > before;
  }

  private static Finding finding(ObjectRef object, FieldPath path, String reason, String message) {
    return new Finding(object, path.text(), reason, path.text() + " " + message, Severity.WARNS);
  }

  /** Beside targets with weights, one without is never chosen; without any, all are alike. */
  private static List<TargetModel> targets(JsonNode list) {
    List<TargetModel> weighted = new ArrayList<>();
    List<TargetModel> alike = new ArrayList<>();
    for (JsonNode target : list) {
      String name = target.path("modelRewrite").asText();
      int weight = Math.min(target.path("weight").asInt(0), TargetModel.MOST_WEIGHT);
      if (!name.isEmpty() && weight > 0) {
        weighted.add(new TargetModel(name, weight));
      } else if (!name.isEmpty()) {
        alike.add(new TargetModel(name, 1));
      }
    }
    return weighted.isEmpty() ? alike : weighted;
  }
}
