package io.fairlead.core.plugins.labels;

import io.fairlead.core.view.Memo;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Prefers endpoints whose label says that they are meant for prompts of this length, e.g. {@code
 * 0-8192}. Within the range {@code 0.3 + 0.7 (0.7 / (1 + width / 10000) + 0.3 headroom / width)},
 * outside {@code 0.3 / (1 + distance / 1000)}, 0.5 without the label, 0 when it can't be read. With
 * {@code enableFiltering} it also takes out those that are labelled for other lengths.
 */
final class ContextLengthAware implements Scorer, Filter {

  private final String label;
  private final boolean filters;
  private final Memo<Map<String, String>, Range> ranges;

  ContextLengthAware(String label, boolean filters) {
    this.label = label;
    this.filters = filters;
    this.ranges = Memo.ofLabels(labels -> Range.of(labels.get(label)));
  }

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    int size = candidates.size();
    for (int i = 0; i < size; i++) {
      scores[i] = ranges.of(candidates.get(i)).score(request.promptTokens());
    }
  }

  @Override
  public void filter(InferenceRequest request, Candidates candidates, boolean[] keep) {
    int size = candidates.size();
    for (int i = 0; filters && i < size; i++) {
      Range range = ranges.of(candidates.get(i));
      keep[i] = range.equals(Range.ANY) || range.holds(request.promptTokens());
    }
  }

  @Override
  public String keeps() {
    return "endpoints of whose label " + label + " the prompt's length is within the range";
  }

  /** Lengths in tokens, both ends included. */
  private record Range(long min, long max) {

    static final Range ANY = new Range(0, Long.MAX_VALUE);
    static final Range UNREADABLE = new Range(1, 0);

    /** Digits that fit an int at most: what is longer is no length of a prompt. */
    private static final int MOST_DIGITS = 9;

    static Range of(@Nullable String label) {
      if (label == null) {
        return ANY;
      }
      int dash = label.indexOf('-');
      long min = dash < 0 ? -1 : number(label.substring(0, dash));
      long max = dash < 0 ? -1 : number(label.substring(dash + 1));
      return min >= 0 && max >= min ? new Range(min, max) : UNREADABLE;
    }

    private static long number(String text) {
      String digits = text.strip();
      boolean sound =
          !digits.isEmpty()
              && digits.length() <= MOST_DIGITS
              && digits.chars().allMatch(c -> c >= '0' && c <= '9');
      return sound ? Long.parseLong(digits) : -1;
    }

    boolean holds(int length) {
      return length >= min && length <= max;
    }

    double score(int length) {
      if (equals(ANY)) {
        return 0.5;
      }
      if (equals(UNREADABLE)) {
        return 0;
      }
      if (!holds(length)) {
        long distance = length > max ? length - max : min - length;
        return 0.3 / (1 + distance / 1000.0);
      }
      double width = max - min;
      if (width == 0) {
        return 1;
      }
      return 0.3 + 0.7 * (0.7 / (1 + width / 10_000) + 0.3 * (max - length) / width);
    }
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "context-length-aware";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new ContextLengthAware(
          parameters.text("label", "llm-d.ai/context-length-range"),
          parameters.flag("enableFiltering", false));
    }
  }
}
