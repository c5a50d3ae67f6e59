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
   * A view of {@code body[offset..offset+length)} that asks for {@code targetModel}.
   *
   * @param body must not change while the view is in use
   * @param request what {@link RequestReader} found in these bytes
   * @return a heap buffer over the body's own array; its readable bytes are the new content length
   */
  public static ByteBuf splice(
      byte[] body, int offset, int length, ParsedRequest request, String targetModel) {
    boolean named = request.modelEnd() > 0;
    if (!named || targetModel.isEmpty() || targetModel.equals(request.model())) {
      return Unpooled.wrappedBuffer(body, offset, length);
    }
    byte[] name =
        request.json() ? JsonString.of(targetModel) : targetModel.getBytes(StandardCharsets.UTF_8);
    return Unpooled.wrappedBuffer(
        Unpooled.wrappedBuffer(body, offset, request.modelStart()),
        Unpooled.wrappedBuffer(name),
        Unpooled.wrappedBuffer(body, offset + request.modelEnd(), length - request.modelEnd()));
  }
}
