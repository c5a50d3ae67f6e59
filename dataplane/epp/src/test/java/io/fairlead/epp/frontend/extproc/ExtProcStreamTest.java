package io.fairlead.epp.frontend.extproc;

import static io.fairlead.epp.frontend.extproc.Messages.REQUEST_TRAILERS;
import static io.fairlead.epp.frontend.extproc.Messages.RESPONSE_TRAILERS;
import static io.fairlead.epp.frontend.extproc.Messages.body;
import static io.fairlead.epp.frontend.extproc.Messages.events;
import static io.fairlead.epp.frontend.extproc.Messages.get;
import static io.fairlead.epp.frontend.extproc.Messages.post;
import static io.fairlead.epp.frontend.extproc.Messages.postWithin;
import static io.fairlead.epp.frontend.extproc.Messages.responseBody;
import static io.fairlead.epp.frontend.extproc.Messages.status;
import static io.fairlead.epp.frontend.extproc.TestPool.endpoint;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.ListValue;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption.HeaderAppendAction;
import io.envoyproxy.envoy.service.ext_proc.v3.HeaderMutation;
import io.envoyproxy.envoy.service.ext_proc.v3.ImmediateResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.fairlead.core.TargetSnapshot;
import io.fairlead.core.Usage;
import io.fairlead.epp.HeaderPlugin;
import io.fairlead.epp.director.BusyPool;
import io.fairlead.epp.memory.BodyBudget;
import io.grpc.Status;
import io.netty.util.concurrent.DefaultEventExecutor;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExtProcStreamTest {

  private static final String OTHER =
      "{\"model\":\"other\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
  private static final String CHAT = OTHER.replace("\"other\"", "\"chat\"");
  private static final int LIMIT = 200_000;

  private final TestLoop loop = new TestLoop();
  private final TestPool pool =
      new TestPool(loop).configured().endpoints(endpoint("a", "10.0.0.1", 8000));
  private final FakeProxy proxy = new FakeProxy();
  private final BodyBudget bodies = BodyBudget.ofHeap();
  private final StreamCounters counters = new StreamCounters();
  private final ExtProcStream stream = stream(pool, proxy);

  private ExtProcStream stream(TestPool pool, FakeProxy proxy) {
    return stream(pool, proxy, false);
  }

  private ExtProcStream stream(TestPool pool, FakeProxy proxy, boolean leaveAfterPick) {
    StreamContext context = TestStreams.context(pool, bodies, LIMIT, counters);
    return new ExtProcStream(
        leaveAfterPick ? TestStreams.leavingAfterPick(context) : context, proxy, loop);
  }

  @AfterEach
  void everythingIsAccountedFor() {
    stream.onCancel();
    TestStreams.assertNothingIsLeft(loop, pool, bodies, counters);
    assertThat(counters.failures()).isZero();
    assertThat(proxy.ends).isLessThanOrEqualTo(1);
  }

  @Test
  void holdsTheHeadersUntilTheBodyIsWholeThenPassesIt() {
    tell(post(), body(OTHER.substring(0, 10), false), body(OTHER.substring(10), false));
    assertThat(proxy.answers).isEmpty();

    tell(body("", true));

    assertThat(proxy.kinds()).containsExactly("REQUEST_HEADERS", "REQUEST_BODY");
    assertThat(set(mutation())).containsExactly(Map.entry(Destinations.NAME, "10.0.0.1:8000"));
    assertThat(proxy.answers.getFirst().getRequestHeaders().getResponse().getClearRouteCache())
        .isTrue();
    assertThat(
            proxy
                .answers
                .getFirst()
                .getDynamicMetadata()
                .getFieldsOrThrow("envoy.lb")
                .getStructValue()
                .getFieldsOrThrow(Destinations.NAME)
                .getStringValue())
        .isEqualTo("10.0.0.1:8000");
    assertThat(proxy.requestBody().toStringUtf8()).isEqualTo(OTHER);
    assertThat(proxy.requestBodyEnds()).containsExactly(true);
    assertThat(pool.events).containsExactly("sent a");
  }

  @Test
  void pluginsSeeAndSetHeadersAndClientsCannotSteerSidecars() {
    pool.configured(HeaderPlugin.ALONE, new HeaderPlugin.Factory());
    tell(
        post(
            "content-type",
            "application/json",
            "x-team",
            "blue",
            "x-prefiller-host-port",
            "6.6.6.6:6",
            "x-encoder-hosts-ports",
            "6.6.6.6:6",
            Destinations.NAME,
            "6.6.6.6:6"),
        body(OTHER, true),
        status(200, true));

    assertThat(set(mutation()))
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                Destinations.NAME,
                "10.0.0.1:8000",
                "x-prefiller-host-port",
                "10.9.9.9:1",
                "x-team-seen",
                "blue"));
    assertThat(mutation().getSetHeadersList())
        .allMatch(
            header -> header.getAppendAction() == HeaderAppendAction.OVERWRITE_IF_EXISTS_OR_ADD);
    assertThat(mutation().getRemoveHeadersList())
        .containsExactlyInAnyOrder("x-prefiller-host-port", "x-encoder-hosts-ports");
    HeaderMutation response =
        proxy.answers.getLast().getResponseHeaders().getResponse().getHeaderMutation();
    assertThat(set(response)).containsExactly(Map.entry("x-session-token", "token-of-a"));
  }

  /** A 404 of a path that the server lacks, or whose body is not shown, says nothing of it. */
  @Test
  void thatAServerDoesNotKnowTheTargetIsToldByItsAnswers() {
    for (int i = 0; i < 10; i++) {
      ask(status(404, true));
      ask(status(404, false), responseBody("{\"detail\":\"Not Found\"}", true));
    }
    assertThat(targets()).isEmpty();

    String unknown =
        "{\"error\":{\"message\":\"The model `llama-v2` does not exist.\",\"code\":404}}";
    for (int i = 0; i < 3; i++) {
      ask(status(404, false), responseBody(unknown, true));
    }
    assertThat(targets())
        .containsExactly(new TargetSnapshot("llama-v2", TargetSnapshot.State.NOT_SERVED, 1));

    ask(status(200, false), responseBody("{\"choices\":[]}", true));
    assertThat(targets())
        .containsExactly(new TargetSnapshot("llama-v2", TargetSnapshot.State.SERVED, 0));
  }

  private List<TargetSnapshot> targets() {
    return pool.loop.targets().syncUninterruptibly().getNow();
  }

  private void ask(ProcessingRequest... answer) {
    ExtProcStream one = stream(pool, new FakeProxy());
    one.onNext(Messages.read(post()));
    one.onNext(Messages.read(body(CHAT, true)));
    for (ProcessingRequest message : answer) {
      one.onNext(Messages.read(message));
    }
    one.onCancel();
  }

  /** As HTTP/2 may say that there is none: what is wrong with it is for the server to say. */
  @Test
  void aBodyThatSaysItHasNoBytesIsNone() {
    tell(post("content-type", "application/json", "content-length", "0"), body("", true));
    assertThat(pool.events).containsExactly("sent a");
  }

  /** Such as servers send while a prompt waits, or while it is computed. */
  @Test
  void whatTellsClientsToWaitIsNoFirstToken() {
    tell(
        post(),
        body(OTHER.replace("{", "{\"stream\":true,"), true),
        events(),
        responseBody(": ping\n\n", false),
        responseBody("event: ping\n\nevent: response.created\nda", false),
        responseBody("ta: {}\n\n", false));
    assertThat(pool.events).containsExactly("sent a");
    assertThat(awaitingFirstToken()).isOne();
    assertThat(proxy.responseBody()).as("the client gets them").contains(": ping", "created");

    tell(responseBody("data: {}\n\n", false));
    assertThat(pool.events).containsExactly("sent a", "first token a");
    assertThat(awaitingFirstToken()).isZero();
  }

  private int awaitingFirstToken() {
    return pool.loop.snapshot().syncUninterruptibly().getNow().getFirst().awaitingFirstToken();
  }

  @Test
  void namesFallbacksInTheHeaderAndInTheMetadata() {
    pool.configured(HeaderPlugin.ALONE, new HeaderPlugin.Factory())
        .endpoints(endpoint("a", "10.0.0.1", 8000), endpoint("b", "fd00::2", 8000));
    tell(post(), body(OTHER, true));

    String destinations = set(mutation()).getOrDefault(Destinations.NAME, "");
    assertThat(destinations.split(",", -1))
        .containsExactlyInAnyOrder("10.0.0.1:8000", "[fd00::2]:8000");
    assertThat(
            proxy
                .answers
                .getFirst()
                .getDynamicMetadata()
                .getFieldsOrThrow("envoy.lb")
                .getStructValue()
                .getFieldsOrThrow(Destinations.NAME)
                .getStringValue())
        .isEqualTo(destinations);
  }

  static Stream<Arguments> subsets() {
    return Stream.of(
        Arguments.of(list("10.0.0.2:8000"), "10.0.0.2:8000"),
        Arguments.of(list("10.0.0.9:8000", "[fd00::3]:8000"), "[fd00::3]:8000"),
        Arguments.of(text("10.0.0.9:1, 10.0.0.2"), "10.0.0.2:8000"),
        Arguments.of(list("10.0.0.2:8001"), ""),
        Arguments.of(list(), ""),
        Arguments.of(text(""), ""),
        Arguments.of(Value.newBuilder().setNumberValue(1).build(), ""));
  }

  @ParameterizedTest
  @MethodSource("subsets")
  void staysWithinTheSubsetThatTheGatewayAllows(Value hint, String destination) {
    pool.endpoints(
        endpoint("a", "10.0.0.1", 8000),
        endpoint("b", "10.0.0.2", 8000),
        endpoint("c", "fd00::3", 8000));
    tell(postWithin(hint), body(OTHER, true));

    if (destination.isEmpty()) {
      assertThat(refusal().getStatus().getCodeValue()).isEqualTo(503);
      assertThat(pool.events).containsExactly("rejected NO_READY_ENDPOINTS");
    } else {
      assertThat(set(mutation())).containsExactly(Map.entry(Destinations.NAME, destination));
    }
  }

  private static Value list(String... entries) {
    ListValue.Builder list = ListValue.newBuilder();
    for (String entry : entries) {
      list.addValues(text(entry));
    }
    return Value.newBuilder().setListValue(list).build();
  }

  private static Value text(String text) {
    return Value.newBuilder().setStringValue(text).build();
  }

  @Test
  void aBodyThatStopsComingGets408() {
    tell(post(), body(OTHER.substring(0, 10), false));
    loop.advance(Duration.ofSeconds(59));
    tell(body(OTHER.substring(10), false));
    loop.advance(Duration.ofSeconds(59));
    assertThat(proxy.answers).as("pieces still came").isEmpty();

    loop.advance(Duration.ofSeconds(1));

    assertThat(proxy.kinds()).containsExactly("IMMEDIATE_RESPONSE");
    ImmediateResponse answer = proxy.answers.getFirst().getImmediateResponse();
    assertThat(answer.getStatus().getCodeValue()).isEqualTo(408);
    assertThat(answer.getBody().toStringUtf8()).contains("\"code\":\"request_timeout\"");
    assertThat(proxy.status).isEqualTo(Status.OK);
    assertThat(pool.events).containsExactly("refused by ext_proc: request_timeout");
  }

  @Test
  void aBodyThatIsWholeHasNoDeadline() {
    tell(post(), body(OTHER, true));
    assertThat(loop.hasTimer()).isFalse();
    loop.advance(Duration.ofHours(1));
    assertThat(proxy.kinds()).containsExactly("REQUEST_HEADERS", "REQUEST_BODY");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void isLeftOnceNothingMoreIsOnItsWay(int messages) {
    ProcessingRequest[] response = {status(200, false), responseBody("x", false)};
    tell(post(), body(OTHER, true));
    for (int i = 0; i < messages; i++) {
      tell(response[i]);
    }
    stream.leave();
    stream.leaveUnanswered();
    assertThat(proxy.ends).as("more may be on its way").isZero();

    loop.advance(Duration.ofMillis(3));

    assertThat(proxy.status).isEqualTo(Status.OK);
    assertThat(proxy.answers).hasSize(2 + messages);
    assertThat(pool.events).containsExactly("sent a", "left a");
  }

  /** An answer that begins just then would come without its body: nobody knows when it begins. */
  @Test
  void isNotLeftBeforeItsAnswerAsLongAsThereIsTime() {
    tell(post(), body(OTHER, true));
    stream.leave();
    loop.advance(Duration.ofMillis(3));
    loop.advance(Duration.ofMillis(3));
    assertThat(proxy.ends).as("its answer has not begun").isZero();

    tell(status(200, false), responseBody("x", false));
    loop.advance(Duration.ofMillis(3));
    assertThat(proxy.status).isEqualTo(Status.OK);
  }

  /** Its endpoint has not got it yet, so nothing of an answer can be on its way. */
  @Test
  void aRequestThatIsSentAtTheEndIsLeftWithThat() {
    stream.leave();
    tell(post(), body(OTHER, true));

    assertThat(proxy.kinds()).containsExactly("REQUEST_HEADERS", "REQUEST_BODY");
    assertThat(proxy.status).isEqualTo(Status.OK);
    assertThat(pool.events).containsExactlyInAnyOrder("sent a", "left a");
  }

  /** A left request may be counted for long: its stream's objects would fill the heap. */
  @Test
  void nothingOfAStreamThatWasLeftIsKept() {
    WeakReference<ExtProcStream> left = leftStream();
    System.gc();
    assertThat(left.get()).isNull();
    assertThat(pool.active()).as("it is counted").isOne();
  }

  private WeakReference<ExtProcStream> leftStream() {
    ExtProcStream leaving = stream(pool, new FakeProxy(), true);
    leaving.onNext(Messages.read(post()));
    leaving.onNext(Messages.read(body(OTHER, true)));
    assertThat(leaving.isOver()).isTrue();
    return new WeakReference<>(leaving);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void mayBeLeftAtOnceWithThePick(boolean withTrailers) {
    FakeProxy alone = new FakeProxy();
    ExtProcStream leaving = stream(pool, alone, true);
    leaving.onNext(Messages.read(post()));
    alone.ready = false;
    leaving.onNext(Messages.read(body(OTHER, !withTrailers)));
    if (withTrailers) {
      leaving.onNext(Messages.read(REQUEST_TRAILERS));
    }
    assertThat(alone.ends).as("the body is not on its way").isZero();

    alone.ready = true;
    leaving.onReady();

    assertThat(alone.kinds()).startsWith("REQUEST_HEADERS", "REQUEST_BODY");
    assertThat(alone.kinds()).hasSize(withTrailers ? 3 : 2);
    assertThat(alone.requestBody().toStringUtf8()).isEqualTo(OTHER);
    assertThat(alone.status).isEqualTo(Status.OK);
    assertThat(pool.events).containsExactly("sent a", "left a");
  }

  @Test
  void mayBeLeftAtOnceWithoutABody() {
    FakeProxy alone = new FakeProxy();
    stream(pool, alone, true).onNext(Messages.read(get()));
    assertThat(alone.kinds()).containsExactly("REQUEST_HEADERS");
    assertThat(alone.status).isEqualTo(Status.OK);
    assertThat(pool.events).containsExactlyInAnyOrder("sent a", "left a");
  }

  @Test
  void isNotLeftWhileTheResponseComesNorByALookThatIsLate() {
    tell(post(), body(OTHER, true), status(200, false));
    stream.leave();
    for (int i = 0; i < 5; i++) {
      loop.advance(Duration.ofMillis(2));
      tell(responseBody("x", false));
    }
    assertThat(proxy.ends).as("pieces came every 2 ms").isZero();

    loop.advance(Duration.ofMillis(50));
    assertThat(proxy.ends).as("what came in 50 ms may not be read yet").isZero();

    loop.advance(Duration.ofMillis(3));
    assertThat(proxy.status).isEqualTo(Status.OK);
  }

  @Test
  void whoseAnswerIsBeingRenamedIsNotLeftBeforeTheVeryEnd() {
    String[] pieces = {
      "data: {\"model\":\"llama-v2\",\"n\":1}\n\n", "data: {\"model\":\"llama-", "v2\",\"n\":2}\n\n"
    };
    tell(post(), body(CHAT, true), events());
    stream.leave();
    for (String piece : pieces) {
      tell(responseBody(piece, false));
      loop.advance(Duration.ofMillis(3));
      loop.advance(Duration.ofMillis(3));
      assertThat(proxy.ends).as("the next event would have another name").isZero();
    }
    assertThat(proxy.responseBody()).isEqualTo(String.join("", pieces).replace("llama-v2", "chat"));

    stream.endNow();
    assertThat(proxy.status).isEqualTo(Status.OK);
    assertThat(pool.events).endsWith("left a");
  }

  /** What is held of it the proxy has not got: what came next would stand in its place. */
  @Test
  void isNotLeftInsideOfAName() {
    tell(post(), body(CHAT, true), events(), responseBody("data: {\"model\":\"llama-", false));
    stream.endNow();
    assertThat(proxy.status).isNotNull();
    assertThat(proxy.status.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
  }

  @Test
  void isLeftOnlyAfterItsRequestIsSent() {
    tell(post(), body(OTHER.substring(0, 10), false));
    stream.leave();
    loop.advance(Duration.ofMillis(3));
    proxy.ready = false;
    tell(body(OTHER.substring(10), true));
    loop.advance(Duration.ofMillis(3));
    assertThat(proxy.kinds()).containsExactly("REQUEST_HEADERS");

    proxy.ready = true;
    stream.onReady();
    loop.advance(Duration.ofMillis(3));

    assertThat(proxy.requestBody().toStringUtf8()).isEqualTo(OTHER);
    assertThat(proxy.status).isEqualTo(Status.OK);
  }

  @Test
  void atTheVeryEndARequestThatIsNotSentIsRefused() {
    tell(post(), body(OTHER.substring(0, 10), false));
    stream.endNow();
    assertThat(refusal().getStatus().getCodeValue()).isEqualTo(503);
    assertThat(refusal().getBody().toStringUtf8()).contains("\"code\":\"shutting_down\"");
    assertThat(pool.events).containsExactly("refused by ext_proc: shutting_down");
  }

  @Test
  void aRequestForWhichTooManyWaitIsRefused() {
    DefaultEventExecutor executor = new DefaultEventExecutor();
    TestPool busy = new TestPool(executor).configured();
    FakeProxy refused = new FakeProxy();
    ExtProcStream one = stream(busy, refused);
    try (var _ = new BusyPool(busy.loop, executor)) {
      one.onNext(Messages.read(post()));
      one.onNext(Messages.read(body(OTHER, true)));
    }
    assertThat(refused.kinds()).containsExactly("IMMEDIATE_RESPONSE");
    ImmediateResponse answer = refused.answers.getFirst().getImmediateResponse();
    assertThat(answer.getStatus().getCodeValue()).isEqualTo(503);
    assertThat(answer.getBody().toStringUtf8()).contains("\"code\":\"picker_busy\"");
    assertThat(answer.getHeaders().toString()).contains("rejected-saturated", "retry-after");
    assertThat(busy.active()).isZero();
    assertThat(busy.events).contains("refused by ext_proc: picker_busy");
    executor.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void passesTheResponseAndEndsTheRequest() {
    tell(post(), body(OTHER, true), status(200, false));
    tell(responseBody("{\"usage\":{\"prompt_tokens\":3,", false));
    tell(responseBody("\"completion_tokens\":5}}", false), responseBody("", true));

    assertThat(proxy.kinds().subList(2, 6))
        .containsExactly("RESPONSE_HEADERS", "RESPONSE_BODY", "RESPONSE_BODY", "RESPONSE_BODY");
    assertThat(proxy.status).isEqualTo(Status.OK);
    assertThat(pool.events).containsExactly("sent a", "ended a COMPLETED");
    assertThat(pool.usages).containsExactly(new Usage(3, 5, -1));
    stream.onCancel();
    assertThat(pool.events).as("a later cancel is not an end").hasSize(2);
  }

  @Test
  void theFirstByteOfAStreamIsItsFirstToken() {
    tell(post(), body(OTHER.replace("{\"model\"", "{\"stream\":true,\"model\""), true));
    tell(status(200, false), responseBody("data: {}\n\n", false), responseBody("", true));
    assertThat(pool.events).containsExactly("sent a", "first token a", "ended a COMPLETED");
  }

  @Test
  void splicesTheTargetModelAndCorrectsTheLengthThatWasDeclared() {
    tell(
        post("content-type", "application/json", "content-length", "" + CHAT.length()),
        body(CHAT, true));

    String rewritten = CHAT.replace("\"chat\"", "\"llama-v2\"");
    assertThat(proxy.requestBody().toStringUtf8()).isEqualTo(rewritten);
    assertThat(set(mutation())).containsEntry("content-length", "" + rewritten.length());
  }

  @Test
  void cutsLongBodiesAndStopsWhileTheProxyTakesNothing() {
    String prompt = "x".repeat(150_000);
    String long150 = OTHER.replace("hi", prompt);
    tell(post());
    proxy.ready = false;
    tell(body(long150, true));
    assertThat(proxy.kinds()).containsExactly("REQUEST_HEADERS");

    proxy.ready = true;
    stream.onReady();

    assertThat(proxy.requestBodyEnds()).containsExactly(false, false, true);
    assertThat(proxy.requestBody().toStringUtf8()).isEqualTo(long150);
    assertThat(proxy.answers).allMatch(answer -> answer.getSerializedSize() < 62_100);
  }

  @Test
  void asksForTheNextMessageOnlyWhileItsAnswersAreTaken() {
    proxy.ready = false;
    tell(post());
    assertThat(proxy.requested).isZero();
    proxy.ready = true;
    stream.onReady();
    stream.onReady();
    assertThat(proxy.requested).isEqualTo(1);
  }

  @Test
  void trailersEndTheRequestBody() {
    tell(post(), body(OTHER, false), REQUEST_TRAILERS);

    assertThat(proxy.kinds())
        .containsExactly("REQUEST_HEADERS", "REQUEST_BODY", "REQUEST_TRAILERS");
    assertThat(proxy.requestBodyEnds()).containsExactly(false);
  }

  @Test
  void trailersEndTheResponse() {
    tell(post(), body(OTHER, true), status(200, false));
    tell(responseBody("{\"choices\":[]}", false), RESPONSE_TRAILERS);

    assertThat(proxy.kinds()).endsWith("RESPONSE_BODY", "RESPONSE_TRAILERS");
    assertThat(pool.events).endsWith("ended a COMPLETED");
  }

  @Test
  void sendsRequestsWithoutBodyAnywhere() {
    tell(get());
    assertThat(proxy.kinds()).containsExactly("REQUEST_HEADERS");
    assertThat(set(mutation())).containsExactly(Map.entry(Destinations.NAME, "10.0.0.1:8000"));
    tell(status(200, true));
    assertThat(pool.events).containsExactly("sent a", "ended a COMPLETED");
  }

  /** One that is interim comes with nothing after it where a server changes the protocol. */
  @ParameterizedTest
  @ValueSource(ints = {101, 199, 500, 503})
  void answersOfAServerInTroubleAreFailures(int answered) {
    tell(post(), body(OTHER, true), status(answered, false), responseBody("no", true));
    assertThat(pool.events).containsExactly("sent a", "ended a FAILED");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4})
  void aCancelEndsTheRequestWhereverItIs(int messages) {
    ProcessingRequest[] all = {
      post(), body(OTHER, true), status(200, false), responseBody("x", false)
    };
    for (int i = 0; i < messages; i++) {
      tell(all[i]);
    }
    stream.onCancel();
    stream.onCancel();
    stream.onError(Status.CANCELLED.asRuntimeException());

    assertThat(pool.events.stream().filter(event -> event.startsWith("ended")))
        .hasSize(messages < 2 ? 0 : 1)
        .allMatch("ended a DISCONNECTED"::equals);
    assertThat(pool.active()).isZero();
  }

  @Test
  void acceptsAnAnswerOfTheProxyItselfWhileTheBodyIsComing() {
    tell(post(), body("{", false), status(408, false));
    tell(body("\"", false), responseBody("too slow", true));

    assertThat(proxy.kinds()).containsExactly("RESPONSE_HEADERS", "RESPONSE_BODY");
    assertThat(proxy.status).isEqualTo(Status.OK);
    assertThat(pool.events).isEmpty();
  }

  static Stream<Arguments> badRequests() {
    String[] json = {"content-type", "application/json"};
    return Stream.of(
        Arguments.of(400, "invalid_json", json, "{\"model\""),
        Arguments.of(400, "invalid_json", json, ""),
        Arguments.of(400, "invalid_model", json, "{\"messages\":[{}]}"),
        Arguments.of(413, "body_too_large", json, "x".repeat(LIMIT + 1)),
        Arguments.of(
            413,
            "body_too_large",
            new String[] {"content-type", "application/json", "content-length", "999999999999"},
            ""),
        Arguments.of(
            415, "unsupported_media_type", new String[] {"content-type", "text/plain"}, ""),
        Arguments.of(415, "unsupported_media_type", new String[] {"x-no", "type"}, ""));
  }

  @ParameterizedTest
  @MethodSource("badRequests")
  void refusesBadRequests(int code, String reason, String[] headers, String text) {
    tell(post(headers), body(text, true), body("more", true));

    ImmediateResponse answer = refusal();
    assertThat(answer.getStatus().getCodeValue()).isEqualTo(code);
    assertThat(answer.getBody().toStringUtf8())
        .startsWith("{\"error\":{\"message\":\"")
        .contains("\"code\":\"" + reason + "\"");
    assertThat(set(answer.getHeaders())).containsEntry("content-type", "application/json");
    assertThat(pool.events).containsExactly("refused by ext_proc: " + reason);
  }

  @Test
  void saysWhyThePoolRejects() {
    pool.configured(TestPool.NOBODY_WAITS).endpoints();
    tell(post(), body(OTHER, true));

    ImmediateResponse answer = refusal();
    assertThat(answer.getStatus().getCodeValue()).isEqualTo(503);
    assertThat(set(answer.getHeaders()))
        .containsEntry("retry-after", "1")
        .containsEntry("x-fairlead-reject-reason", "no_ready_endpoints")
        .containsEntry("x-llm-d-request-dropped-reason", "rejected-no-endpoints");
    assertThat(pool.events).containsExactly("rejected NO_READY_ENDPOINTS");
  }

  @Test
  void survivesMessagesInAnyOrder() {
    ProcessingRequest[] kinds = {
      post(),
      get(),
      body(OTHER, false),
      body("", true),
      REQUEST_TRAILERS,
      status(200, false),
      status(500, true),
      responseBody("x", false),
      responseBody("", true),
      RESPONSE_TRAILERS,
      ProcessingRequest.getDefaultInstance()
    };
    for (long seed = 0; seed < 5_000; seed++) {
      Random random = new Random(seed);
      FakeProxy any = new FakeProxy();
      ExtProcStream odd = stream(pool, any);
      odd.onNext(
          Messages.read(random.nextInt(4) == 0 ? kinds[random.nextInt(kinds.length)] : post()));
      for (int i = 0; i < 12; i++) {
        odd.onNext(Messages.read(kinds[random.nextInt(kinds.length)]));
      }
      if (random.nextBoolean()) {
        odd.onCompleted();
      } else {
        odd.onCancel();
      }
      assertThat(pool.active()).as("seed %d", seed).isZero();
      assertThat(any.ends).as("seed %d", seed).isLessThanOrEqualTo(1);
      if (any.status != null && any.status.getCode() == Status.Code.INVALID_ARGUMENT) {
        assertThat(any.status.getDescription()).contains("out of order");
      }
    }
    assertThat(counters.protocolErrors()).isPositive();
  }

  private void tell(ProcessingRequest... messages) {
    for (ProcessingRequest message : messages) {
      stream.onNext(Messages.read(message));
    }
  }

  private HeaderMutation mutation() {
    return proxy.answers.getFirst().getRequestHeaders().getResponse().getHeaderMutation();
  }

  private ImmediateResponse refusal() {
    assertThat(proxy.kinds()).containsExactly("IMMEDIATE_RESPONSE");
    assertThat(proxy.status).isEqualTo(Status.OK);
    return proxy.answers.getFirst().getImmediateResponse();
  }

  private static Map<String, String> set(HeaderMutation mutation) {
    Map<String, String> headers = new TreeMap<>();
    for (HeaderValueOption option : mutation.getSetHeadersList()) {
      ByteString value = option.getHeader().getRawValue();
      headers.put(option.getHeader().getKey(), value.toStringUtf8());
    }
    return headers;
  }
}
