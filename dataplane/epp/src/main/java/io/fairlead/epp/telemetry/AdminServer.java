package io.fairlead.epp.telemetry;

import io.fairlead.core.EndpointSnapshot;
import io.fairlead.core.QueueSnapshot;
import io.fairlead.core.receipt.DecidedRequest;
import io.fairlead.crds.access.PageAccess;
import io.fairlead.epp.console.Access;
import io.fairlead.epp.console.Console;
import io.fairlead.epp.console.ConsoleData;
import io.fairlead.epp.external.ExternalReport;
import io.fairlead.epp.status.PoolMoment;
import io.fairlead.epp.status.ShadowPage;
import io.fairlead.epp.transport.LeastIdle;
import io.fairlead.epp.transport.Transport;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.AsciiString;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP server for operators: {@code /metrics}, {@code /healthz}, {@code /readyz}, the pages
 * below {@code /debug/} and, where it is on, the console. The debug pages show addresses and the
 * ids that clients gave their requests, and in a cluster every pod can connect; so {@link Access}
 * says who may see them. Pages are rendered on this server's own loop; the pool's loop only hands
 * over a snapshot.
 */
public final class AdminServer implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(AdminServer.class);

  private static final String DECISIONS = "/debug/decisions";

  private static final List<String> PAGES =
      List.of(
          "/metrics",
          "/healthz",
          "/readyz",
          "/debug/status",
          DECISIONS,
          "/debug/shadows",
          "/debug/config");

  private static final int USUAL_DECISIONS = 100;
  private static final String LIMIT = "limit";
  private static final String NTH = "nth";
  private static final String OUTCOME = "outcome";

  /** Longer than scrapers' usual intervals; streams of the console say something each second. */
  private static final int IDLE_SECONDS = 180;

  private static final Set<String> FILTERS = Set.of("model", "endpoint", OUTCOME);
  private static final Pattern LIMITS = Pattern.compile("[1-9][0-9]{0,3}");
  private static final String JSON = "application/json";
  private static final String TEXT = "text/plain; charset=utf-8";
  private static final String HTML = "text/html; charset=utf-8";
  private static final String METRICS = "text/plain; version=0.0.4; charset=utf-8";

  /** What the pages show; called on this server's loop, must not block. */
  public interface Pages extends ConsoleData {
    /** All endpoints at one moment. */
    Future<List<EndpointSnapshot>> snapshot();

    /** Who waits at one moment. */
    Future<QueueSnapshot> queues();

    /** Series other than the endpoints', in Prometheus's text format. */
    String metrics();

    /** Scrapes of model servers' own metrics that failed, by endpoint. */
    SortedMap<String, Long> scrapeFailures();

    /** Name of the pool; empty while none is known. */
    String pool();

    /** Of the clock that the endpoints' times are of, in nanoseconds. */
    long now();

    /** Says who may get the metrics; null for everybody. */
    @Nullable PageAccess access();

    /** Why requests can't be served now; empty when they can. */
    String notReady();

    /** What was decided of one of the requests of this name, as JSON; null if that isn't kept. */
    Future<@Nullable String> decision(String id, int nth);

    /** Of which requests decisions are kept, for who asked for another. */
    Future<String> decisionsKept();

    /** How external schedulers do. */
    List<ExternalReport> external();

    /** The config in force and the one refused, as JSON. */
    Future<String> config();
  }

  private final Channel listening;

  private AdminServer(Channel listening) {
    this.listening = listening;
  }

  /**
   * Listens; blocks until it does.
   *
   * @param group one loop of its own, so that a big page delays no request
   * @param access who may see the debug pages
   * @param console answers what is its own; null where there is none
   * @throws IllegalStateException if the address can't be listened on; the message names it
   */
  public static AdminServer start(
      String host,
      int port,
      EventLoopGroup group,
      Class<? extends ServerChannel> channelType,
      Pages pages,
      Access access,
      @Nullable Console console) {
    LeastIdle leastIdle = new LeastIdle();
    var bind =
        new ServerBootstrap()
            .group(group)
            .channel(channelType)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel
                        .pipeline()
                        .addLast(new HttpServerCodec(), new HttpObjectAggregator(64 * 1024))
                        // Behind these: bytes of a request that does not end are no sign of life.
                        .addLast(leastIdle, new IdleStateHandler(0, 0, IDLE_SECONDS))
                        .addLast(new OneAtATime(), new WholeHeads());
                    if (console != null) {
                      channel.pipeline().addLast(console.handler());
                    }
                    channel.pipeline().addLast(new Handler(pages, access, console != null));
                  }
                })
            .bind(new InetSocketAddress(host, port))
            .awaitUninterruptibly();
    if (!bind.isSuccess()) {
      throw Transport.cannotListen("metrics and health", host, port, bind.cause());
    }
    return new AdminServer(bind.channel());
  }

  /** The port that was taken. */
  public int port() {
    return ((InetSocketAddress) listening.localAddress()).getPort();
  }

  @Override
  public void close() {
    listening.close().awaitUninterruptibly();
  }

  private static final class Handler extends SimpleChannelInboundHandler<FullHttpRequest> {

    private final Pages pages;
    private final Access access;
    private final List<String> known;

    Handler(Pages pages, Access access, boolean hasConsole) {
      this.pages = pages;
      this.access = access;
      this.known =
          Stream.concat(PAGES.stream(), hasConsole ? Stream.of("/console/") : Stream.of()).toList();
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
      show(context, () -> page(context, request));
    }

    private void page(ChannelHandlerContext context, FullHttpRequest request) {
      boolean keepAlive = HttpUtil.isKeepAlive(request);
      boolean head = request.method().equals(HttpMethod.HEAD);
      if (!head && !request.method().equals(HttpMethod.GET)) {
        answer(
            context,
            405,
            TEXT,
            "only GET\n",
            Map.of(HttpHeaderNames.ALLOW, "GET, HEAD"),
            keepAlive,
            false);
        return;
      }
      QueryStringDecoder query = new QueryStringDecoder(request.uri());
      if (!isDecodable(query)) {
        answer(
            context,
            400,
            TEXT,
            "two hexadecimal digits must follow each % in the address\n",
            keepAlive,
            head);
        return;
      }
      if (query.path().startsWith("/debug/")
          && !access.admits(context.channel().remoteAddress(), request.headers())) {
        refuse(context, request, query.path(), keepAlive, head);
        return;
      }
      if (query.path().startsWith(DECISIONS + "/")) {
        decision(context, query, keepAlive, head);
        return;
      }
      switch (query.path()) {
        case "/metrics" ->
            ifAllowed(
                context,
                request,
                query.path(),
                keepAlive,
                head,
                () -> metrics(context, keepAlive, head));
        case "/healthz" -> answer(context, 200, TEXT, "ok\n", keepAlive, head);
        case "/readyz" -> {
          String reason = pages.notReady();
          boolean ready = reason.isEmpty();
          String body = ready ? "ok\n" : reason + "\n";
          answer(context, ready ? 200 : 503, TEXT, body, keepAlive, head);
        }
        case "/debug/status" -> status(context, keepAlive, head);
        case "/debug/config" ->
            whenThere(
                context,
                pages.config(),
                page ->
                    answer(context, page == null ? 503 : 200, JSON, page + "\n", keepAlive, head));
        case "/debug/shadows" ->
            answer(context, 200, JSON, ShadowPage.of(pages.shadows()) + "\n", keepAlive, head);
        case DECISIONS -> decisions(context, query, keepAlive, head);
        case "/", "/debug", "/debug/" -> answer(context, 200, HTML, links(), keepAlive, head);
        default ->
            answer(
                context,
                404,
                TEXT,
                "there are %s and %s\n"
                    .formatted(
                        String.join(", ", known.subList(0, known.size() - 1)), known.getLast()),
                keepAlive,
                head);
      }
    }

    private String links() {
      return known.stream()
          .map(page -> "<li><a href=\"%s\">%s</a></li>\n".formatted(page, page))
          .collect(
              Collectors.joining(
                  "", "<!doctype html>\n<title>Fairlead picker</title>\n<ul>\n", "</ul>\n"));
    }

    private void refuse(
        ChannelHandlerContext context,
        FullHttpRequest request,
        String path,
        boolean keepAlive,
        boolean head) {
      long wait = access.secondsToWait(context.channel().remoteAddress());
      if (wait > 0 && Access.showsToken(request.headers())) {
        answer(
            context,
            429,
            TEXT,
            "too many wrong tokens\n",
            Map.of(HttpHeaderNames.RETRY_AFTER, String.valueOf(wait)),
            keepAlive,
            head);
        return;
      }
      answer(
          context,
          403,
          TEXT,
          path + " is shown to this host alone: kubectl port-forward, then ask localhost\n",
          keepAlive,
          head);
    }

    /** Shows a page to those who may see it; whether they may is asked on another thread. */
    private void ifAllowed(
        ChannelHandlerContext context,
        FullHttpRequest request,
        String path,
        boolean keepAlive,
        boolean head,
        Runnable show) {
      PageAccess access = pages.access();
      if (access == null) {
        show.run();
        return;
      }
      String authorization = request.headers().get(HttpHeaderNames.AUTHORIZATION);
      var _ =
          Thread.startVirtualThread(
              () -> {
                PageAccess.Answer said = access.ask(authorization, path);
                Runnable answer =
                    said == PageAccess.Answer.ALLOWED
                        ? show
                        : () ->
                            answer(
                                context,
                                said.status(),
                                TEXT,
                                path + " " + said.message() + "\n",
                                keepAlive,
                                head);
                onLoop(context, answer);
              });
    }

    private void status(ChannelHandlerContext context, boolean keepAlive, boolean head) {
      pages
          .moment()
          .addListener(
              (Future<PoolMoment> done) ->
                  onLoop(
                      context,
                      () ->
                          answer(
                              context,
                              200,
                              JSON,
                              pages.status(done.isSuccess() ? done.getNow() : PoolMoment.NONE)
                                  + "\n",
                              keepAlive,
                              head)));
    }

    private void decision(
        ChannelHandlerContext context, QueryStringDecoder query, boolean keepAlive, boolean head) {
      int nth = 1;
      for (Map.Entry<String, List<String>> asked : query.parameters().entrySet()) {
        String value = asked.getValue().getLast();
        if (!asked.getKey().equals(NTH) || !LIMITS.matcher(value).matches()) {
          String wrong = "no such parameter, or no such value: set nth from 1 to 9999\n";
          answer(context, 400, TEXT, wrong, keepAlive, head);
          return;
        }
        nth = Integer.parseInt(value);
      }
      whenThere(
          context,
          pages.decision(query.path().substring(DECISIONS.length() + 1), nth),
          found -> {
            if (found == null) {
              whenThere(
                  context, pages.decisionsKept(), kept -> unknown(context, kept, keepAlive, head));
            } else {
              answer(context, 200, JSON, found + "\n", keepAlive, head);
            }
          });
    }

    private static void unknown(
        ChannelHandlerContext context, @Nullable String kept, boolean keepAlive, boolean head) {
      answer(
          context,
          404,
          TEXT,
          "no decision on a request of this id is kept: "
              + (kept == null ? "the picker ends" : kept)
              + ". "
              + DECISIONS
              + " lists those\n",
          keepAlive,
          head);
    }

    /** Only its getters say so. */
    private static boolean isDecodable(QueryStringDecoder query) {
      try {
        return query.path() != null && query.parameters() != null;
      } catch (IllegalArgumentException e) {
        return false;
      }
    }

    private void decisions(
        ChannelHandlerContext context, QueryStringDecoder query, boolean keepAlive, boolean head) {
      Map<String, String> wanted = new TreeMap<>();
      int most = USUAL_DECISIONS;
      String wrong = null;
      for (Map.Entry<String, List<String>> asked : query.parameters().entrySet()) {
        String value = asked.getValue().getLast();
        if (asked.getKey().equals(OUTCOME) && !DecidedRequest.OUTCOMES.contains(value)) {
          wrong = "no such outcome: set one of " + String.join(", ", DecidedRequest.OUTCOMES);
        } else if (FILTERS.contains(asked.getKey())) {
          wanted.put(asked.getKey(), value);
        } else if (asked.getKey().equals(LIMIT) && LIMITS.matcher(value).matches()) {
          most = Integer.parseInt(value);
        } else {
          wrong =
              "no such filter, or no such value: set model, endpoint, outcome, or limit from 1 to"
                  + " 9999";
        }
      }
      if (wrong != null) {
        answer(context, 400, TEXT, wrong + "\n", keepAlive, head);
        return;
      }
      whenThere(
          context,
          pages.decisions(wanted, most),
          list -> answer(context, list == null ? 503 : 200, JSON, list + "\n", keepAlive, head));
    }

    /** Goes on here with what another loop hands over; with null where that has ended. */
    private static <T extends @Nullable String> void whenThere(
        ChannelHandlerContext context, Future<T> page, Consumer<@Nullable String> render) {
      page.addListener(
          (Future<T> done) ->
              onLoop(context, () -> render.accept(done.isSuccess() ? done.getNow() : null)));
    }

    private void metrics(ChannelHandlerContext context, boolean keepAlive, boolean head) {
      withQueues(
          context,
          (endpoints, queues) -> {
            StringBuilder page = new StringBuilder(pages.metrics());
            EndpointLines.append(page, endpoints, pages.now());
            EndpointLines.appendScrapeFailures(page, pages.scrapeFailures());
            UpstreamNames.append(page);
            PoolLines.append(page, pages.pool(), endpoints);
            QueueLines.append(page, pages.pool(), queues);
            ShadowLines.append(page, pages.shadows());
            ExternalLines.append(page, pages.external());
            answer(context, 200, METRICS, page.toString(), keepAlive, head);
          });
    }

    private void withQueues(
        ChannelHandlerContext context, BiConsumer<List<EndpointSnapshot>, QueueSnapshot> render) {
      withSnapshot(
          context,
          endpoints ->
              pages
                  .queues()
                  .addListener(
                      (Future<QueueSnapshot> done) ->
                          onLoop(
                              context,
                              () ->
                                  render.accept(
                                      endpoints,
                                      done.isSuccess() ? done.getNow() : QueueSnapshot.EMPTY))));
    }

    /** Renders here what the pool's loop hands over. */
    private void withSnapshot(
        ChannelHandlerContext context, Consumer<List<EndpointSnapshot>> render) {
      pages
          .snapshot()
          .addListener(
              (Future<List<EndpointSnapshot>> done) ->
                  onLoop(
                      context, () -> render.accept(done.isSuccess() ? done.getNow() : List.of())));
    }

    private static void onLoop(ChannelHandlerContext context, Runnable page) {
      context.executor().execute(() -> show(context, page));
    }

    /** Whoever asks has an answer, whatever there is to show. */
    private static void show(ChannelHandlerContext context, Runnable page) {
      try {
        page.run();
      } catch (RuntimeException | Error e) {
        LOG.error("a page can't be shown", e);
        answer(context, 500, TEXT, "this can't be shown: the log says why\n", false, false);
      }
    }

    private static void answer(
        ChannelHandlerContext context,
        int status,
        String type,
        String text,
        boolean keepAlive,
        boolean head) {
      answer(context, status, type, text, Map.of(), keepAlive, head);
    }

    private static void answer(
        ChannelHandlerContext context,
        int status,
        String type,
        String text,
        Map<AsciiString, String> headers,
        boolean keepAlive,
        boolean head) {
      ByteBuf body = ByteBufUtil.writeUtf8(context.alloc(), text);
      int length = body.readableBytes();
      if (head) {
        body.clear();
      }
      var response =
          new DefaultFullHttpResponse(
              HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status), body);
      response.headers().set(HttpHeaderNames.CONTENT_TYPE, type);
      headers.forEach(response.headers()::set);
      response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, length);
      if (status == HttpResponseStatus.UNAUTHORIZED.code()) {
        response.headers().set(HttpHeaderNames.WWW_AUTHENTICATE, "Bearer");
      }
      HttpUtil.setKeepAlive(response, keepAlive);
      var written = context.writeAndFlush(response);
      if (!keepAlive) {
        written.addListener(ChannelFutureListener.CLOSE);
      }
    }

    /** Nobody is there any more, or somebody only holds the connection. */
    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
      if (event instanceof IdleStateEvent) {
        var _ = context.close();
      } else {
        context.fireUserEventTriggered(event);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      var _ = context.close();
    }
  }
}
