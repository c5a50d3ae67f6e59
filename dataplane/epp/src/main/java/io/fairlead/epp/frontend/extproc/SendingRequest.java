package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;

/** The pool has decided, and the body goes to the proxy, as much at a time as it takes. */
final class SendingRequest implements RequestPhase {

  private final RequestBody outgoing;
  private final WholeBody held;
  private boolean trailers;

  /**
   * A body of which nothing is sent.
   *
   * @param held what {@code outgoing} lies in
   * @param trailers whether trailers follow it
   */
  SendingRequest(RequestBody outgoing, WholeBody held, boolean trailers) {
    this.outgoing = outgoing;
    this.held = held;
    this.trailers = trailers;
  }

  @Override
  public String state() {
    return "being sent";
  }

  @Override
  public void body(ExtProcStream stream, HttpBody piece) {
    Sent.ignoreSecondEnd(stream, piece);
  }

  @Override
  public void trailers(ExtProcStream stream) {
    trailers = true;
  }

  @Override
  public void proceed(ExtProcStream stream) {
    while (!outgoing.over() && stream.takesMessages()) {
      ByteString slice = outgoing.next();
      stream.tell(Answers.requestBody(slice, outgoing.over() && !trailers));
      if (outgoing.over()) {
        if (trailers) {
          stream.tell(Answers.REQUEST_TRAILERS);
        }
        held.release();
        stream.requestSent();
      }
    }
  }

  @Override
  public void release() {
    held.release();
  }
}
