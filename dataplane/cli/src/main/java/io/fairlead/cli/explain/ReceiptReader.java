package io.fairlead.cli.explain;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonMappingException.Reference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fairlead.cli.explain.ReceiptPage.Attempt;
import io.fairlead.cli.explain.ReceiptPage.Candidate;
import io.fairlead.cli.explain.ReceiptPage.Run;
import io.fairlead.cli.explain.ReceiptPage.Scored;
import io.fairlead.epp.status.DecisionPage;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads what a picker says of requests. It may have been saved, cut off or edited since: what does
 * not fit together is refused, with the path of its field.
 */
final class ReceiptReader {

  private static final JsonMapper JSON =
      JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

  /** What messages call it: a file, or the picker. */
  private final String source;

  ReceiptReader(String source) {
    this.source = source;
  }

  /**
   * One receipt.
   *
   * @throws IOException if it is none, or of another version
   */
  ReceiptPage receipt(String text) throws IOException {
    JsonNode tree = tree(text);
    if (!tree.path("version").isInt()) {
      throw noReceipt("version: is missing");
    }
    int version = tree.path("version").asInt();
    if (version != DecisionPage.VERSION) {
      throw new IOException(
          "%s: the receipt is of version %d, and this program reads version %d: use the picker's own"
              .formatted(source, version, DecisionPage.VERSION));
    }
    ReceiptPage page;
    try {
      page = JSON.treeToValue(tree, ReceiptPage.class);
    } catch (JsonProcessingException e) {
      throw noReceipt(problem(e));
    }
    for (int i = 0; i < page.decisions().size(); i++) {
      String misfit = misfit(page.decisions().get(i));
      if (misfit != null) {
        throw noReceipt("decisions[" + i + "]." + misfit);
      }
    }
    return page;
  }

  /** A page as it is. */
  JsonNode tree(String text) throws IOException {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException e) {
      throw noReceipt(problem(e));
    }
  }

  IOException noReceipt(String problem) {
    return new IOException(source + ": is no receipt: " + problem);
  }

  /** What does not fit together; null where all does. */
  private static @Nullable String misfit(Attempt attempt) {
    List<Run> runs =
        attempt.profiles().stream().filter(run -> run.name().equals(attempt.profile())).toList();
    if (runs.isEmpty()) {
      return "profile: none of its profiles is called " + attempt.profile();
    }
    Set<String> scored = new HashSet<>();
    List<Scored> all = runs.getFirst().scored();
    for (Scored one : all) {
      if (!scored.add(one.endpoint())) {
        return "profiles: " + one.endpoint() + " is scored twice";
      }
      if (one.scores().size() != all.getFirst().scores().size()) {
        return "profiles: " + one.endpoint() + " has not as many scores as the others";
      }
    }
    if (!scored.contains(attempt.endpoint())) {
      return "endpoint: %s is not among those that were scored".formatted(attempt.endpoint());
    }
    Set<String> known = new HashSet<>();
    for (Candidate one : attempt.candidates()) {
      if (!known.add(one.endpoint())) {
        return "candidates: " + one.endpoint() + " is there twice";
      }
    }
    return null;
  }

  /** What is wrong, and where. */
  static String problem(JsonProcessingException e) {
    if (!(e instanceof JsonMappingException mapping)) {
      return e.getLocation() == null
          ? e.getOriginalMessage()
          : "line %d, column %d: %s"
              .formatted(
                  e.getLocation().getLineNr(),
                  e.getLocation().getColumnNr(),
                  e.getOriginalMessage());
    }
    StringBuilder path = new StringBuilder();
    for (Reference step : mapping.getPath()) {
      if (step.getFieldName() == null) {
        path.append('[').append(step.getIndex()).append(']');
      } else {
        path.append(path.isEmpty() ? "" : ".").append(step.getFieldName());
      }
    }
    if (mapping.getCause() instanceof MissingFieldException missing) {
      return path + (path.isEmpty() ? "" : ".") + missing.getMessage();
    }
    String where = path.isEmpty() ? "" : path + ": ";
    if (mapping instanceof MismatchedInputException mismatch
        && mismatch.getTargetType() == JsonNode.class) {
      return "something follows its end";
    }
    return mapping instanceof MismatchedInputException mismatch && mismatch.getTargetType() != null
        ? where + "expected " + expected(mismatch.getTargetType())
        : where + "a field is missing or wrong";
  }

  private static String expected(Class<?> type) {
    if (type == boolean.class) {
      return "true or false";
    }
    if (type.isPrimitive() || Number.class.isAssignableFrom(type)) {
      return "a number";
    }
    if (type == String.class) {
      return "a text";
    }
    return Iterable.class.isAssignableFrom(type) ? "a list" : "an object";
  }

  /** The value of a field that must be there. */
  static <T> T required(@Nullable T value, String field) {
    if (value == null) {
      throw new MissingFieldException(field);
    }
    return value;
  }

  /** Elements of a list that must be there, as must each of them. */
  static <T> List<T> requiredList(@Nullable List<T> value, String field) {
    List<T> list = required(value, field);
    for (int i = 0; i < list.size(); i++) {
      var _ = required(list.get(i), field + "[" + i + "]");
    }
    return list;
  }

  private static final class MissingFieldException extends RuntimeException {

    private static final long serialVersionUID = 1;

    MissingFieldException(String field) {
      super(field + ": is missing");
    }
  }
}
