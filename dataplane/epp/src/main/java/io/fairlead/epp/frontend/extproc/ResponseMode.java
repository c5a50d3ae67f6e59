package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.fairlead.epp.openai.BadRequestException;
import org.jspecify.annotations.Nullable;

/** How a proxy shows a response's body, and how it gets it back. */
enum ResponseMode {

  /** In pieces, each of which may be answered by any number of pieces. */
  FULL_DUPLEX {
    @Override
    void pass(ExtProcStream stream, HttpBody shown, @Nullable ByteString instead) {
      ByteString bytes = instead == null ? shown.getBody() : instead;
      if (instead != null && bytes.isEmpty() && !shown.getEndOfStream()) {
        return; // all of it is held
      }
      int from = 0;
      do {
        int to = Math.min(bytes.size(), from + RequestBody.SLICE);
        boolean last = to == bytes.size() && shown.getEndOfStream();
        stream.tell(Answers.responseBody(bytes.substring(from, to), last));
        from = to;
      } while (from < bytes.size());
    }

    @Override
    void passLate(ExtProcStream stream, ByteString held) {
      stream.tell(Answers.responseBody(held, false));
    }
  },

  /** In pieces or whole; each is answered once. */
  ONE_BY_ONE {
    @Override
    void pass(ExtProcStream stream, HttpBody shown, @Nullable ByteString instead) {
      stream.tell(instead == null ? Answers.RESPONSE_BODY : Answers.responseBodyInstead(instead));
    }
  },

  /** Not at all; what is known of the response is in its headers, where these are shown. */
  NOT_SHOWN {
    @Override
    void pass(ExtProcStream stream, HttpBody shown, @Nullable ByteString instead) {
      stream.unexpected("response_body");
    }
  };

  /** The mode of that name. */
  static ResponseMode of(BodySendMode mode) throws BadRequestException {
    return switch (mode) {
      case FULL_DUPLEX_STREAMED -> FULL_DUPLEX;
      case STREAMED, BUFFERED, BUFFERED_PARTIAL -> ONE_BY_ONE;
      case NONE -> NOT_SHOWN;
      case UNRECOGNIZED ->
          throw Mode.notServed(
              "response_body_mode", mode, "FULL_DUPLEX_STREAMED, STREAMED, BUFFERED or NONE");
    };
  }

  /** Whether the response's end is seen. */
  boolean showsBody() {
    return this != NOT_SHOWN;
  }

  /**
   * Gives the proxy the piece that it has just shown.
   *
   * @param instead what it becomes; null if it stays as it is
   */
  abstract void pass(ExtProcStream stream, HttpBody shown, @Nullable ByteString instead);

  /**
   * Gives the proxy what was held of a body that turns out to be over. Only a body that ends inside
   * of a name comes to this; where no place is left for the rest, the answer must not pass for
   * whole.
   */
  void passLate(ExtProcStream stream, ByteString held) {
    stream.unexpected("response_trailers inside of a model's name");
  }
}
