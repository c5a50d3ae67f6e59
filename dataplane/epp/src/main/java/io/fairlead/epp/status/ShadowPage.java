package io.fairlead.epp.status;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.core.shadow.ShadowSnapshot;
import io.fairlead.epp.shadow.ShadowReport;
import java.util.List;

/** How a pool's shadows do, as JSON. */
public final class ShadowPage {

  /** Of the form of the page. */
  public static final int VERSION = 1;

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private ShadowPage() {}

  /** The page. */
  public static String of(List<ShadowReport> shadows) {
    ObjectNode page = JSON.createObjectNode();
    page.put("version", VERSION);
    ArrayNode list = page.putArray("shadows");
    for (ShadowReport shadow : shadows) {
      ShadowSnapshot told = shadow.told();
      ObjectNode one = list.addObject();
      one.put("name", shadow.name());
      if (shadow.off() != null) {
        one.put("off", shadow.off());
      }
      if (shadow.infersCaches()) {
        one.put("infersCaches", true);
      }
      one.put("requests", told.requests());
      one.put("agreed", told.agreed());
      one.put("differed", told.differed());
      one.put("notPlaced", told.notPlaced());
      one.put("leftOut", shadow.leftOut());
      one.put("cpuSeconds", rounded(shadow.cpuSeconds()));
      one.put("promptTokens", told.promptTokens());
      put(one.putObject("shadow"), told, told.own());
      put(one.putObject("real"), told, told.real());
    }
    try {
      return JSON.writeValueAsString(page);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a page of plain values could not be written", e);
    }
  }

  private static void put(ObjectNode side, ShadowSnapshot told, ShadowSnapshot.Choices choices) {
    long placed = told.requests() - told.notPlaced();
    side.put("cachedTokens", choices.cachedTokens());
    side.put(
        "hitRatio",
        told.promptTokens() == 0
            ? 0
            : rounded((double) choices.cachedTokens() / told.promptTokens()));
    side.put(
        "firstTokenMillis",
        placed == 0 ? 0 : rounded(choices.firstTokenSeconds() * 1_000 / placed));
    side.put("loadSpread", rounded(choices.spread()));
  }

  private static double rounded(double value) {
    return Math.round(value * 1_000) / 1_000.0;
  }
}
