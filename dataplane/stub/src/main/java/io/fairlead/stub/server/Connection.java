package io.fairlead.stub.server;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.util.ReferenceCountUtil;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HexFormat;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One client connection. Requests are answered one after the other; those that a pipelining client
 * sends ahead wait here. Reading goes on meanwhile, since that is how a client's going away is
 * seen.
 */
final class Connection extends ChannelInboundHandlerAdapter {

  private static final int MAX_PIPELINED = 64;

  private final ServerCore core;
  private final ArrayDeque<FullHttpRequest> pipelined = new ArrayDeque<>();
  private boolean busy;
  private @Nullable Completion completion;

  /** Of the completion under way, where it is traced. */
  private @Nullable Span span;

  private @Nullable ScheduledFuture<?> lateFailure;

  /** A completion under way, and what it is in the engine. */
  private record Completion(EngineDriver.Submitted submitted, Reply reply) {}

  Connection(ServerCore core) {
    this.core = core;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    pipelined.add((FullHttpRequest) message);
    if (pipelined.size() > MAX_PIPELINED) {
      var _ = ctx.close();
      return;
    }
    answerNext(ctx);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    pipelined.forEach(ReferenceCountUtil::release);
    pipelined.clear();
    Completion left = completion;
    if (left != null) {
      completion = null;
      core.driver.cancel(left.submitted);
      core.cancelled();
    }
    if (forgetLateFailure()) {
      core.cancelled();
    }
    endSpan();
    ctx.fireChannelInactive();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    // A reset by the peer is a client's right; whatever else it is, this connection is of no more
    // use.
    var _ = ctx.close();
  }

  /** The server stops: what is under way ends cut short, as vLLM does it. */
  void abort(ChannelHandlerContext ctx) {
    Completion cut = completion;
    if (cut == null) {
      var _ = ctx.close();
      return;
    }
    completion = null;
    core.driver.cancel(cut.submitted);
    core.cancelled();
    cut.reply.abort();
  }

  /** The process dies: nothing is said any more. */
  void drop(ChannelHandlerContext ctx) {
    Completion lost = completion;
    if (lost != null) {
      completion = null;
      core.driver.cancel(lost.submitted);
      core.cancelled();
    }
    if (forgetLateFailure()) {
      core.cancelled();
    }
    var _ = ctx.close();
  }

  /** The engine dies, and whatever it was working on with it. */
  void failWithEngine(ChannelHandlerContext ctx) {
    Completion lost = completion;
    if (lost != null) {
      completion = null;
      core.failed();
      lost.reply.fail(ApiError.dead());
    }
  }

  private void answerNext(ChannelHandlerContext ctx) {
    while (!busy && !pipelined.isEmpty()) {
      FullHttpRequest request = pipelined.remove();
      try {
        busy = true;
        answer(ctx, request);
      } finally {
        request.release();
      }
    }
  }

  private void answer(ChannelHandlerContext ctx, FullHttpRequest request) {
    boolean readable = request.decoderResult().isSuccess();
    Exchange exchange =
        new Exchange(
            ctx,
            core.config,
            request.protocolVersion(),
            readable && HttpUtil.isKeepAlive(request),
            core.config.bodyHash() ? sha256(request) : null,
            () -> responded(ctx));
    if (!readable) {
      exchange.error(ApiError.badRequest("The request is not valid HTTP/1.1.", null));
      return;
    }
    String path = new QueryStringDecoder(request.uri()).path();
    switch (path) {
      case "/v1/chat/completions" ->
          ifPost(request, path, exchange, () -> complete(ctx, request, exchange, Api.CHAT));
      case "/v1/completions" ->
          ifPost(request, path, exchange, () -> complete(ctx, request, exchange, Api.COMPLETIONS));
      case "/v1/responses" ->
          ifPost(request, path, exchange, () -> complete(ctx, request, exchange, Api.RESPONSES));
      case "/v1/embeddings" ->
          ifPost(request, path, exchange, () -> complete(ctx, request, exchange, Api.EMBEDDINGS));
      case "/v1/audio/transcriptions" ->
          ifPost(
              request, path, exchange, () -> complete(ctx, request, exchange, Api.TRANSCRIPTIONS));
      default -> MiscEndpoints.answer(core, ctx, request, path, exchange);
    }
  }

  private static void ifPost(
      FullHttpRequest request, String path, Exchange exchange, Runnable then) {
    if (HttpMethod.POST.equals(request.method())) {
      then.run();
    } else {
      exchange.error(ApiError.wrongMethod(request.method().name(), path));
    }
  }

  private void complete(
      ChannelHandlerContext ctx, FullHttpRequest request, Exchange exchange, Api api) {
    Tracer tracer = core.config.tracer();
    if (tracer != null) {
      span = CompletionSpan.begin(tracer, core.config.name(), request.headers());
    }
    long number = core.begun();
    core.applyFaults();
    ApiError refusal = core.refusal();
    if (refusal != null) {
      fail(exchange, refusal);
      return;
    }
    switch (core.faults.next()) {
      case Faults.Verdict.Reset() -> {
        core.failed();
        // Closing with nothing lingering sends RST instead of FIN.
        ctx.channel().config().setOption(ChannelOption.SO_LINGER, 0);
        var _ = ctx.close();
      }
      case Faults.Verdict.FailInside(int form) -> {
        core.failed();
        exchange.full(200, ErrorInside.contentType(form), ErrorInside.body(form));
      }
      case Faults.Verdict.Fail(ApiError error, Duration after) -> {
        if (after.isZero()) {
          fail(exchange, error);
        } else {
          failLate(ctx, exchange, error, after);
        }
      }
      case Faults.Verdict.Serve() -> {
        long created = System.currentTimeMillis() / 1_000;
        switch (core.parser.parse(api, request)) {
          case ApiError error -> fail(exchange, error);
          case CompletionRequest parsed -> serve(parsed, exchange, number, created);
          case EmbeddingRequest parsed ->
              serveWhole(
                  parsed.prompts(), exchange, progress -> parsed.answer(number, created, progress));
          case TranscriptionRequest parsed -> serveWhole(parsed.sound(), exchange, parsed::answer);
        }
      }
    }
  }

  private void failLate(
      ChannelHandlerContext ctx, Exchange exchange, ApiError error, Duration after) {
    lateFailure =
        ctx.executor()
            .schedule(
                () -> {
                  lateFailure = null;
                  fail(exchange, error);
                },
                after.toNanos(),
                TimeUnit.NANOSECONDS);
  }

  /** Whether there was one to come. */
  private boolean forgetLateFailure() {
    ScheduledFuture<?> late = lateFailure;
    lateFailure = null;
    return late != null && late.cancel(false);
  }

  private void fail(Exchange exchange, ApiError error) {
    core.failed();
    exchange.error(error);
  }

  private void serve(CompletionRequest parsed, Exchange exchange, long number, long created) {
    if (parsed.api() == Api.RESPONSES) {
      ResponseJson json = new ResponseJson(parsed, number, created);
      serve(parsed, exchange, () -> new StreamedResponse(exchange, parsed, json), json::whole);
    } else {
      ReplyJson json = new ReplyJson(parsed, number, created);
      serve(parsed, exchange, () -> new StreamedReply(exchange, parsed, json), json::whole);
    }
  }

  private void serve(
      CompletionRequest parsed,
      Exchange exchange,
      Supplier<Reply> streamed,
      Function<Progress, ObjectNode> whole) {
    if (parsed.stream()) {
      submit(parsed, streamed.get());
    } else {
      serveWhole(parsed, exchange, whole);
    }
  }

  private void serveWhole(
      CompletionRequest parsed, Exchange exchange, Function<Progress, ObjectNode> whole) {
    submit(parsed, new WholeReply(exchange, parsed, whole));
  }

  private void submit(CompletionRequest parsed, Reply reply) {
    completion = new Completion(core.driver.submit(parsed, reply), reply);
  }

  private void endSpan() {
    if (span != null) {
      span.end();
      span = null;
    }
  }

  private void responded(ChannelHandlerContext ctx) {
    endSpan();
    if (completion != null) {
      completion = null;
      core.completed();
    }
    busy = false;
    // Not at once: the last piece of this answer is yet to be written.
    if (!pipelined.isEmpty()) {
      ctx.executor().execute(() -> answerNext(ctx));
    }
  }

  private static String sha256(FullHttpRequest request) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (var buffer : request.content().nioBuffers()) {
        digest.update(buffer);
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every Java platform has SHA-256", impossible);
    }
  }
}
