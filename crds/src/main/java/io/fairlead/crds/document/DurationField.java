package io.fairlead.crds.document;

import com.fasterxml.jackson.databind.JsonNode;
import io.fairlead.crds.config.GoDuration;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A field that holds a duration as Go writes it. */
final class DurationField {

  /** As long as Go can say. */
  static final Duration UNLIMITED = Duration.ofNanos(Long.MAX_VALUE);

  private DurationField() {}

  /**
   * Reads the field of {@code node}, which is at {@code path}.
   *
   * @param shortest smallest value that is allowed
   * @param longest largest value that is allowed
   * @return null when it is not there, or wrong: then the tree has an error
   */
  static @Nullable Duration read(
      SourceTree tree,
      FieldPath path,
      JsonNode node,
      String field,
      Duration shortest,
      Duration longest) {
    if (!node.has(field)) {
      return null;
    }
    String text = node.path(field).asText();
    Duration value = GoDuration.parse(text);
    String expected = null;
    if (value == null) {
      expected = "as Go writes it, such as 30s or 1m30s";
    } else if (value.compareTo(shortest) < 0) {
      expected = shortest.isZero() ? "of at least 0s" : "above 0s";
    } else if (value.compareTo(longest) > 0) {
      expected = "of at most " + longest.toHours() + "h";
    }
    if (expected == null) {
      return value;
    }
    tree.error(
        path.field(field), "is " + FieldPath.quote(text) + ", expected a duration " + expected);
    return null;
  }
}
