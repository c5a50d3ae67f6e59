package io.fairlead.crds.document;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;

/**
 * Writes trees: the same bytes for equal trees, every string in quotes so that none is read as
 * something else.
 */
public final class TreeWriter {
  private static final JsonMapper JSON = new JsonMapper();
  private static final YAMLMapper YAML =
      new YAMLMapper(
          YAMLFactory.builder()
              .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
              .disable(YAMLGenerator.Feature.SPLIT_LINES)
              .build());

  private TreeWriter() {}

  /** The tree as one YAML document. */
  public static String yaml(JsonNode tree) {
    try {
      return YAML.writeValueAsString(tree);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("holds text that UTF-8 cannot carry", e);
    }
  }

  static byte[] canonical(JsonNode tree) {
    try {
      return JSON.writeValueAsBytes(tree);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("holds text that UTF-8 cannot carry", e);
    }
  }
}
