package io.fairlead.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fairlead.epp.status.ShadowPage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** How shadows did beside what was really done: a row each. */
public final class ShadowTable {

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private ShadowTable() {}

  /**
   * The lines of a {@link ShadowPage}.
   *
   * @throws IOException if it is none that this program can read
   */
  public static List<String> lines(String page) throws IOException {
    JsonNode tree;
    try {
      tree = JSON.readTree(page);
    } catch (JsonProcessingException e) {
      throw new IOException("this tells of no shadows: " + e.getOriginalMessage(), e);
    }
    int version = tree.path("version").asInt();
    if (version != ShadowPage.VERSION) {
      throw new IOException(
          "the page is of version %d, and this program reads version %d: use the picker's own"
              .formatted(version, ShadowPage.VERSION));
    }
    JsonNode shadows = tree.path("shadows");
    if (shadows.isEmpty()) {
      return List.of("This picker has no shadows; spec.shadows of an EndpointPicker lists them.");
    }
    List<List<String>> rows = new ArrayList<>();
    List<String> notes = new ArrayList<>();
    rows.add(
        List.of(
            "SHADOW",
            "REQUESTS",
            "AGREED",
            "CACHED",
            "REAL",
            "FIRST TOKEN",
            "REAL",
            "SPREAD",
            "REAL",
            "NOT PLACED",
            "LEFT OUT"));
    for (JsonNode shadow : shadows) {
      JsonNode own = shadow.path("shadow");
      JsonNode real = shadow.path("real");
      long requests = shadow.path("requests").asLong();
      rows.add(
          List.of(
              shadow.path("name").asText(),
              "%,d".formatted(requests),
              requests == 0 ? "-" : percent(shadow.path("agreed").asDouble() / requests),
              percent(own.path("hitRatio").asDouble()),
              percent(real.path("hitRatio").asDouble()),
              millis(own),
              millis(real),
              spread(own),
              spread(real),
              "%,d".formatted(shadow.path("notPlaced").asLong()),
              "%,d".formatted(shadow.path("leftOut").asLong())));
      String name = shadow.path("name").asText();
      if (shadow.has("off")) {
        notes.add(ShownText.line(name + " is off: " + shadow.path("off").asText()));
      }
      if (shadow.path("infersCaches").asBoolean()) {
        notes.add(
            ShownText.line(
                name
                    + " infers what caches hold from its own choices: KV events tell what the real"
                    + " choices have left there"));
      }
    }
    List<String> lines = new ArrayList<>(TextTable.lines(rows));
    lines.addAll(notes);
    return lines;
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.1f %%", share * 100);
  }

  private static String millis(JsonNode side) {
    return String.format(Locale.ROOT, "%,.0f ms", side.path("firstTokenMillis").asDouble());
  }

  private static String spread(JsonNode side) {
    return String.format(Locale.ROOT, "%.2f", side.path("loadSpread").asDouble());
  }
}
