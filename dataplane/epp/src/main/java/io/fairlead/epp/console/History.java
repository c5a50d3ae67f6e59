package io.fairlead.epp.console;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.core.EndpointSnapshot;
import io.fairlead.epp.shadow.ShadowReport;
import io.fairlead.epp.status.PoolMoment;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * What the curves are drawn from: the last hour, a point every ten seconds, as JSON. What is
 * counted is told as counted so far: who draws takes differences.
 */
final class History {

  static final int SECONDS_BETWEEN = 10;
  static final int MOST = 360;

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final Deque<String> points = new ArrayDeque<>(MOST);

  /** Adds a point, and returns it. */
  String add(Instant at, PoolMoment pool, List<ShadowReport> shadows) {
    List<EndpointSnapshot> endpoints = pool.endpoints();
    ObjectNode point = JSON.createObjectNode();
    point.put("at", at.toEpochMilli());
    point.put("sent", sum(endpoints, EndpointSnapshot::sent));
    point.put("inFlight", sum(endpoints, EndpointSnapshot::inFlight));
    point.put("waiting", pool.queues().waiting());
    point.put("promptBlocks", sum(endpoints, EndpointSnapshot::promptBlocks));
    point.put("matchedBlocks", sum(endpoints, EndpointSnapshot::matchedBlocks));
    if (Double.isFinite(pool.queues().saturation())) {
      point.put("saturation", Math.round(pool.queues().saturation() * 1_000) / 1_000.0);
    }
    ObjectNode counted = point.putObject("shadows");
    for (ShadowReport shadow : shadows) {
      counted.putArray(shadow.name()).add(shadow.told().agreed()).add(shadow.told().requests());
    }
    String text = text(point);
    if (points.size() == MOST) {
      points.removeFirst();
    }
    points.addLast(text);
    return text;
  }

  /** All points, the oldest first. */
  String all() {
    return "[" + String.join(",", points) + "]";
  }

  private static long sum(
      List<EndpointSnapshot> endpoints, ToLongFunction<EndpointSnapshot> value) {
    return endpoints.stream().mapToLong(value).sum();
  }

  private static String text(ObjectNode point) {
    try {
      return JSON.writeValueAsString(point);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a point of plain values could not be written", e);
    }
  }
}
