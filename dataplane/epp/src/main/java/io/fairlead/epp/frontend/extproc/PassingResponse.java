package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.Usage;
import io.fairlead.epp.openai.AnswerBeginning;
import io.fairlead.epp.openai.ContentCoding;
import io.fairlead.epp.openai.ModelRename;
import io.fairlead.epp.openai.ResponseWatcher;
import io.fairlead.epp.transport.Failures;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/**
 * The response goes to the client, message by message. Holds nothing of it but what may be the
 * beginning of a model's name: what the proxy has not taken yet is not asked for.
 */
final class PassingResponse implements ResponsePhase {

  private static final String EVENTS = "text/event-stream";
  private static final String JSON = "application/json";

  private final int status;
  private final boolean headersAreAll;
  private final boolean streamed;
  private final ResponseWatcher watcher;
  private final AnswerBeginning beginning;

  /** Null where the answer names the model that was asked for, or none that we could read. */
  private final @Nullable ModelRename rename;

  private PassingResponse(
      int status,
      boolean headersAreAll,
      ResponseWatcher watcher,
      String contentType,
      String contentEncoding,
      @Nullable ModelRename rename) {
    this.status = status;
    this.headersAreAll = headersAreAll;
    this.rename = rename;
    streamed = contentType.startsWith(EVENTS);
    this.watcher = watcher;
    beginning = new AnswerBeginning(contentType, contentEncoding);
  }

  static PassingResponse of(ProxyMessage message, ExtProcStream stream) {
    WireHeaders headers = message.headers();
    int status = (int) headers.number(":status");
    stream.atPool().status(status);
    String type = headers.value("content-type");
    String encoding = headers.value("content-encoding");
    boolean readable =
        status < 300 && stream.mode().response().showsBody() && ContentCoding.isNone(encoding);
    return new PassingResponse(
        status,
        message.headersAreAll(),
        ResponseWatcher.of(stream.path(), type, encoding),
        type,
        encoding,
        readable ? stream.atPool().rename(type) : null);
  }

  /**
   * One of which the proxy shows the body alone. Its length may be told already: it stays. Nobody
   * knows its type, and how it is encoded: it is taken for what was asked for.
   */
  static PassingResponse withoutHeaders(ExtProcStream stream) {
    String type = stream.atPool().streamed() ? EVENTS : JSON;
    return new PassingResponse(
        200, false, ResponseWatcher.withoutHeaders(stream.path(), type), type, "", null);
  }

  @Override
  public String state() {
    return "passing";
  }

  boolean failed() {
    return ResponseWatcher.isFailure(status);
  }

  /** How it failed. */
  Failure failure() {
    return Failures.ofStatus(status, headersAreAll);
  }

  /** The client gets it: its headers go on their way. */
  void begin(ExtProcStream stream) {
    beginWithBody(stream);
    stream.tell(Answers.responseHeaders(stream.atPool().responseHeaders(), rename != null));
    if (headersAreAll) {
      delivered(stream);
    } else if (!stream.mode().response().showsBody()) {
      withoutBody(stream);
    }
  }

  /** The client gets it, and the proxy shows no headers. */
  void beginWithBody(ExtProcStream stream) {
    stream.become(this);
    stream.atPool().answering();
  }

  /** What comes in one piece is there with its headers; of a stream of events nobody knows. */
  private void withoutBody(ExtProcStream stream) {
    if (streamed && status < 400) {
      stream.goOnAlone();
    } else {
      delivered(stream);
    }
  }

  @Override
  public void body(ExtProcStream stream, HttpBody piece) {
    ByteString shown = piece.getBody();
    if (!shown.isEmpty()) {
      ByteBuf bytes = Unpooled.wrappedBuffer(shown.asReadOnlyByteBuffer());
      watcher.watch(bytes);
      boolean begun = beginning.in(bytes);
      stream.atPool().progress(begun && status < 300 && !watcher.isError());
    }
    boolean last = piece.getEndOfStream();
    @Nullable ByteString instead = renamed(shown, last);
    stream.atPool().passed((instead == null ? shown : instead).size(), watcher.events());
    stream.mode().response().pass(stream, piece, instead);
    if (last) {
      delivered(stream);
    }
  }

  /** What passes in the place of these bytes; null where they pass themselves. */
  private @Nullable ByteString renamed(ByteString shown, boolean last) {
    if (rename == null) {
      return null;
    }
    ByteBuf passed = rename.pass(Unpooled.wrappedBuffer(shown.asReadOnlyByteBuffer()), last);
    try {
      return rename.changed() ? ByteString.copyFrom(passed.nioBuffer()) : null;
    } finally {
      passed.release();
    }
  }

  @Override
  public void trailers(ExtProcStream stream) {
    @Nullable ByteString held = renamed(ByteString.EMPTY, true);
    if (held != null) {
      stream.atPool().passed(held.size(), watcher.events());
      stream.mode().response().passLate(stream, held);
    }
    if (!stream.isOver()) {
      stream.tell(Answers.RESPONSE_TRAILERS);
      delivered(stream);
    }
  }

  @Override
  public boolean holds() {
    return rename != null && rename.holds();
  }

  @Override
  public boolean renames() {
    return rename != null;
  }

  private void delivered(ExtProcStream stream) {
    boolean seen = headersAreAll || stream.mode().response().showsBody();
    Outcome unseen = failed() ? Outcome.FAILED : Outcome.of(status, false);
    Outcome judged = seen ? watcher.outcome(status) : unseen;
    if (watcher.isOfUnknownModel(status)) {
      stream.atPool().unknownModel();
    }
    stream.end(stream.atPool().outcome(status, judged));
  }

  @Override
  public Usage usage() {
    return watcher.usage();
  }
}
