package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.ByteString;
import java.util.ArrayList;
import java.util.List;

/** The pieces of a request body, held until the last one is here. */
final class BodyBuffer {

  private final int limit;
  private final List<ByteString> pieces = new ArrayList<>(2);
  private int size;

  BodyBuffer(int limit) {
    this.limit = limit;
  }

  /** Keeps a piece; false, and nothing kept any more, if the body is now over the limit. */
  boolean add(ByteString piece) {
    if (piece.size() > limit - size) {
      pieces.clear();
      return false;
    }
    if (!piece.isEmpty()) {
      pieces.add(piece);
      size += piece.size();
    }
    return true;
  }

  /** The whole body in one array, in the order that it came; the pieces are let go. */
  byte[] take() {
    byte[] whole = new byte[size];
    int at = 0;
    for (ByteString piece : pieces) {
      piece.copyTo(whole, at);
      at += piece.size();
    }
    pieces.clear();
    return whole;
  }
}
