package io.fairlead.stub.server;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import java.util.concurrent.TimeUnit;

/** Everything that is no completion. */
final class MiscEndpoints {

  private MiscEndpoints() {}

  static void answer(
      ServerCore core,
      ChannelHandlerContext ctx,
      FullHttpRequest request,
      String path,
      Exchange exchange) {
    switch (path) {
      case "/v1/models" -> exchange.json(200, core.models.json(core.startSeconds()));
      case "/v1/load_lora_adapter", "/v1/unload_lora_adapter" -> {
        if (core.config.maxAdapters() == 0) {
          exchange.error(ApiError.notFound(path));
        } else if (!HttpMethod.POST.equals(request.method())) {
          exchange.error(ApiError.wrongMethod(request.method().name(), path));
        } else if (path.equals("/v1/load_lora_adapter")) {
          AdapterEndpoints.load(core, ctx, request, exchange);
        } else {
          AdapterEndpoints.unload(core, request, exchange);
        }
      }
      case "/health" -> {
        if (!core.faults.state().is(Fault.MUTE)) {
          exchange.full(core.health(), null, "");
        }
      }
      case "/metrics" -> {
        if (!core.faults.state().is(Fault.MUTE)) {
          metrics(core, ctx, exchange);
        }
      }
      case "/stub/faults" -> FaultsEndpoint.answer(core, request, exchange);
      case "/stub/stats" -> exchange.json(200, RequestParser.JSON.valueToTree(core.stats()));
      default -> exchange.error(ApiError.notFound(path));
    }
  }

  private static void metrics(ServerCore core, ChannelHandlerContext ctx, Exchange exchange) {
    if (core.life() == Life.SILENT) {
      exchange.cut();
      return;
    }
    FaultState faults = core.faults.state();
    int status = faults.count(Fault.METRICS_STATUS);
    if (status > 0) {
      exchange.full(status, null, "");
      return;
    }
    int delay = faults.count(Fault.METRICS_DELAY_MILLIS);
    if (delay == 0) {
      exchange.full(200, core.metricsType(), core.metricsPage());
      return;
    }
    var _ =
        ctx.executor()
            .schedule(
                () -> exchange.full(200, core.metricsType(), core.metricsPage()),
                delay,
                TimeUnit.MILLISECONDS);
  }
}
