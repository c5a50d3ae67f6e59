package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.ByteString;

/** How a proxy shows a response's body, and how it gets it back. */
enum ResponseMode {

  /** In pieces, each of which may be answered by any number of pieces. */
  FULL_DUPLEX {
    @Override
    void pass(ExtProcStream stream, ByteString bytes, boolean last) {
      int from = 0;
      do {
        int to = Math.min(bytes.size(), from + RequestBody.SLICE);
        boolean lastSlice = to == bytes.size() && last;
        stream.tell(Answers.responseBody(bytes.substring(from, to), lastSlice));
        from = to;
      } while (from < bytes.size());
    }
  };

  /** Gives the proxy the piece that it has just shown. */
  abstract void pass(ExtProcStream stream, ByteString bytes, boolean last);
}
