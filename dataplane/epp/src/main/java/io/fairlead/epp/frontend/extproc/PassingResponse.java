package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.Usage;
import io.fairlead.epp.openai.ResponseWatcher;
import io.fairlead.epp.transport.Failures;
import io.netty.buffer.Unpooled;

/**
 * The response goes to the client, message by message. Holds nothing of it: what the proxy has not
 * taken yet is not asked for.
 */
final class PassingResponse implements ResponsePhase {

  private final int status;
  private final boolean headersAreAll;
  private final ResponseWatcher watcher;

  private PassingResponse(int status, boolean headersAreAll, ResponseWatcher watcher) {
    this.status = status;
    this.headersAreAll = headersAreAll;
    this.watcher = watcher;
  }

  static PassingResponse of(HttpHeaders headers) {
    return new PassingResponse(
        (int) Headers.number(headers.getHeaders(), ":status"),
        headers.getEndOfStream(),
        new ResponseWatcher(Headers.value(headers.getHeaders(), "content-type")));
  }

  @Override
  public String state() {
    return "passing";
  }

  boolean failed() {
    return status >= 500;
  }

  /** How it failed. */
  Failure failure() {
    return Failures.ofStatus(status, headersAreAll);
  }

  /** The client gets it: its headers go on their way. */
  void begin(ExtProcStream stream) {
    stream.become(this);
    stream.atPool().answering();
    stream.tell(Answers.responseHeaders(stream.atPool().responseHeaders()));
    if (headersAreAll) {
      delivered(stream);
    }
  }

  @Override
  public void body(ExtProcStream stream, HttpBody piece) {
    ByteString bytes = piece.getBody();
    if (!bytes.isEmpty()) {
      stream.atPool().progress(status < 400);
      watcher.watch(Unpooled.wrappedBuffer(bytes.asReadOnlyByteBuffer()));
    }
    stream.mode().response().pass(stream, bytes, piece.getEndOfStream());
    if (piece.getEndOfStream()) {
      delivered(stream);
    }
  }

  @Override
  public void trailers(ExtProcStream stream) {
    stream.tell(Answers.RESPONSE_TRAILERS);
    delivered(stream);
  }

  private void delivered(ExtProcStream stream) {
    stream.end(failed() ? Outcome.FAILED : Outcome.COMPLETED);
  }

  @Override
  public Usage usage() {
    return watcher.usage();
  }
}
