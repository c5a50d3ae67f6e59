package io.fairlead.epp.status;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.core.EndpointSnapshot;
import io.fairlead.core.QueueSnapshot;
import io.fairlead.core.flow.WaitEnd;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.epp.checkpoint.Checkpoint;
import io.fairlead.epp.checkpoint.CheckpointUse;
import io.fairlead.epp.handover.HandOverResult;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What one picker shows of itself: its report, every endpoint as it is used, and who waits.
 *
 * @param report the picker's own account
 * @param notReady why requests can't be served now; empty when they can
 * @param replicas pickers that share the pool, this one counted
 * @param fromCheckpoint what is not from the API server, but from the picker's disk
 * @param handOver what came of asking other pickers at the start; null if nobody was
 * @param following other pickers that tell what they send
 */
public record StatusPage(
    PickerReport report,
    String notReady,
    int replicas,
    CheckpointUse fromCheckpoint,
    @Nullable HandOverResult handOver,
    List<String> following) {

  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final double NANOS_PER_SECOND = 1e9;

  /**
   * The page as JSON.
   *
   * @param pool how it was
   * @param clock tells times
   * @param now of the pool's clock
   */
  public String of(PoolMoment pool, OutEndpoints clock, long now) {
    try {
      ObjectNode page = (ObjectNode) JSON.readTree(report.toJson());
      page.put("ready", notReady.isEmpty());
      if (!notReady.isEmpty()) {
        page.put("notReady", notReady);
      }
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
        ArrayNode tell = handed.putArray("following");
        following.forEach(tell::add);
      }
      ArrayNode list = page.putArray("endpointList");
      for (EndpointSnapshot endpoint : pool.endpoints()) {
        ObjectNode one = list.addObject();
        endpoint(endpoint, clock, now, one);
        EndpointLatency latency = pool.latencies().get(endpoint.name());
        if (latency != null && latency.requests() > 0) {
          ObjectNode firstToken = one.putObject("firstTokenMillis");
          firstToken.put("p50", rounded(latency.ttftP50Millis()));
          firstToken.put("p99", rounded(latency.ttftP99Millis()));
        }
      }
      queues(pool.queues(), page.putObject("queues"));
      return JSON.writeValueAsString(page);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a page of plain values could not be written", e);
    }
  }

  private static void endpoint(
      EndpointSnapshot endpoint, OutEndpoints clock, long now, ObjectNode to) {
    EndpointSnapshot.Health health = endpoint.health();
    to.put("name", endpoint.name());
    to.put("health", endpoint.leaving() ? "leaving" : health.state().words());
    to.put("reason", health.reason());
    to.put("since", clock.moment(health.since()));
    to.put("failureRisk", rounded(health.failing()));
    if (endpoint.scrapedAt() == Long.MIN_VALUE) {
      to.putNull("scrapeAgeSeconds");
    } else {
      to.put("scrapeAgeSeconds", rounded((now - endpoint.scrapedAt()) / NANOS_PER_SECOND));
    }
    to.put("inFlight", endpoint.inFlight());
    to.put("awaitingFirstToken", endpoint.awaitingFirstToken());
    to.put("waiting", endpoint.scrapedWaiting());
    number(to, "kvUsage", endpoint.kvUsage());
    to.put("sent", endpoint.sent());
    to.put("promptBlocks", endpoint.promptBlocks());
    to.put("matchedBlocks", endpoint.matchedBlocks());
  }

  private static void queues(QueueSnapshot queues, ObjectNode to) {
    to.put("queueing", queues.queueing());
    number(to, "saturation", queues.saturation());
    to.put("full", queues.full());
    to.put("seconds", rounded(queues.seconds()));
    ArrayNode bands = to.putArray("bands");
    for (QueueSnapshot.Band band : queues.bands()) {
      ObjectNode one = bands.addObject();
      one.put("priority", band.priority());
      one.put("waiting", band.waiting());
      one.put("bytes", band.bytes());
      one.put("tokens", Math.round(band.tokens()));
      one.put("serverSeconds", rounded(band.serverSeconds()));
      ObjectNode ended = one.putObject("ended");
      for (WaitEnd how : WaitEnd.values()) {
        ended.put(
            how.name().toLowerCase(Locale.ROOT), Arrays.stream(band.ended().buckets(how)).sum());
      }
    }
  }

  /** Null where it isn't known. */
  private static void number(ObjectNode to, String field, double value) {
    if (Double.isFinite(value)) {
      to.put(field, rounded(value));
    } else {
      to.putNull(field);
    }
  }

  private static double rounded(double value) {
    return Math.round(value * 1_000) / 1_000.0;
  }
}
