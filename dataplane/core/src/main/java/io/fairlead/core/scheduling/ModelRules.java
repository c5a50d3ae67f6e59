package io.fairlead.core.scheduling;

import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.ModelQueueConfig;
import io.fairlead.crds.config.TargetModel;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What the models of a document must be like. */
final class ModelRules {

  private ModelRules() {}

  static void check(List<ModelConfig> models, Problems problems) {
    Set<String> names = new HashSet<>();
    for (int i = 0; i < models.size(); i++) {
      String path = "models[" + i + "]";
      ModelConfig model = models.get(i);
      if (model.name().isEmpty()) {
        problems.add(path + ".name", "is empty; set the name that clients ask for");
      } else if (!names.add(model.name())) {
        problems.add(
            path + ".name", "\"" + model.name() + "\" is there twice; keep one entry per name");
      }
      for (int j = 0; j < model.targets().size(); j++) {
        check(path + ".targets[" + j + "]", model.targets().get(j), problems);
      }
      RequestRules.timeouts(path, model.timeouts(), problems);
      check(path + ".queue", model.queue(), problems);
      positive(path + ".latency.firstToken", model.latency().firstToken(), problems);
      positive(path + ".latency.eachToken", model.latency().eachToken(), problems);
    }
  }

  private static void check(String path, ModelQueueConfig queue, Problems problems) {
    if (queue.weight() < 1 || queue.weight() > ModelQueueConfig.MOST_WEIGHT) {
      problems.add(
          path + ".weight",
          "is "
              + queue.weight()
              + "; set a whole number from 1 to "
              + ModelQueueConfig.MOST_WEIGHT);
    }
    positive(path + ".ttl", queue.ttl(), problems);
  }

  private static void positive(String path, @Nullable Duration time, Problems problems) {
    if (time != null && !time.isPositive()) {
      problems.add(path, "is " + time + "; set more than 0");
    }
  }

  private static void check(String path, TargetModel target, Problems problems) {
    if (target.name().isEmpty()) {
      problems.add(path + ".name", "is empty; set the name that the model servers know");
    }
    if (target.weight() < 1 || target.weight() > TargetModel.MOST_WEIGHT) {
      problems.add(
          path + ".weight",
          "is " + target.weight() + "; set a whole number from 1 to " + TargetModel.MOST_WEIGHT);
    }
  }
}
