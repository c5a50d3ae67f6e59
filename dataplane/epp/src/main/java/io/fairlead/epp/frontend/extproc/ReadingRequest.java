package io.fairlead.epp.frontend.extproc;

import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.fairlead.epp.memory.IncomingBody;
import io.fairlead.epp.openai.BadRequestException;
import io.fairlead.epp.openai.ErrorCodes;
import io.fairlead.epp.openai.ParsedRequest;
import io.fairlead.epp.openai.RequestContent;

/** The request's body comes. Holds one body, at most the configured limit. */
final class ReadingRequest implements RequestPhase, IncomingBody.Owner {

  private final ExtProcStream stream;
  private final RequestHead head;
  private final RequestContent content;
  private final IncomingBody body;

  /** Whether there is no room for more of the body: nothing is asked of the proxy. */
  private boolean heldBack;

  /** Whether all of it is here. */
  private boolean whole;

  private boolean awaited;

  private ReadingRequest(
      ExtProcStream stream, RequestHead head, RequestContent content, long length) {
    this.stream = stream;
    this.head = head;
    this.content = content;
    StreamContext context = stream.context();
    body = new IncomingBody(context.bodies(), stream.loop(), length, context.maxBodyBytes(), this);
  }

  /** Reads the body from its first byte on, once there is room, or refuses the request. */
  static void begin(ExtProcStream stream, RequestHead head) {
    long length = head.contentLength();
    try {
      if (length > stream.context().maxBodyBytes()) {
        throw tooLarge(stream);
      }
      RequestContent content =
          length == 0
              ? RequestContent.NONE // HTTP/2 may say so and end it with an empty frame
              : RequestContent.of(
                  head.value(":path"), head.value("content-type"), head.value("content-encoding"));
      ReadingRequest reading = new ReadingRequest(stream, head, content, length);
      stream.become(reading);
      IncomingBody.Room room =
          stream.mode().request().comesAtOnce() ? reading.body.openAtOnce() : reading.body.open();
      reading.heldBack = room == IncomingBody.Room.AWAITED;
      if (!reading.heldBack) {
        reading.awaitBody();
      }
    } catch (BadRequestException e) {
      stream.refuse(e);
    }
  }

  private static BadRequestException tooLarge(ExtProcStream stream) {
    return new BadRequestException(
        413,
        ErrorCodes.BODY_TOO_LARGE,
        "The request body is longer than " + stream.context().maxBodyBytes() + " bytes.");
  }

  @Override
  public String state() {
    return "being read";
  }

  private void awaitBody() {
    if (!awaited) {
      awaited = true;
      stream.mode().request().awaitBody(stream);
      body.settle();
    }
  }

  @Override
  public void body(ExtProcStream stream, HttpBody piece) {
    try {
      if (!body.allows(piece.getBody().size())) {
        throw tooLarge(stream);
      }
      boolean last = stream.mode().request().isWhole(piece);
      whole = last;
      heldBack = body.add(piece.getBody(), last) == IncomingBody.Room.AWAITED;
      if (last && !heldBack) {
        whole(false);
      }
    } catch (BadRequestException e) {
      boolean cut =
          e.code().equals(ErrorCodes.INVALID_JSON) && stream.mode().request().mayBeCut(piece);
      stream.refuse(cut ? cut(piece.getBody().size()) : e);
    }
  }

  private static BadRequestException cut(int shown) {
    return new BadRequestException(
        413,
        ErrorCodes.BODY_TOO_LARGE,
        ("The request body is longer than the %d bytes that the gateway holds; raise its"
                + " per_connection_buffer_limit_bytes, or set processing_mode.request_body_mode to"
                + " FULL_DUPLEX_STREAMED.")
            .formatted(shown));
  }

  @Override
  public void trailers(ExtProcStream stream) {
    body.end();
    wholeOrRefused(true);
  }

  private void wholeOrRefused(boolean trailers) {
    try {
      whole(trailers);
    } catch (BadRequestException e) {
      stream.refuse(e);
    }
  }

  private void whole(boolean trailers) throws BadRequestException {
    StreamContext context = stream.context();
    ParsedRequest read = context.reader().read(content, body.bytes());
    stream.decide(
        new Deciding(head, new WholeBody(body, read), trailers),
        head.facts(context, read, body.length()));
  }

  @Override
  public boolean hasRoom() {
    return !heldBack;
  }

  @Override
  public void roomMade() {
    heldBack = false;
    stream.patience().somethingCame();
    stream.goOn(
        () -> {
          if (whole) {
            wholeOrRefused(false);
          } else {
            awaitBody();
          }
        });
  }

  @Override
  public void roomRefused(BadRequestException why) {
    stream.refuse(why);
  }

  @Override
  public void tooSlow(BadRequestException why) {
    stream.refuse(why);
  }

  @Override
  public void silent(ExtProcStream stream) {
    stream.refuse(
        new BadRequestException(
            408, ErrorCodes.REQUEST_TIMEOUT, "The request's body stopped coming."));
  }

  @Override
  public void responseBegins(ExtProcStream stream) {
    stream.answeredByProxy();
  }

  @Override
  public void release() {
    body.release();
  }
}
