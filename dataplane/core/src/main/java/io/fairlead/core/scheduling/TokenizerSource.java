package io.fairlead.core.scheduling;

import io.fairlead.crds.config.GoDuration;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Setting;
import java.time.Duration;
import java.util.List;

/**
 * A model's own tokenizer: upstream's {@code token-producer}, where it names a folder.
 *
 * @param model target model whose prompts it cuts; empty for that of no tokenizer
 * @param adapters LoRA adapters of that model, whose prompts it cuts, too
 * @param path folder with the model's {@code tokenizer.json} and {@code tokenizer_config.json}
 * @param timeout how long a request waits for it: then its tokens are estimated
 */
public record TokenizerSource(String model, List<String> adapters, String path, Duration timeout)
    implements Setting {

  private static final Duration SHORTEST = Duration.ofMillis(1);
  private static final Duration LONGEST = Duration.ofSeconds(5);

  static TokenizerSource read(Parameters parameters) {
    String model = parameters.text("modelName", "");
    String path = parameters.text("path", "");
    List<String> adapters = parameters.texts("adapters");
    String text = parameters.text("timeout", "100ms");
    Duration timeout = GoDuration.parse(text);
    if (timeout == null || timeout.compareTo(SHORTEST) < 0 || timeout.compareTo(LONGEST) > 0) {
      throw parameters.invalid("timeout", "is \"" + text + "\"; set 1ms to 5s, e.g. 100ms");
    }
    if (path.isEmpty()) {
      for (String field : List.of("adapters", "timeout")) {
        if (parameters.has(field)) {
          throw parameters.invalid(
              field,
              "is set without path; set the folder of the model's tokenizer.json, or remove it");
        }
      }
    } else if (model.isEmpty()) {
      throw parameters.invalid(
          "modelName", "is missing; set the target model whose tokenizer is in path");
    }
    return new TokenizerSource(model, adapters, path, timeout);
  }

  /** Whether there is a tokenizer; else tokens are estimated, as without this setting. */
  public boolean isThere() {
    return !path.isEmpty();
  }
}
