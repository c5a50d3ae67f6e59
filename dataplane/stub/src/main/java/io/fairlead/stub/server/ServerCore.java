package io.fairlead.stub.server;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.stub.engine.Engine;
import io.netty.channel.EventLoop;
import org.jspecify.annotations.Nullable;

/**
 * What all connections of one server share. Touched on the server's event loop only, {@link #stats}
 * excepted.
 */
final class ServerCore {

  final ModelServerConfig config;
  final Faults faults;
  final RequestParser parser;
  final EngineDriver driver;
  private final MetricsPage metrics;
  private final LoraSeries adapters;
  private final long startSeconds;
  private @Nullable String frozenMetrics;
  private long requests;
  private long completed;
  private long cancelled;
  private long failed;
  private volatile ServerStats stats;

  ServerCore(ModelServerConfig config, EventLoop loop, long startMillis) {
    this.config = config;
    startSeconds = startMillis / 1000;
    parser = new RequestParser(config);
    driver = new EngineDriver(config, loop, this::publish, this::adapters);
    metrics = new MetricsPage(config, startMillis / 1000.0);
    adapters = new LoraSeries(config.maxAdapters());
    stats = snapshot();
    faults = new Faults(() -> loop.execute(this::applyFaults));
  }

  ServerStats stats() {
    return stats;
  }

  long startSeconds() {
    return startSeconds;
  }

  /** Counts a completion request and gives it its number. */
  long begun() {
    requests++;
    publish();
    return requests;
  }

  void completed() {
    completed++;
    publish();
  }

  void cancelled() {
    cancelled++;
    publish();
  }

  void failed() {
    failed++;
    publish();
  }

  String metricsPage() {
    applyFaults();
    return frozenMetrics != null ? frozenMetrics : renderMetrics();
  }

  private void adapters(String model, boolean began) {
    if (config.maxAdapters() == 0 || model.equals(config.models().getFirst())) {
      return;
    }
    double now = System.currentTimeMillis() / 1000.0;
    if (began) {
      adapters.began(model, now);
    } else {
      adapters.ended(model, now);
    }
  }

  ObjectNode models() {
    ObjectNode root = JsonNodeFactory.instance.objectNode().put("object", "list");
    ArrayNode data = root.putArray("data");
    String base = config.models().getFirst();
    for (String model : config.models()) {
      data.addObject()
          .put("id", model)
          .put("object", "model")
          .put("created", startSeconds)
          .put("owned_by", "fairlead")
          .put("root", model)
          .put("parent", config.maxAdapters() == 0 || model.equals(base) ? null : base)
          .put("max_model_len", config.profile().blocks() * config.profile().blockTokens());
    }
    return root;
  }

  /** Brings the engine and the metrics page in line with the faults in force. */
  void applyFaults() {
    FaultState state = faults.state();
    driver.stall(state.stall());
    if (!state.freezeMetrics()) {
      frozenMetrics = null;
    } else if (frozenMetrics == null) {
      frozenMetrics = renderMetrics();
    }
  }

  private String renderMetrics() {
    return metrics.render(driver.engine(), snapshot(), adapters);
  }

  private void publish() {
    stats = snapshot();
  }

  private ServerStats snapshot() {
    Engine engine = driver.engine();
    return new ServerStats(
        config.name(),
        requests,
        requests - completed - cancelled - failed,
        completed,
        cancelled,
        failed,
        engine.running(),
        engine.waiting(),
        engine.kvUsage(),
        engine.promptTokens(),
        engine.cachedTokens(),
        engine.outputTokens(),
        engine.preemptions());
  }
}
