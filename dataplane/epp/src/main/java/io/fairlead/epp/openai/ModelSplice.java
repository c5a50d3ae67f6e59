package io.fairlead.epp.openai;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;

/**
 * A request body with another model name in it. All other bytes stay as the client sent them, and
 * where they are: only the name is new.
 */
public final class ModelSplice {

  private ModelSplice() {}

  /**
   * A view of {@code body} that asks for {@code targetModel}.
   *
   * @param request what {@link RequestReader} found in the body
   * @return a heap buffer over the body's own arrays; its readable bytes are the new content length
   */
  public static ByteBuf splice(BodyBytes body, ParsedRequest request, String targetModel) {
    boolean named = request.modelEnd() > 0;
    if (!named || targetModel.isEmpty() || targetModel.equals(request.model())) {
      return body.slice(0, body.length());
    }
    byte[] name =
        request.json() ? JsonString.of(targetModel) : targetModel.getBytes(StandardCharsets.UTF_8);
    return Unpooled.wrappedBuffer(
        body.slice(0, request.modelStart()),
        Unpooled.wrappedBuffer(name),
        body.slice(request.modelEnd(), body.length()));
  }
}
