package io.fairlead.crds.testing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;

/** Tables of objects that the API server and the local reader are held to alike. */
public final class ObjectTable {
  private ObjectTable() {}

  /**
   * One object and what is expected of it.
   *
   * @param text the whole row
   */
  public record Row(JsonNode text) {
    /** The object as JSON. */
    public String object() {
      return text.path("object").toString();
    }

    /** What the row expects under {@code name}. */
    public String expected(String name) {
      return text.required(name).asText();
    }

    @Override
    public String toString() {
      return text.path("row").asText();
    }
  }

  /** The rows of {@code objects/name.yaml}. */
  public static List<Row> rows(String name) {
    try (InputStream in =
            Objects.requireNonNull(
                ObjectTable.class.getResourceAsStream("/objects/" + name + ".yaml"));
        MappingIterator<JsonNode> documents =
            new YAMLMapper().readerFor(JsonNode.class).readValues(in)) {
      return documents.readAll().stream().map(Row::new).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
