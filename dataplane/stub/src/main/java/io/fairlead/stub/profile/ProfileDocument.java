package io.fairlead.stub.profile;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fairlead.stub.engine.EngineProfile;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A YAML document of engine profiles, read strictly: what it doesn't know, it refuses. */
final class ProfileDocument {

  private static final ObjectMapper YAML =
      YAMLMapper.builder(new YAMLFactory())
          .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  /** What can stand in a pool on a command line. */
  private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9-]{0,62}");

  private static final Set<String> FIELDS =
      Set.of(
          "name",
          "source",
          "a",
          "b",
          "c",
          "d0",
          "d1",
          "d2",
          "kvTokens",
          "blockTokens",
          "maxBatchedTokens",
          "maxSequences",
          "adapterSlots",
          "adapterLoadMillis",
          "apiMillis",
          "apiMillisPerToken");

  private static final int BLOCK_TOKENS = 16;
  private static final int MAX_SEQUENCES = 256;
  private static final double ADAPTER_LOAD_MILLIS = 300;

  private final String where;
  private final JsonNode fields;

  private ProfileDocument(String where, JsonNode fields) {
    this.where = where;
    this.fields = fields;
  }

  static List<EngineProfile> read(String origin, String text) {
    JsonNode root = parse(origin, text);
    JsonNode engines = root.path("engines");
    if (!root.isObject() || root.size() != 1 || !engines.isArray() || engines.isEmpty()) {
      throw new IllegalArgumentException(
          origin + ": expected one field, engines, with a list of one engine or more");
    }
    List<EngineProfile> profiles = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (int i = 0; i < engines.size(); i++) {
      String where = "%s: engines[%d]".formatted(origin, i);
      EngineProfile profile = new ProfileDocument(where, engines.get(i)).profile();
      if (!names.add(profile.name())) {
        throw new IllegalArgumentException(
            "%s.name: \"%s\" is another engine's name already".formatted(where, profile.name()));
      }
      profiles.add(profile);
    }
    return profiles;
  }

  private static JsonNode parse(String origin, String text) {
    try {
      return YAML.readTree(text);
    } catch (JsonProcessingException e) {
      JsonLocation at = e.getLocation();
      throw new IllegalArgumentException(
          "%s: is not valid YAML: %s; mend it, or quote that value"
              .formatted(
                  at == null ? origin : origin + ":" + at.getLineNr(),
                  oneLine(e.getOriginalMessage())),
          e);
    }
  }

  /** Without the lines of the text that the YAML scanner shows below what it says. */
  private static String oneLine(String message) {
    return message.lines().filter(line -> !line.startsWith(" ")).collect(Collectors.joining(", "));
  }

  private EngineProfile profile() {
    if (!fields.isObject()) {
      throw new IllegalArgumentException(where + ": is no object with an engine's fields");
    }
    for (var field : fields.properties()) {
      if (!FIELDS.contains(field.getKey())) {
        throw wrong(
            field.getKey(),
            "is no field of an engine; known: "
                + String.join(", ", FIELDS.stream().sorted().toList()));
      }
    }
    text("source");
    String name = text("name");
    if (!NAME.matcher(name).matches()) {
      throw wrong("name", "\"" + name + "\" is not made of a-z, 0-9 and - alone, 63 at most");
    }
    double a = number("a", null);
    double b = number("b", null);
    double c = number("c", null);
    double d0 = number("d0", null);
    double d1 = number("d1", null);
    double d2 = number("d2", null);
    int kvTokens = whole("kvTokens", null);
    int blockTokens = whole("blockTokens", BLOCK_TOKENS);
    int maxBatchedTokens = whole("maxBatchedTokens", null);
    int maxSequences = whole("maxSequences", MAX_SEQUENCES);
    int slots = whole("adapterSlots", 0);
    double loadMillis = number("adapterLoadMillis", ADAPTER_LOAD_MILLIS);
    double apiMillis = number("apiMillis", 0.0);
    double perToken = number("apiMillisPerToken", 0.0);
    try {
      return new EngineProfile(
          name,
          a,
          b,
          c,
          d0,
          d1,
          d2,
          kvTokens,
          blockTokens,
          maxBatchedTokens,
          maxSequences,
          slots,
          loadMillis,
          apiMillis,
          perToken);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(where + "." + e.getMessage(), e);
    }
  }

  private String text(String field) {
    JsonNode value = fields.path(field);
    if (!value.isTextual() || value.textValue().isBlank()) {
      throw wrong(field, value.isMissingNode() ? "is missing" : "is no text");
    }
    return value.textValue();
  }

  private double number(String field, @Nullable Double usual) {
    JsonNode value = fields.path(field);
    if (value.isMissingNode() && usual != null) {
      return usual;
    }
    if (!value.isNumber()) {
      throw wrong(field, value.isMissingNode() ? "is missing" : "is no number");
    }
    return value.doubleValue();
  }

  private int whole(String field, @Nullable Integer usual) {
    JsonNode value = fields.path(field);
    if (value.isMissingNode() && usual != null) {
      return usual;
    }
    if (!value.canConvertToInt() || !value.isIntegralNumber()) {
      throw wrong(field, value.isMissingNode() ? "is missing" : "is no whole number of 32 bits");
    }
    return value.intValue();
  }

  private IllegalArgumentException wrong(String field, String problem) {
    return new IllegalArgumentException("%s.%s: %s".formatted(where, field, problem));
  }
}
