package io.fairlead.stub.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** One request's way back to the client: heads, bodies, and whether the connection lives on. */
final class Exchange {

  private final ChannelHandlerContext ctx;
  private final ModelServerConfig config;
  private final HttpVersion version;
  private final boolean keepAlive;
  private final @Nullable String bodyHash;
  private final Runnable done;

  /**
   * @param bodyHash what to send back as the received body's hash, if anything
   * @param done called just before the last piece of the response is written, so that who has read
   *     it finds it counted
   */
  Exchange(
      ChannelHandlerContext ctx,
      ModelServerConfig config,
      HttpVersion version,
      boolean keepAlive,
      @Nullable String bodyHash,
      Runnable done) {
    this.ctx = ctx;
    this.config = config;
    this.version = version;
    this.keepAlive = keepAlive;
    this.bodyHash = bodyHash;
    this.done = done;
  }

  void json(int status, JsonNode body) {
    full(status, "application/json", body.toString());
  }

  /** An answer of this model. */
  void completion(String model, JsonNode body) {
    full(200, "application/json", body.toString(), model);
  }

  void error(ApiError error) {
    if (error.message().isEmpty()) {
      full(error.status(), null, "");
      return;
    }
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    root.putObject("error")
        .put("message", error.message())
        .put("type", error.type())
        .put("param", error.param())
        .put("code", error.status());
    json(error.status(), root);
  }

  void full(int status, @Nullable String contentType, String body) {
    full(status, contentType, body, null);
  }

  private void full(int status, @Nullable String contentType, String body, @Nullable String model) {
    var response =
        new DefaultFullHttpResponse(
            version,
            HttpResponseStatus.valueOf(status),
            Unpooled.wrappedBuffer(body.getBytes(StandardCharsets.UTF_8)));
    if (contentType != null) {
      response.headers().set(HttpHeaderNames.CONTENT_TYPE, contentType);
    }
    HttpUtil.setContentLength(response, response.content().readableBytes());
    identify(response.headers(), model);
    HttpUtil.setKeepAlive(response, keepAlive);
    done.run();
    closeUnless(keepAlive, ctx.writeAndFlush(response));
  }

  void beginStream(String model) {
    HttpResponse head = new DefaultHttpResponse(version, HttpResponseStatus.OK);
    head.headers().set(HttpHeaderNames.CONTENT_TYPE, "text/event-stream; charset=utf-8");
    if (HttpVersion.HTTP_1_1.equals(version)) {
      head.headers().set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
    }
    identify(head.headers(), model);
    HttpUtil.setKeepAlive(head, streamKeepsAlive());
    var _ = ctx.write(head);
  }

  void write(HttpContent content) {
    var _ = ctx.write(content, ctx.voidPromise());
  }

  void writeAndFlush(HttpContent content) {
    var _ = ctx.writeAndFlush(content, ctx.voidPromise());
  }

  void endStream() {
    done.run();
    closeUnless(streamKeepsAlive(), ctx.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT));
  }

  /** Ends a stream in the middle. */
  void cut() {
    var _ = ctx.close();
  }

  /** Without chunks, which HTTP/1.0 has not, only the connection's end can end a stream. */
  private boolean streamKeepsAlive() {
    return keepAlive && HttpVersion.HTTP_1_1.equals(version);
  }

  private static void closeUnless(boolean keepAlive, ChannelFuture last) {
    if (!keepAlive) {
      last.addListener(ChannelFutureListener.CLOSE);
    }
  }

  private void identify(HttpHeaders headers, @Nullable String model) {
    if (model != null) {
      headers.set("x-stub-model", model);
    }
    headers.set("x-stub-endpoint", config.name());
    headers.set("x-stub-pod", config.pod());
    if (bodyHash != null) {
      headers.set("x-stub-body-sha256", bodyHash);
    }
  }
}
