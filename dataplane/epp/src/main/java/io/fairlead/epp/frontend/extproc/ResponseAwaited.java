package io.fairlead.epp.frontend.extproc;

import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.fairlead.core.Outcome;

/**
 * Nothing has come of the response. A proxy may be set up to show its body without its headers, or
 * its trailers alone.
 */
record ResponseAwaited() implements ResponsePhase {

  static final ResponseAwaited PHASE = new ResponseAwaited();

  @Override
  public String state() {
    return "awaited";
  }

  @Override
  public void headers(ExtProcStream stream, ProxyMessage message) {
    stream.responseBegins();
    if (stream.isOver()) {
      return;
    }
    String served = GatewayMetadata.served(message.rest().getMetadataContext());
    if (served != null) {
      stream.atPool().answeredBy(served);
    }
    PassingResponse response = PassingResponse.of(message, stream);
    if (response.failed() && stream.atPool().isThere()) {
      stream.become(new ResponseJudged(response));
      stream.atPool().judge(response.failure());
    } else {
      response.begin(stream);
    }
  }

  @Override
  public void body(ExtProcStream stream, HttpBody piece) {
    if (stream.mode().response() != ResponseMode.ONE_BY_ONE) {
      stream.unexpected("response_body");
      return;
    }
    stream.responseBegins();
    if (!stream.isOver()) {
      PassingResponse response = PassingResponse.withoutHeaders(stream);
      response.beginWithBody(stream);
      response.body(stream, piece);
    }
  }

  @Override
  public void trailers(ExtProcStream stream) {
    if (stream.mode().response() == ResponseMode.FULL_DUPLEX) {
      stream.unexpected("response_trailers");
      return;
    }
    stream.responseBegins();
    if (!stream.isOver()) {
      stream.tell(Answers.RESPONSE_TRAILERS);
      stream.end(Outcome.COMPLETED);
    }
  }
}
