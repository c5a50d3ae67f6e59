package io.fairlead.epp.console;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Answers requests of one connection for the console; all others go on to the next handler. */
final class ConsoleHandler extends SimpleChannelInboundHandler<FullHttpRequest> {

  private static final String ROOT = "/console";
  private static final String LOGIN = "login";
  private static final String EVENTS = "events";
  private static final String TEXT = "text/plain; charset=utf-8";
  private static final String PLACE_OF_WRONG_TOKEN = "<!-- wrong token -->";

  /** Nothing from elsewhere, nothing inline, and no text becomes markup. */
  static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
          + " form-action 'self'; base-uri 'none'; frame-ancestors 'none';"
          + " require-trusted-types-for 'script'; trusted-types 'none'";

  private final Console console;
  private final Access access;
  private final Assets assets;

  ConsoleHandler(Console console, Access access, Assets assets) {
    this.console = console;
    this.access = access;
    this.assets = assets;
  }

  @Override
  public boolean acceptInboundMessage(Object message) {
    return message instanceof FullHttpRequest request
        && (path(request).equals(ROOT) || path(request).startsWith(ROOT + "/"));
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
    Exchange exchange = new Exchange(context, request);
    String path = path(request);
    if (path.equals(ROOT)) {
      exchange.redirect("console/", null);
      return;
    }
    String page = path.substring(ROOT.length() + 1);
    if (request.method().equals(HttpMethod.POST)) {
      post(exchange, page);
      return;
    }
    if (!exchange.head() && !request.method().equals(HttpMethod.GET)) {
      exchange.answer(405, TEXT, "only GET\n", Map.of("allow", "GET, HEAD"));
      return;
    }
    boolean admitted = access.admits(context.channel().remoteAddress(), request.headers());
    switch (page) {
      case "" -> {
        if (admitted) {
          exchange.asset(required("index.html"));
        } else {
          exchange.redirect(LOGIN, null);
        }
      }
      case LOGIN -> login(exchange);
      case EVENTS -> events(exchange, admitted);
      default -> {
        Assets.Asset asset = page.endsWith(".html") ? null : assets.get(page);
        if (asset == null) {
          exchange.answer(404, TEXT, "the console is at /console/\n", Map.of());
        } else {
          exchange.asset(asset);
        }
      }
    }
  }

  private void login(Exchange exchange) {
    if (access.closed().isEmpty()) {
      exchange.asset(required("login.html"));
    } else {
      exchange.answer(403, TEXT, "no console here: " + access.closed() + "\n", Map.of());
    }
  }

  private void post(Exchange exchange, String page) {
    if (!exchange.isFromOwnPage()) {
      exchange.answer(403, TEXT, "asked by a page of another site\n", Map.of());
      return;
    }
    switch (page) {
      case LOGIN -> {
        String shown = exchange.field("token");
        if (shown == null) {
          exchange.answer(
              400, TEXT, "two hexadecimal digits must follow each % in a form\n", Map.of());
        } else {
          login(exchange, shown);
        }
      }
      case "logout" -> {
        access.logout(exchange.headers());
        exchange.redirect(LOGIN, exchange.cookie("", 0));
      }
      default -> exchange.answer(405, TEXT, "only GET\n", Map.of("allow", "GET, HEAD"));
    }
  }

  private void login(Exchange exchange, String shown) {
    SocketAddress client = exchange.context().channel().remoteAddress();
    long wait = access.secondsToWait(client);
    String session = access.login(client, shown);
    if (wait > 0) {
      formAgain(exchange, 429, wrong("Too many wrong tokens. Try again in " + wait + " s."), wait);
    } else if (session == null) {
      formAgain(exchange, 401, wrong("That is not the token."), 0);
    } else {
      exchange.redirect("./", exchange.cookie(session, AccessToken.SESSION_SECONDS));
    }
  }

  private static String wrong(String words) {
    return "<p class=\"wrong\" role=\"alert\">" + words + "</p>";
  }

  private void formAgain(Exchange exchange, int status, String why, long wait) {
    Assets.Asset form = required("login.html");
    exchange.answer(
        status,
        form.type(),
        form.text().replace(PLACE_OF_WRONG_TOKEN, why),
        wait > 0 ? Map.of("retry-after", String.valueOf(wait)) : Map.of());
  }

  private void events(Exchange exchange, boolean admitted) {
    long wait = access.secondsToWait(exchange.context().channel().remoteAddress());
    if (!admitted && wait > 0 && Access.showsToken(exchange.headers())) {
      exchange.answer(
          429, TEXT, "too many wrong tokens\n", Map.of("retry-after", String.valueOf(wait)));
    } else if (!admitted) {
      exchange.answer(401, TEXT, "log in at /console/login\n", Map.of());
    } else if (!console.streams().hasRoom()) {
      exchange.answer(
          503,
          TEXT,
          EventStreams.MOST + " others look at this picker; close one, and try again\n",
          Map.of("retry-after", "10"));
    } else if (exchange.head()) {
      exchange.answer(200, "text/event-stream", "", Map.of());
    } else {
      exchange.stream();
      SocketAddress client = exchange.context().channel().remoteAddress();
      EventStreams.Stream stream =
          console
              .streams()
              .add(
                  exchange.context().channel(),
                  () -> access.stillAdmits(client, exchange.headers()));
      if (stream != null) {
        console.opened(stream, access.hasSession(exchange.headers()));
      }
    }
  }

  private Assets.Asset required(String name) {
    return Objects.requireNonNull(assets.get(name), name);
  }

  /** As it was sent: no page's name needs an escape, so one that has some is none. */
  private static String path(FullHttpRequest request) {
    return new QueryStringDecoder(request.uri()).rawPath();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    var _ = context.close();
  }

  /** A request, and the ways to answer it. */
  private record Exchange(ChannelHandlerContext context, FullHttpRequest request) {

    boolean head() {
      return request.method().equals(HttpMethod.HEAD);
    }

    HttpHeaders headers() {
      return request.headers();
    }

    /** Whether a browser says that it is this server's page that asks; others say nothing. */
    boolean isFromOwnPage() {
      String origin = headers().get(HttpHeaderNames.ORIGIN);
      String host = headers().get(HttpHeaderNames.HOST);
      return origin == null
          || (host != null
              && (origin.equals("http://" + host) || origin.equals("https://" + host)));
    }

    /** Of a form; empty where it isn't there, null where the form can't be decoded. */
    @Nullable String field(String name) {
      String form = request.content().toString(StandardCharsets.UTF_8);
      try {
        List<String> values =
            new QueryStringDecoder(form, StandardCharsets.UTF_8, false, 8).parameters().get(name);
        return values == null ? "" : values.getFirst();
      } catch (IllegalArgumentException e) {
        return null;
      }
    }

    /** For the debug pages, too; where a proxy speaks TLS, for nothing else. */
    String cookie(String value, long seconds) {
      boolean tls = "https".equalsIgnoreCase(headers().get("x-forwarded-proto"));
      return "%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict%s"
          .formatted(Access.COOKIE, value, seconds, tls ? "; Secure" : "");
    }

    void asset(Assets.Asset asset) {
      Map<String, String> headers = Map.of("etag", asset.tag(), "cache-control", "no-cache");
      if (asset.tag().equals(headers().get(HttpHeaderNames.IF_NONE_MATCH))) {
        answer(304, asset.type(), "", headers);
      } else {
        answer(200, asset.type(), asset.text(), headers);
      }
    }

    void redirect(String to, @Nullable String cookie) {
      answer(
          303,
          TEXT,
          "",
          cookie == null ? Map.of("location", to) : Map.of("location", to, "set-cookie", cookie));
    }

    void answer(int status, String type, String text, Map<String, String> headers) {
      boolean keepAlive = HttpUtil.isKeepAlive(request);
      ByteBuf body = ByteBufUtil.writeUtf8(context.alloc(), text);
      var response =
          new DefaultFullHttpResponse(
              HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status), body);
      guard(response.headers()).set(HttpHeaderNames.CONTENT_TYPE, type);
      headers.forEach(response.headers()::set);
      if (status != 304) {
        response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes());
      }
      if (head()) {
        body.clear();
      }
      HttpUtil.setKeepAlive(response, keepAlive);
      var written = context.writeAndFlush(response);
      if (!keepAlive) {
        written.addListener(ChannelFutureListener.CLOSE);
      }
    }

    /** Begins a body that goes on: for who asks again on its connection there is no answer. */
    void stream() {
      var response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
      guard(response.headers())
          .set(HttpHeaderNames.CONTENT_TYPE, "text/event-stream")
          .set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
      var _ = context.writeAndFlush(response);
    }

    private static HttpHeaders guard(HttpHeaders headers) {
      return headers
          .set("content-security-policy", POLICY)
          .set("x-content-type-options", "nosniff")
          .set("referrer-policy", "same-origin")
          .set("cross-origin-resource-policy", "same-origin")
          .set(HttpHeaderNames.CACHE_CONTROL, "no-store");
    }
  }
}
