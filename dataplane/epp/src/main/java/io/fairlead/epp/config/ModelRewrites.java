package io.fairlead.epp.config;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.TargetModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Rules that rewrite models, as models with targets. Of several for one model the oldest object's
 * counts, then the first in it.
 */
final class ModelRewrites {

  private static final int MAX_WEIGHT = 1_000_000;

  private final Map<String, ModelConfig> models = new TreeMap<>();
  private final List<String> notes;

  private ModelRewrites(List<String> notes) {
    this.notes = notes;
  }

  /**
   * The models that InferenceModelRewrites come to.
   *
   * @param rewrites those of the pool, oldest first
   * @param notes gets a line for each thing that is not carried out
   * @return sorted by name
   */
  static List<ModelConfig> models(List<GenericKubernetesResource> rewrites, List<String> notes) {
    ModelRewrites read = new ModelRewrites(notes);
    for (GenericKubernetesResource rewrite : rewrites) {
      JsonNode rules = PoolMembers.spec(rewrite).path("rules");
      for (int i = 0; i < rules.size(); i++) {
        read.rule(PoolMembers.place(rewrite) + ": spec.rules[" + i + "]", rules.get(i));
      }
    }
    return List.copyOf(read.models.values());
  }

  private void rule(String place, JsonNode rule) {
    List<TargetModel> targets = targets(rule.path("targets"));
    JsonNode matches = rule.path("matches");
    if (targets.isEmpty()) {
      notes.add(place + ".targets has none with a name and a weight; the rule is left out");
    } else if (matches.isEmpty()) {
      notes.add(
          place
              + " has no matches, so that it is for every model: that is not carried out, and the"
              + " rule is left out; name the models in matches");
    } else {
      for (int j = 0; j < matches.size(); j++) {
        match(place + ".matches[" + j + "]", matches.get(j).path("model"), targets);
      }
    }
  }

  private void match(String place, JsonNode model, List<TargetModel> targets) {
    String name = model.path("value").asText();
    if (name.isEmpty() || !model.path("type").asText("Exact").equals("Exact")) {
      notes.add(place + ".model names no model exactly; the match is left out");
    } else {
      models.putIfAbsent(name, new ModelConfig(name, Criticality.STANDARD, targets));
    }
  }

  /** Beside targets with weights, one without is never chosen; without any, all are alike. */
  private static List<TargetModel> targets(JsonNode list) {
    List<TargetModel> weighted = new ArrayList<>();
    List<TargetModel> alike = new ArrayList<>();
    for (JsonNode target : list) {
      String name = target.path("modelRewrite").asText();
      int weight = Math.min(target.path("weight").asInt(0), MAX_WEIGHT);
      if (!name.isEmpty() && weight > 0) {
        weighted.add(new TargetModel(name, weight));
      } else if (!name.isEmpty()) {
        alike.add(new TargetModel(name, 1));
      }
    }
    return weighted.isEmpty() ? alike : weighted;
  }
}
