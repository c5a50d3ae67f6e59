package io.fairlead.epp.frontend.gateway;

import io.netty.buffer.ByteBuf;
import java.util.Arrays;

/** A request body as it comes in. Grows with what came, not with what was announced. */
final class BodyBuffer {

  private static final int INITIAL = 4096;

  private final int limit;
  private byte[] bytes;
  private int length;

  BodyBuffer(int limit, long announced) {
    this.limit = limit;
    bytes = new byte[Math.clamp(announced, 0, INITIAL)];
  }

  /** Whether it still fits; if not, nothing was added. */
  boolean add(ByteBuf content) {
    int more = content.readableBytes();
    if (more > limit - length) {
      return false;
    }
    if (more > bytes.length - length) {
      int doubled = (int) Math.min(limit, Math.max(INITIAL, bytes.length * 2L));
      bytes = Arrays.copyOf(bytes, Math.max(doubled, length + more));
    }
    content.readBytes(bytes, length, more);
    length += more;
    return true;
  }

  byte[] bytes() {
    return bytes;
  }

  int length() {
    return length;
  }
}
