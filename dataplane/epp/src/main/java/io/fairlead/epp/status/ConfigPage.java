package io.fairlead.epp.status;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.report.PickerReport;
import org.jspecify.annotations.Nullable;

/** The config in force and the one refused, with their documents, as JSON. */
public final class ConfigPage {

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private ConfigPage() {}

  /**
   * The page.
   *
   * @param inForce null before the first
   * @param refused the newest that was refused, if it could be read; only shown while it counts
   */
  public static String of(
      PickerReport report, @Nullable PoolConfig inForce, @Nullable PoolConfig refused) {
    ObjectNode page = JSON.createObjectNode();
    if (inForce != null && report.configHash() != null) {
      ObjectNode one = page.putObject("inForce");
      one.put("hash", report.configHash().toString());
      one.put("generation", report.generation());
      one.put("document", ConfigDocument.write(inForce));
    }
    PickerReport.Refused newest = report.refused();
    if (newest != null) {
      ObjectNode one = page.putObject("refused");
      if (newest.hash() != null) {
        one.put("hash", newest.hash().toString());
      }
      one.put("message", newest.message());
      if (refused != null) {
        one.put("document", ConfigDocument.write(refused));
      }
    }
    try {
      return JSON.writeValueAsString(page);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a page of plain values could not be written", e);
    }
  }
}
