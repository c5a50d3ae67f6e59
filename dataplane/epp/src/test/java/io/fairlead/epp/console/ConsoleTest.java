package io.fairlead.epp.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.epp.shadow.ShadowReport;
import io.fairlead.epp.status.PoolMoment;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** In virtual time, on channels without sockets. */
class ConsoleTest {

  private final EmbeddedChannel clock = new EmbeddedChannel();
  private final Pool pool = new Pool(clock.eventLoop());
  private final List<EmbeddedChannel> open = new ArrayList<>();
  private Console console = start();

  private Console start() {
    clock.freezeTime();
    return Console.start(clock.eventLoop(), Access.of(null), pool);
  }

  @BeforeEach
  void begin() {
    clock.runPendingTasks();
  }

  @AfterEach
  void end() {
    open.forEach(EmbeddedChannel::finishAndReleaseAll);
    clock.finishAndReleaseAll();
  }

  private void pass(int seconds) {
    for (int i = 0; i < seconds; i++) {
      clock.advanceTimeBy(1, TimeUnit.SECONDS);
      clock.runScheduledPendingTasks();
      clock.runPendingTasks();
    }
  }

  @Test
  void thePoolIsLookedAtForTheCurvesAloneWhileNobodyLooks() {
    assertThat(pool.looks).as("at the start").isEqualTo(1);
    pass(60);
    assertThat(pool.looks).isEqualTo(7);
    assertThat(pool.rendered).isZero();
  }

  @Test
  void thePoolIsLookedAtOnceForAllWhoLook() {
    List<EmbeddedChannel> all = new ArrayList<>();
    for (int i = 0; i < EventStreams.MOST; i++) {
      all.add(stream());
    }
    clock.runPendingTasks();
    assertThat(read(all.getFirst())).contains("event: hello", "event: state");
    all.forEach(ConsoleTest::read);
    int before = pool.looks;
    pass(1);
    assertThat(pool.looks).isEqualTo(before + 1);
    assertThat(all)
        .allSatisfy(one -> assertThat(read(one)).startsWith("event: state\ndata: {\"at\":"));
    assertThat(pool.rendered).isEqualTo(2);
  }

  @Test
  void moreThanSomeAreToldThatTooManyLook() {
    for (int i = 0; i < EventStreams.MOST; i++) {
      stream();
    }
    FullHttpResponse refused = ask(channel("127.0.0.1"), get("/console/events"));
    assertThat(refused.status().code()).isEqualTo(503);
    assertThat(refused.headers().get("retry-after")).isEqualTo("10");
    assertThat(refused.content().toString(StandardCharsets.UTF_8)).contains("16 others look");
    refused.release();
    var _ = open.getFirst().close();
    assertThat(read(stream())).contains("event: hello");
  }

  @Test
  void whoHasGoneBeforeItsStreamBeganMisleadsNobodyElse() {
    EmbeddedChannel other = stream();
    read(other);
    for (int i = 0; i < 2; i++) {
      EmbeddedChannel gone = channel("127.0.0.1");
      gone.pipeline()
          .addFirst(
              new ChannelOutboundHandlerAdapter() {
                @Override
                public void write(ChannelHandlerContext context, Object part, ChannelPromise done) {
                  ReferenceCountUtil.release(part);
                  done.setFailure(new ClosedChannelException());
                  var _ = context.close();
                }
              });
      gone.writeInbound(get("/console/events"));
      clock.runPendingTasks();
      assertThat(read(other)).doesNotContain("event: hello");
      var _ = other.close(); // and with nobody else there
      assertThat(console.streams().count()).isZero();
    }
    pass(1);
    assertThat(read(stream())).contains("event: hello");
  }

  @Test
  void whoDoesNotReadMissesEventsAndIsClosedAndNobodyElseIs() {
    EmbeddedChannel slow = stream();
    EmbeddedChannel quick = stream();
    pass(1);
    read(slow);
    slow.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
    pass(5);
    assertThat(read(slow)).isEmpty();
    assertThat(slow.isOpen()).isTrue();
    slow.unsafe().outboundBuffer().setUserDefinedWritability(1, true);
    pass(1);
    assertThat(read(slow))
        .as("what is newest, and nothing of what it missed")
        .containsOnlyOnce("event: state");
    slow.unsafe().outboundBuffer().setUserDefinedWritability(1, false);
    pass(11);
    assertThat(slow.isOpen()).isFalse();
    assertThat(quick.isOpen()).isTrue();
    assertThat(console.streams().count()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"authorization", "cookie"})
  void aStreamEndsWithItsToken(String shownIn, @TempDir Path folder) throws IOException {
    String shown = "the token of the console";
    Path file = Files.writeString(folder.resolve("token"), shown);
    AtomicLong seconds = new AtomicLong();
    LongSupplier nanos = () -> TimeUnit.SECONDS.toNanos(seconds.get());
    AccessToken token = new AccessToken(file, nanos, () -> Instant.ofEpochSecond(seconds.get()));
    Access access = Access.with(token, nanos);
    console = Console.start(clock.eventLoop(), access, pool);
    clock.runPendingTasks();
    FullHttpRequest request = get("/console/events");
    request.headers().set("host", "console.example");
    request
        .headers()
        .set(
            shownIn,
            shownIn.equals("cookie")
                ? Access.COOKIE + "=" + token.newSession()
                : "Bearer " + shown);
    EmbeddedChannel stream = channel("10.0.0.7");
    stream.writeInbound(request);
    EmbeddedChannel local = stream();
    pass(3_600);
    assertThat(stream.isOpen()).isTrue();
    assertThat(read(stream)).contains("event: state");

    Files.writeString(file, "another token of the console");
    seconds.addAndGet(3);
    pass(1);
    assertThat(stream.isOpen()).isFalse();
    assertThat(read(stream)).isEmpty();
    assertThat(local.isOpen()).isTrue();
    assertThat(console.streams().count()).isEqualTo(1);
    for (int i = 1; i < WrongTokens.MOST_OF_ONE; i++) {
      assertThat(access.login(new InetSocketAddress("10.0.0.7", 1), "a guess")).isNull();
    }
    assertThat(access.secondsToWait(new InetSocketAddress("10.0.0.7", 1)))
        .as("the stream's was not tried again")
        .isZero();
  }

  @Test
  void aStreamEndsWithItsSession(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("token"), "the token of the console");
    AtomicLong seconds = new AtomicLong();
    AccessToken token = new AccessToken(file, () -> 0, () -> Instant.ofEpochSecond(seconds.get()));
    console = Console.start(clock.eventLoop(), Access.with(token, () -> 0), pool);
    clock.runPendingTasks();
    FullHttpRequest request = get("/console/events");
    request.headers().set("host", "console.example");
    request.headers().set("cookie", Access.COOKIE + "=" + token.newSession());
    EmbeddedChannel stream = channel("10.0.0.7");
    stream.writeInbound(request);
    seconds.set(AccessToken.SESSION_SECONDS - 1);
    pass(1);
    assertThat(stream.isOpen()).isTrue();
    seconds.set(AccessToken.SESSION_SECONDS);
    pass(1);
    assertThat(stream.isOpen()).isFalse();
  }

  /** Whoever has copied the cookie is out as well, and nobody else. */
  @Test
  void loggingOutEndsTheSessionAndNotTheCookieAlone(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("token"), "the token of the console");
    AccessToken token = new AccessToken(file, () -> 0, () -> Instant.EPOCH);
    console = Console.start(clock.eventLoop(), Access.with(token, () -> 0), pool);
    clock.runPendingTasks();
    String one = loggedIn();
    String other = loggedIn();
    EmbeddedChannel stream = channel("10.0.0.8");
    stream.writeInbound(with(get("/console/events"), one));
    pass(1);
    assertThat(stream.isOpen()).isTrue();

    FullHttpResponse out =
        ask(
            channel("10.0.0.7"),
            with(
                new DefaultFullHttpRequest(
                    HttpVersion.HTTP_1_1, HttpMethod.POST, "/console/logout"),
                one));
    assertThat(out.status().code()).isEqualTo(303);
    out.release();
    pass(1);
    assertThat(stream.isOpen()).isFalse();
    assertThat(status("/console/", one)).as("to the login page").isEqualTo(303);
    assertThat(status("/console/", other)).isEqualTo(200);
  }

  private String loggedIn() {
    FullHttpResponse in = ask(channel("10.0.0.7"), login("the token of the console"));
    String cookie = in.headers().get("set-cookie");
    in.release();
    return cookie.substring(0, cookie.indexOf(';'));
  }

  private static FullHttpRequest with(FullHttpRequest request, String cookie) {
    request.headers().set("host", "console.example").set("cookie", cookie);
    return request;
  }

  private int status(String path, String cookie) {
    FullHttpResponse answer = ask(channel("10.0.0.8"), with(get(path), cookie));
    int code = answer.status().code();
    answer.release();
    return code;
  }

  /** Requests come first: looks don't pile up before a loop that is busy with them. */
  @Test
  void aPoolThatDoesNotAnswerIsNotAskedAgain() {
    EmbeddedChannel stream = stream();
    pass(1);
    read(stream);
    pool.silent = true;
    int before = pool.looks;
    pass(20);
    assertThat(pool.looks).isEqualTo(before + 1);
    assertThat(read(stream)).isEmpty();
    pool.silent = false;
    pool.answer();
    pass(1);
    assertThat(read(stream)).contains("event: state");
  }

  @ParameterizedTest
  @EnumSource(Failing.class)
  void aLookThatFailsIsTriedAgain(Failing how) {
    EmbeddedChannel stream = stream();
    pass(1);
    read(stream);
    pool.failing = how;
    pass(3);
    assertThat(read(stream)).isEmpty();
    pool.failing = null;
    pass(1);
    assertThat(read(stream)).contains("event: state");
  }

  @Test
  void theCurvesHoldTheLastHour() {
    pass(2 * 3_600);
    String hello = read(stream());
    String points =
        hello.substring(
            hello.indexOf("\"points\":"), hello.indexOf('\n', hello.indexOf("\"points\":")));
    assertThat(points.split("\\{\"at\":", -1)).hasSize(History.MOST + 1);
  }

  @ParameterizedTest
  @CsvSource({
    "/console, 303, console/",
    "/console/login, 403,",
    "/console/nothing.js, 404,",
    "/console/../Console.class, 404,",
    "/console/index.html, 404,",
    "/console/%6dain.js, 404,",
    "/console/%zz, 404,",
    "/console/login.html, 404,",
    "/console/main.js, 200,",
    "/console/console.css?v=1, 200,",
    "/console/, 200,",
  })
  void answersWhatIsItsOwn(String path, int status, String location) {
    FullHttpResponse answer = ask(channel("127.0.0.1"), get(path));
    assertThat(answer.status().code()).isEqualTo(status);
    assertThat(answer.headers().get("location")).isEqualTo(location);
    assertThat(answer.headers().get("content-security-policy")).isEqualTo(ConsoleHandler.POLICY);
    assertThat(answer.headers().get("x-content-type-options")).isEqualTo("nosniff");
    answer.release();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/metrics", "/", "/consoles", "/debug/status", "/Console/", "/%zz"})
  void passesOnWhatIsNot(String path) {
    EmbeddedChannel channel = channel("127.0.0.1");
    channel.writeInbound(get(path));
    FullHttpRequest passedOn = channel.readInbound();
    assertThat(passedOn.uri()).isEqualTo(path);
    passedOn.release();
  }

  @ParameterizedTest
  @CsvSource({"/console/, 303", "/console/events, 401", "/console/login, 403"})
  void showsNothingToOthers(String path, int status) {
    FullHttpResponse answer = ask(channel("10.0.0.7"), get(path));
    assertThat(answer.status().code()).isEqualTo(status);
    answer.release();
    assertThat(pool.rendered).isZero();
  }

  @Test
  void aPageThatTheBrowserHasIsNotSentAgain() {
    FullHttpResponse first = ask(channel("127.0.0.1"), get("/console/main.js"));
    FullHttpRequest again = get("/console/main.js");
    again.headers().set("if-none-match", first.headers().get("etag"));
    first.release();
    FullHttpResponse second = ask(channel("127.0.0.1"), again);
    assertThat(second.status().code()).isEqualTo(304);
    assertThat(second.content().readableBytes()).isZero();
    second.release();
  }

  @Test
  void aFormOfAnotherSiteIsRefused() {
    FullHttpRequest post =
        new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/console/logout");
    post.headers().set("host", "localhost:9090").set("origin", "http://elsewhere.example");
    FullHttpResponse answer = ask(channel("127.0.0.1"), post);
    assertThat(answer.status().code()).isEqualTo(403);
    answer.release();
  }

  @ParameterizedTest
  @CsvSource({"http, ''", "https, ; Secure"})
  void theCookieIsForNoScriptAndNoOtherSite(String scheme, String more) {
    FullHttpRequest post =
        new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/console/logout");
    post.headers().set("host", "console.example").set("x-forwarded-proto", scheme);
    FullHttpResponse answer = ask(channel("10.0.0.7"), post);
    assertThat(answer.status().code()).isEqualTo(303);
    assertThat(answer.headers().get("set-cookie"))
        .isEqualTo("fairlead-console=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict" + more);
    answer.release();
  }

  @Test
  void whoTriesTooManyTokensIsToldWhenToComeAgain(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("token"), "the token of the console");
    AccessToken token = new AccessToken(file, () -> 0, () -> Instant.EPOCH);
    console = Console.start(clock.eventLoop(), Access.with(token, () -> 0), pool);
    clock.runPendingTasks();
    for (int i = 0; i < WrongTokens.MOST_OF_ONE; i++) {
      FullHttpResponse wrong = ask(channel("10.0.0.7"), login("a guess"));
      assertThat(wrong.status().code()).isEqualTo(401);
      wrong.release();
    }
    FullHttpResponse tooMany = ask(channel("10.0.0.7"), login("the token of the console"));
    assertThat(tooMany.status().code()).isEqualTo(429);
    assertThat(tooMany.headers().get("retry-after")).isEqualTo("6");
    assertThat(tooMany.headers().get("set-cookie")).isNull();
    assertThat(tooMany.content().toString(StandardCharsets.UTF_8))
        .contains("Too many wrong tokens. Try again in 6 s.");
    tooMany.release();
    FullHttpRequest stream = get("/console/events");
    stream.headers().set("authorization", "Bearer the token of the console");
    FullHttpResponse events = ask(channel("10.0.0.7"), stream);
    assertThat(events.status().code()).isEqualTo(429);
    assertThat(events.headers().get("retry-after")).isEqualTo("6");
    events.release();

    FullHttpResponse other = ask(channel("10.0.0.8"), login("the token of the console"));
    assertThat(other.status().code()).isEqualTo(303);
    other.release();
  }

  @ParameterizedTest
  @ValueSource(strings = {"token=100%", "token=%zz", "%=x", "a=%4"})
  void aFormThatCannotBeDecodedIsAnsweredSo(String form) {
    FullHttpResponse answer = ask(channel("10.0.0.7"), post(form));
    assertThat(answer.status().code()).isEqualTo(400);
    assertThat(answer.content().toString(StandardCharsets.UTF_8)).contains("form");
    answer.release();
  }

  private static FullHttpRequest login(String token) {
    return post("token=" + token.replace(' ', '+'));
  }

  private static FullHttpRequest post(String form) {
    FullHttpRequest post =
        new DefaultFullHttpRequest(
            HttpVersion.HTTP_1_1,
            HttpMethod.POST,
            "/console/login",
            Unpooled.copiedBuffer(form, StandardCharsets.UTF_8));
    post.headers().set("host", "console.example");
    return post;
  }

  private EmbeddedChannel channel(String address) {
    EmbeddedChannel channel =
        new EmbeddedChannel(console.handler()) {
          @Override
          protected SocketAddress remoteAddress0() {
            return new InetSocketAddress(InetAddress.ofLiteral(address), 40_000);
          }
        };
    open.add(channel);
    return channel;
  }

  private EmbeddedChannel stream() {
    EmbeddedChannel channel = channel("127.0.0.1");
    channel.writeInbound(get("/console/events"));
    HttpResponse head = channel.readOutbound();
    assertThat(head.headers().get("content-type")).isEqualTo("text/event-stream");
    clock.runPendingTasks();
    return channel;
  }

  private static FullHttpRequest get(String path) {
    FullHttpRequest request =
        new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, path);
    request.headers().set("host", "localhost:9090");
    return request;
  }

  private static FullHttpResponse ask(EmbeddedChannel channel, FullHttpRequest request) {
    channel.writeInbound(request);
    return channel.readOutbound();
  }

  /** The events that have come. */
  private static String read(EmbeddedChannel channel) {
    StringBuilder text = new StringBuilder();
    for (Object part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
      if (part instanceof HttpContent content) {
        ByteBuf bytes = content.content();
        text.append(bytes.toString(StandardCharsets.UTF_8));
      }
      ReferenceCountUtil.release(part);
    }
    return text.toString();
  }

  enum Failing {
    TELLS_OF_IT,
    THROWS,
    IS_OUT_OF_MEMORY,
    RENDERS_NOTHING
  }

  /** A pool that has nothing to show, and counts who asks. */
  private static final class Pool implements ConsoleData {
    private final EventLoop loop;
    private final List<Promise<PoolMoment>> asked = new ArrayList<>();
    int looks;
    int rendered;
    boolean silent;
    @Nullable Failing failing;

    Pool(EventLoop loop) {
      this.loop = loop;
    }

    @Override
    public Future<PoolMoment> moment() {
      looks++;
      Promise<PoolMoment> promise = loop.newPromise();
      asked.add(promise);
      if (failing == Failing.THROWS) {
        throw new IllegalStateException("this pool throws");
      } else if (failing == Failing.IS_OUT_OF_MEMORY) {
        throw new OutOfMemoryError("of the test");
      } else if (failing == Failing.TELLS_OF_IT) {
        promise.setFailure(new IllegalStateException("this pool fails"));
      } else if (!silent) {
        answer();
      }
      return promise;
    }

    void answer() {
      asked.forEach(promise -> promise.trySuccess(PoolMoment.NONE));
      asked.clear();
    }

    @Override
    public String status(PoolMoment moment) {
      rendered++;
      if (failing == Failing.RENDERS_NOTHING) {
        throw new StackOverflowError("this pool can't be shown");
      }
      return "{}";
    }

    @Override
    public List<ShadowReport> shadows() {
      return List.of();
    }

    @Override
    public Future<String> decisions(Map<String, String> wanted, int most) {
      return loop.newSucceededFuture("{\"requests\":[]}");
    }
  }
}
