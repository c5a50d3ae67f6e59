package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;

/** A request body on its way to the proxy, cut into slices without copying. */
final class RequestBody {

  /** What gateways other than Envoy take in one message. */
  static final int SLICE = 62_000;

  private final ByteString bytes;
  private int sent;
  private boolean over;

  /** The readable bytes of a heap buffer that is never written again. */
  RequestBody(ByteBuf body) {
    ByteString joined = ByteString.EMPTY;
    for (ByteBuffer part : body.nioBuffers()) {
      joined = joined.concat(UnsafeByteOperations.unsafeWrap(part));
    }
    bytes = joined;
  }

  /** All of it, sent or not. */
  ByteString all() {
    return bytes;
  }

  int size() {
    return bytes.size();
  }

  /** Whether every slice was taken. An empty body is one empty slice. */
  boolean over() {
    return over;
  }

  ByteString next() {
    int end = Math.min(bytes.size(), sent + SLICE);
    ByteString slice = bytes.substring(sent, end);
    sent = end;
    over = sent == bytes.size();
    return slice;
  }
}
