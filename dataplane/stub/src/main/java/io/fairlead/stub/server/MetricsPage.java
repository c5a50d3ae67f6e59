package io.fairlead.stub.server;

import io.fairlead.stub.engine.Engine;

/** The engine's metrics under the names and labels of the engine that is played. */
sealed interface MetricsPage permits VllmMetrics, SglangMetrics {

  static MetricsPage of(ModelServerConfig config, double startSeconds) {
    return switch (config.engine()) {
      case VLLM -> new VllmMetrics(config, startSeconds);
      case SGLANG -> new SglangMetrics(config);
    };
  }

  String contentType();

  String render(Engine engine, ServerStats stats, LoraSeries adapters, ServingTimes times);
}
