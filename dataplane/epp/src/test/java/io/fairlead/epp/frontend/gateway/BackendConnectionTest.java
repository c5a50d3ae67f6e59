package io.fairlead.epp.frontend.gateway;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.epp.openai.OpenAiError;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.DefaultHttp2UnknownFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A connection to an endpoint that can't write, or reads what is part of no answer. */
@SuppressWarnings("NullAway.Init") // set up before each test
class BackendConnectionTest {

  private static final int SHORT = 1_000;
  private static final int LONG = 700_000;

  private static final class User implements BackendConnection.User {
    private final List<String> events = new ArrayList<>();
    private boolean heard;

    @Override
    public void opened(BackendConnection connection) {}

    @Override
    public void openFailed(Throwable cause) {}

    @Override
    public void written() {
      events.add("written");
    }

    @Override
    public void head(HttpResponse response) {
      events.add("head " + response.status().code());
    }

    @Override
    public void content(HttpContent content) {
      events.add("content");
      content.release();
    }

    @Override
    public void last(LastHttpContent content) {
      events.add(content instanceof HttpMessage ? "head again" : "last");
      content.release();
    }

    @Override
    public boolean readyForMore() {
      return true;
    }

    @Override
    public void broken(boolean byteSeen, boolean reused) {
      heard = byteSeen;
      events.add("broken");
    }

    @Override
    public void refused(OpenAiError why) {
      events.add("refused " + why.status());
    }

    @Override
    public void unprocessed(boolean reused) {
      events.add("unprocessed");
    }

    @Override
    public void outOfMemory() {
      events.add("out of memory");
    }
  }

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final FailingWrite writes = new FailingWrite();
  private final User user = new User();
  private BackendConnection connection;

  @BeforeEach
  void connect() {
    channel.freezeTime();
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    BackendPool pool = new BackendPool(channel.eventLoop(), Rig.config(), NioSocketChannel.class);
    BackendPool.addCodec(channel.pipeline());
    connection = new BackendConnection(pool, address, channel);
    channel.pipeline().addLast(writes).addLast(connection);
  }

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  private ByteBuf send(int length) {
    ByteBuf body = Unpooled.wrappedBuffer(new byte[length]);
    FullHttpRequest request =
        new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, Rig.CHAT, body);
    request.headers().set("content-length", length);
    connection.send(request, user);
    channel.runPendingTasks();
    return body;
  }

  /** What comes after a piece that is missing would pass for it. */
  @ParameterizedTest
  @CsvSource({SHORT + ",0", LONG + ",0", LONG + ",1", LONG + ",2", LONG + ",3"})
  void aRequestOfWhichAPieceCanNotBeWrittenGoesNoFurther(int length, int piece) {
    writes.failAfter(piece);
    ByteBuf body = send(length);
    assertThat(user.events).as("no fault of the endpoint").containsExactly("out of memory");
    assertThat(channel.isOpen()).isFalse();
    assertThat(writes.all()).isEqualTo(piece + 1);
    boolean _ = channel.releaseOutbound();
    assertThat(body.refCnt()).isZero();
  }

  /** Codecs wrap what they meet. */
  @Test
  void anAnswerThatThereIsNoMemoryForIsNoFaultOfTheEndpoint() {
    send(SHORT);
    channel.writeInbound(Unpooled.copiedBuffer("HTTP/1.1 200 OK\r\n\r\n", US_ASCII));
    var _ =
        channel
            .pipeline()
            .fireExceptionCaught(new DecoderException(new OutOfMemoryError("of the test")));
    assertThat(user.events).containsExactly("written", "head 200", "out of memory");
    assertThat(channel.isOpen()).isFalse();
  }

  /** It may have answered before it closed: what it said is there to be read. */
  @ParameterizedTest
  @CsvSource({SHORT + ",0", LONG + ",0", LONG + ",1", LONG + ",2", LONG + ",3"})
  void anEndpointThatTakesNoMoreIsHeardOut(int length, int piece) {
    writes.failAfter(piece, new IOException("Broken pipe"));
    ByteBuf body = send(length);
    assertThat(user.events).isEmpty();
    channel.writeInbound(
        Unpooled.copiedBuffer("HTTP/1.1 413 X\r\nContent-Length: 2\r\n\r\nno", US_ASCII));
    assertThat(user.events).containsExactly("head 413", "last");
    assertThat(channel.isOpen()).isFalse();
    boolean _ = channel.releaseOutbound();
    assertThat(body.refCnt()).isZero();
  }

  @Test
  void anEndpointThatTakesNoMoreAndSaysNothingIsGivenUp() {
    writes.failAfter(1, new IOException("Broken pipe"));
    send(LONG);
    channel.advanceTimeBy(499, TimeUnit.MILLISECONDS);
    channel.runScheduledPendingTasks();
    assertThat(user.events).isEmpty();
    channel.advanceTimeBy(1, TimeUnit.MILLISECONDS);
    channel.runScheduledPendingTasks();
    assertThat(user.events).containsExactly("broken");
    assertThat(channel.isOpen()).isFalse();
  }

  /** The error was told to the write: what is read ends as if nothing were amiss. */
  @Test
  void anAnswerWithoutLengthIsNotWholeWhereTheRequestCouldNotBeSent() {
    writes.failAfter(1, new IOException("Broken pipe"));
    send(LONG);
    channel.writeInbound(Unpooled.copiedBuffer("HTTP/1.1 413 X\r\n\r\nno", US_ASCII));
    var _ = channel.close();
    assertThat(user.events).containsExactly("head 413", "content", "broken");
  }

  /** Nor is its connection lent again: the endpoint waits for the rest. */
  @Test
  void ofARequestThatIsRefusedInItsMiddleNoMoreIsSent() {
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
    send(LONG);
    int sent = writes.all();
    channel.writeInbound(
        Unpooled.copiedBuffer("HTTP/1.1 413 X\r\nContent-Length: 2\r\n\r\n", US_ASCII));
    channel.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
    channel.runPendingTasks();
    assertThat(writes.all()).isEqualTo(sent);
    channel.writeInbound(Unpooled.copiedBuffer("no", US_ASCII));
    assertThat(user.events).containsExactly("head 413", "last");
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void aLongRequestIsWrittenInPieces() {
    send(LONG);
    assertThat(user.events).containsExactly("written");
    assertThat(writes.all()).isEqualTo(4);
  }

  /** What goes on to the client as the end of an answer must not begin another one. */
  @Test
  void anAnswerOfHttp2ThatIsAllHeadIsOneHeadAndAnEnd() {
    send(SHORT);
    Http2Headers head = new DefaultHttp2Headers().status("204");
    EmbeddedChannel codec = new EmbeddedChannel(new Http2StreamFrameToHttpObjectCodec(false));
    codec.writeInbound(new DefaultHttp2HeadersFrame(head, true));
    FullHttpResponse whole = codec.readInbound();
    channel.writeInbound(whole);
    assertThat(user.events).containsExactly("written", "head 204", "last");
    assertThat(whole.refCnt()).isZero();
  }

  /**
   * The codec makes a message's end of a head without a status, and takes a body without a head.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aBodyWithoutAHeadIsNoAnswer(boolean last) {
    send(SHORT);
    ByteBuf body = Unpooled.wrappedBuffer(new byte[1]);
    channel.writeInbound(last ? new DefaultLastHttpContent(body) : new DefaultHttpContent(body));
    assertThat(user.events).containsExactly("written", "broken");
    assertThat(channel.isOpen()).isFalse();
    assertThat(body.refCnt()).isZero();
  }

  /** It is not as a connection that was closed because nobody used it. */
  @Test
  void anEndpointThatResetsAStreamHasSaidSomethingOfTheRequest() {
    send(SHORT);
    var _ =
        channel
            .pipeline()
            .fireUserEventTriggered(new DefaultHttp2ResetFrame(Http2Error.INTERNAL_ERROR));
    var _ = channel.close();
    assertThat(user.events).containsExactly("written", "broken");
    assertThat(user.heard).isTrue();
  }

  @Test
  void soHasOneWhoseAnswerIsNoneOfHttp2() {
    send(SHORT);
    var _ =
        channel
            .pipeline()
            .fireExceptionCaught(Http2Exception.streamError(3, Http2Error.PROTOCOL_ERROR, "x"));
    assertThat(user.events).containsExactly("written", "broken");
    assertThat(user.heard).isTrue();
  }

  @Test
  void anEndpointThatTakesARequestForNoneOfHttp2RefusesIt() {
    send(SHORT);
    var _ =
        channel
            .pipeline()
            .fireUserEventTriggered(new DefaultHttp2ResetFrame(Http2Error.PROTOCOL_ERROR));
    var _ = channel.close();
    assertThat(user.events).containsExactly("written", "refused 400");
  }

  @Test
  void oneThatSaysSoInTheMiddleOfItsAnswerHasFailed() {
    send(SHORT);
    channel.writeInbound(Unpooled.copiedBuffer("HTTP/1.1 200 OK\r\n\r\n", US_ASCII));
    var _ =
        channel
            .pipeline()
            .fireUserEventTriggered(new DefaultHttp2ResetFrame(Http2Error.PROTOCOL_ERROR));
    var _ = channel.close();
    assertThat(user.events).startsWith("written", "head 200").doesNotContain("refused 400");
  }

  /** The endpoint has said how long it may be, and did not get it. */
  @Test
  void aHeadThatIsLongerThanTheEndpointTakesIsRefused() {
    writes.failAfter(
        0, Http2Exception.headerListSizeError(3, Http2Error.PROTOCOL_ERROR, false, "of the test"));
    send(SHORT);
    assertThat(user.events).containsExactly("refused 431");
    assertThat(channel.isOpen()).isFalse();
  }

  /** As servers send them that look whether others cope. */
  @Test
  void aFrameThatNobodyKnowsIsNoPartOfAnAnswer() {
    send(SHORT);
    ByteBuf content = Unpooled.wrappedBuffer(new byte[10]);
    channel.writeInbound(new DefaultHttp2UnknownFrame((byte) 0xa, new Http2Flags(), content));
    assertThat(content.refCnt()).isZero();
    assertThat(user.events).containsExactly("written");
    assertThat(channel.isOpen()).isTrue();
  }
}
