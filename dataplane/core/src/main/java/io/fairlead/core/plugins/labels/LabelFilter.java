package io.fairlead.core.plugins.labels;

import io.fairlead.core.plugins.compat.Texts;
import io.fairlead.core.view.Memo;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Keeps endpoints with certain labels. */
final class LabelFilter implements Filter {

  private final Memo<Map<String, String>, Boolean> wanted;
  private final String keeps;

  LabelFilter(LabelSelector wanted) {
    this.wanted = Memo.ofLabels(wanted::matches);
    keeps = "endpoints labelled " + wanted.text();
  }

  @Override
  public void filter(InferenceRequest request, Candidates candidates, boolean[] keep) {
    int size = candidates.size();
    for (int i = 0; i < size; i++) {
      keep[i] = wanted.of(candidates.get(i));
    }
  }

  @Override
  public String keeps() {
    return keeps;
  }

  /** Keeps endpoints that a label selector matches. */
  static final class Factory implements PluginFactory {

    private final String type;

    private Factory(String type) {
      this.type = type;
    }

    /** All names of it, older ones too. */
    static List<PluginFactory> all() {
      return List.of(new Factory("label-selector-filter"), new Factory("by-label-selector"));
    }

    @Override
    public String type() {
      return type;
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new LabelFilter(LabelSelector.of(parameters));
    }
  }

  /** Keeps endpoints with one of the values of one label. */
  static final class ByLabelFactory implements PluginFactory {

    @Override
    public String type() {
      return "by-label";
    }

    @Override
    public Plugin create(Parameters parameters) {
      String label = Texts.required(parameters, "label");
      Set<String> values = Set.copyOf(parameters.texts("validValues"));
      boolean without = parameters.flag("allowsNoLabel", false);
      if (values.isEmpty() && !without) {
        throw parameters.invalid(
            "validValues", "is empty, which no endpoint can meet; set values or allowsNoLabel");
      }
      List<String> allowed = new ArrayList<>();
      if (!values.isEmpty()) {
        allowed.add(LabelSelector.oneOf(label, values));
      }
      if (without) {
        allowed.add("without " + label);
      }
      return new LabelFilter(
          new LabelSelector(
              labels -> {
                String value = labels.get(label);
                return value == null ? without : values.contains(value);
              },
              String.join(" or ", allowed)));
    }
  }
}
