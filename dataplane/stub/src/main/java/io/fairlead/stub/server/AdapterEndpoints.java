package io.fairlead.stub.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.netty.buffer.ByteBufInputStream;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.FullHttpRequest;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.TimeUnit;

/**
 * {@code /v1/load_lora_adapter} and {@code /v1/unload_lora_adapter}, as vLLM has them when adapters
 * may change at run time. Nothing is read from {@code lora_path}.
 */
final class AdapterEndpoints {

  private AdapterEndpoints() {}

  static void load(
      ServerCore core, ChannelHandlerContext ctx, FullHttpRequest request, Exchange exchange) {
    JsonNode body = read(request);
    String name = body.path("lora_name").asText();
    if (name.isEmpty() || body.path("lora_path").asText().isEmpty()) {
      exchange.error(
          ApiError.badRequest("Both 'lora_name' and 'lora_path' must be provided.", null));
      return;
    }
    if (!core.models.add(name)) {
      exchange.error(
          ApiError.badRequest(
              "The lora adapter '" + name + "' has already been loaded.", "lora_name"));
      return;
    }
    long nanos = core.driver.loadAdapter(name);
    String done = "Success: LoRA adapter '" + name + "' added successfully.";
    var _ =
        ctx.executor()
            .schedule(() -> exchange.full(200, "text/plain", done), nanos, TimeUnit.NANOSECONDS);
  }

  static void unload(ServerCore core, FullHttpRequest request, Exchange exchange) {
    String name = read(request).path("lora_name").asText();
    if (name.isEmpty()) {
      exchange.error(ApiError.badRequest("'lora_name' needs to be provided.", null));
    } else if (!core.models.remove(name)) {
      exchange.error(
          new ApiError(
              404,
              "NotFoundError",
              "The lora adapter '" + name + "' cannot be found.",
              "lora_name"));
    } else {
      core.driver.unloadAdapter(name);
      exchange.full(
          200, "text/plain", "Success: LoRA adapter '" + name + "' removed successfully.");
    }
  }

  /** The body; what is no JSON has no fields either, and is told so. */
  private static JsonNode read(FullHttpRequest request) {
    try (InputStream in = new ByteBufInputStream(request.content())) {
      return RequestParser.JSON.readTree(in);
    } catch (IOException broken) {
      return MissingNode.getInstance();
    }
  }
}
