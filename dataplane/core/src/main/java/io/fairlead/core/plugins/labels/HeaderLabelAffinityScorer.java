package io.fairlead.core.plugins.labels;

import io.fairlead.core.plugins.compat.Texts;
import io.fairlead.core.view.Memo;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import java.util.Map;

/**
 * Prefers endpoints whose label {@code labelKey} has the value that the request header {@code
 * headerName} asks for: 1 for those, 0 for others, 0 for all without the header.
 */
final class HeaderLabelAffinityScorer implements Scorer {

  private final String headerName;
  private final Memo<Map<String, String>, String> values;

  HeaderLabelAffinityScorer(String headerName, String labelKey) {
    this.headerName = headerName;
    this.values = Memo.ofLabels(labels -> labels.getOrDefault(labelKey, ""));
  }

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    String header = request.header(headerName);
    String wanted = header == null ? "" : header;
    // Texts keep their hashes: unlike ones are nearly always told apart by a number.
    int hash = wanted.hashCode();
    int size = candidates.size();
    for (int i = 0; i < size; i++) {
      String value = values.of(candidates.get(i));
      boolean same = !value.isEmpty() && value.hashCode() == hash && value.equals(wanted);
      scores[i] = same ? 1 : 0;
    }
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "header-label-affinity-scorer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new HeaderLabelAffinityScorer(
          Texts.requiredHeader(parameters, "headerName"), Texts.required(parameters, "labelKey"));
    }
  }
}
