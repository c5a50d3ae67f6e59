package io.fairlead.epp.status;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.core.EndpointSnapshot;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.epp.checkpoint.Checkpoint;
import io.fairlead.epp.checkpoint.CheckpointUse;
import io.fairlead.epp.handover.HandOverResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What one picker shows of itself: its report, and every endpoint as it is used. */
public final class StatusPage {

  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final double NANOS_PER_SECOND = 1e9;

  private StatusPage() {}

  /**
   * The page as JSON.
   *
   * @param replicas pickers that share the pool, this one counted
   * @param fromCheckpoint what is not from the API server, but from the picker's disk
   * @param handOver what came of asking other pickers at the start; null if nobody was
   * @param out tells times
   * @param now of the pool's clock
   */
  public static String of(
      PickerReport report,
      int replicas,
      CheckpointUse fromCheckpoint,
      @Nullable HandOverResult handOver,
      List<EndpointSnapshot> endpoints,
      OutEndpoints out,
      long now) {
    try {
      ObjectNode page = (ObjectNode) JSON.readTree(report.toJson());
      page.put("replicas", replicas);
      Checkpoint checkpoint = fromCheckpoint.checkpoint();
      if (checkpoint != null && (fromCheckpoint.config() || fromCheckpoint.endpoints())) {
        ObjectNode stale = page.putObject("fromCheckpoint");
        stale.put("savedAt", checkpoint.savedAt().toString());
        stale.put("config", fromCheckpoint.config());
        stale.put("endpoints", fromCheckpoint.endpoints());
      }
      if (handOver != null) {
        ObjectNode handed = page.putObject("handOver");
        handed.put("state", handOver.state().word());
        handed.put("from", handOver.from());
        handed.put("millis", handOver.millis());
        handed.put("endpoints", handOver.endpoints());
        handed.put("prompts", handOver.prompts());
        handed.put("why", handOver.why());
      }
      ArrayNode list = page.putArray("endpointList");
      for (EndpointSnapshot endpoint : endpoints) {
        EndpointSnapshot.Health health = endpoint.health();
        ObjectNode one = list.addObject();
        one.put("name", endpoint.name());
        one.put("health", endpoint.leaving() ? "leaving" : health.state().words());
        one.put("reason", health.reason());
        one.put("since", out.moment(health.since()));
        one.put("failureRisk", rounded(health.failing()));
        if (endpoint.scrapedAt() == Long.MIN_VALUE) {
          one.putNull("scrapeAgeSeconds");
        } else {
          one.put("scrapeAgeSeconds", rounded((now - endpoint.scrapedAt()) / NANOS_PER_SECOND));
        }
        one.put("inFlight", endpoint.inFlight());
      }
      return JSON.writeValueAsString(page);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a page of plain values could not be written", e);
    }
  }

  private static double rounded(double value) {
    return Math.round(value * 1_000) / 1_000.0;
  }
}
