package io.fairlead.epp.frontend.extproc;

import static io.fairlead.epp.frontend.extproc.Messages.REQUEST_TRAILERS;
import static io.fairlead.epp.frontend.extproc.Messages.RESPONSE_TRAILERS;
import static io.fairlead.epp.frontend.extproc.Messages.body;
import static io.fairlead.epp.frontend.extproc.Messages.events;
import static io.fairlead.epp.frontend.extproc.Messages.get;
import static io.fairlead.epp.frontend.extproc.Messages.post;
import static io.fairlead.epp.frontend.extproc.Messages.responseBody;
import static io.fairlead.epp.frontend.extproc.Messages.status;
import static io.fairlead.epp.frontend.extproc.TestPool.endpoint;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.CommonResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ImmediateResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.fairlead.core.Usage;
import io.fairlead.epp.memory.BodyBudget;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams of proxies that are set up for something else than full duplex both ways. */
class ExtProcModesTest {

  private static final BodySendMode DUPLEX = BodySendMode.FULL_DUPLEX_STREAMED;
  private static final BodySendMode BUFFERED = BodySendMode.BUFFERED;
  private static final BodySendMode STREAMED = BodySendMode.STREAMED;
  private static final BodySendMode NONE = BodySendMode.NONE;

  private static final String OTHER =
      "{\"model\":\"other\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
  private static final String CHAT = OTHER.replace("\"other\"", "\"chat\"");
  private static final String CHAT_EVENTS =
      CHAT.replace("{\"model\"", "{\"stream\":true,\"model\"");
  private static final String LLAMA = CHAT.replace("\"chat\"", "\"llama-v2\"");

  private final TestLoop loop = new TestLoop();
  private final TestPool pool =
      new TestPool(loop).configured().endpoints(endpoint("a", "10.0.0.1", 8000));
  private final BodyBudget bodies = BodyBudget.ofHeap();
  private final StreamCounters counters = new StreamCounters();
  private final StreamContext context = TestStreams.context(pool, bodies, 200_000, counters);
  private final FakeProxy proxy = new FakeProxy();
  private ExtProcStream stream = new ExtProcStream(context, proxy, loop);

  @AfterEach
  void everythingIsAccountedFor() {
    stream.onCancel();
    TestStreams.assertNothingIsLeft(loop, pool, bodies, counters);
    assertThat(proxy.ends).isLessThanOrEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(names = {"BUFFERED", "BUFFERED_PARTIAL"})
  void aBodyInOnePieceIsAnsweredWithTheDestinationAndTheTargetsName(BodySendMode mode) {
    tell(post(mode, DUPLEX, "content-type", "application/json", "content-length", length(CHAT)));
    assertThat(proxy.answers).containsExactly(Answers.REQUEST_HEADERS);
    assertThat(pool.events).isEmpty();

    tell(body(CHAT, true));

    assertThat(proxy.kinds()).containsExactly("REQUEST_HEADERS", "REQUEST_BODY");
    CommonResponse answer = proxy.answers.getLast().getRequestBody().getResponse();
    assertThat(set(answer))
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(Destinations.NAME, "10.0.0.1:8000", "content-length", length(LLAMA)));
    assertThat(answer.getClearRouteCache()).isTrue();
    assertThat(answer.getBodyMutation().getBody().toStringUtf8()).isEqualTo(LLAMA);
    assertThat(proxy.answers.getLast().getDynamicMetadata().getFieldsMap()).containsKey("envoy.lb");
    assertThat(pool.events).containsExactly("sent a");
    tell(status(200, false), responseBody("{\"choices\":[]}", true));
    assertThat(pool.events).containsExactly("sent a", "ended a COMPLETED");
  }

  @Test
  void aBodyInOnePieceStaysWhereNothingChanges() {
    tell(post(BUFFERED, DUPLEX), body(OTHER, true));
    CommonResponse answer = proxy.answers.getLast().getRequestBody().getResponse();
    assertThat(answer.hasBodyMutation()).isFalse();
    assertThat(set(answer)).containsExactly(Map.entry(Destinations.NAME, "10.0.0.1:8000"));
  }

  @Test
  void trailersOfABodyInOnePieceComeAfterItsAnswer() {
    tell(post(BUFFERED, DUPLEX), body(OTHER, false));
    assertThat(proxy.kinds()).containsExactly("REQUEST_HEADERS", "REQUEST_BODY");
    tell(REQUEST_TRAILERS);
    assertThat(proxy.kinds()).endsWith("REQUEST_TRAILERS");
  }

  @Test
  void aBodyInOnePieceIsAskedForWhenThereIsRoom() {
    BodyBudget little = new BodyBudget(1 << 20, Duration.ofSeconds(10));
    StreamContext context = TestStreams.context(pool, little, 700_000, counters);
    FakeProxy firstProxy = new FakeProxy();
    ExtProcStream first = new ExtProcStream(context, firstProxy, loop);
    ProcessingRequest large =
        post(BUFFERED, DUPLEX, "content-type", "application/json", "content-length", "700000");
    first.onNext(Messages.read(large));
    assertThat(firstProxy.kinds()).containsExactly("REQUEST_HEADERS");
    FakeProxy secondProxy = new FakeProxy();
    ExtProcStream second = new ExtProcStream(context, secondProxy, loop);
    second.onNext(Messages.read(large));
    assertThat(secondProxy.answers).as("no room").isEmpty();

    first.onCancel();

    assertThat(secondProxy.kinds()).containsExactly("REQUEST_HEADERS");
    second.onNext(Messages.read(body(OTHER, true)));
    assertThat(secondProxy.kinds()).endsWith("REQUEST_BODY");
    second.onCancel();
    assertThat(little.used()).isZero();
  }

  @Test
  void aBodyThatTheProxyHoldsOnlyAPartOfIsRefused() {
    tell(post(BodySendMode.BUFFERED_PARTIAL, DUPLEX), body(OTHER.substring(0, 30), false));
    ImmediateResponse refusal = proxy.answers.getLast().getImmediateResponse();
    assertThat(refusal.getStatus().getCodeValue()).isEqualTo(413);
    assertThat(refusal.getBody().toStringUtf8())
        .contains("30 bytes that the gateway holds", "per_connection_buffer_limit_bytes");
    assertThat(pool.events).containsExactly("refused by ext_proc: body_too_large");
  }

  @Test
  void aBodyThatIsNotShownGoesWithItsHeaders() {
    tell(post(NONE, DUPLEX));
    assertThat(proxy.kinds()).containsExactly("REQUEST_HEADERS");
    assertThat(set(proxy.answers.getFirst().getRequestHeaders().getResponse()))
        .containsExactly(Map.entry(Destinations.NAME, "10.0.0.1:8000"));
    tell(REQUEST_TRAILERS);
    assertThat(proxy.kinds()).containsExactly("REQUEST_HEADERS", "REQUEST_TRAILERS");
    tell(status(200, false), responseBody("{\"choices\":[]}", true));
    assertThat(pool.events).containsExactly("sent a", "ended a COMPLETED");
  }

  @Test
  void saysWhatToSetWhereAModeIsNotServed() {
    tell(post(STREAMED, DUPLEX));
    ImmediateResponse refusal = proxy.answers.getFirst().getImmediateResponse();
    assertThat(refusal.getStatus().getCodeValue()).isEqualTo(500);
    assertThat(refusal.getBody().toStringUtf8())
        .contains(
            "The gateway is set up for processing_mode.request_body_mode: STREAMED, which is not"
                + " served; set it to FULL_DUPLEX_STREAMED, BUFFERED or NONE.")
        .contains("\"code\":\"unserved_processing_mode\"");
    assertThat(proxy.status).isEqualTo(Status.OK);
    assertThat(counters.protocolErrors()).isEqualTo(1);
    assertThat(pool.events).containsExactly("refused by ext_proc: unserved_processing_mode");
  }

  @ParameterizedTest
  @CsvSource({"FULL_DUPLEX_STREAMED,invalid_request_error", "STREAMED,api_error"})
  void errorsOnTheMessagesApiAreTold(BodySendMode mode, String type) {
    tell(post(mode, DUPLEX, ":path", "/v1/messages?beta=true", "content-type", "application/json"));
    if (mode == DUPLEX) {
      tell(body("{\"messages\":[]}", true));
    }
    ImmediateResponse refusal = proxy.answers.getLast().getImmediateResponse();
    assertThat(refusal.getBody().toStringUtf8())
        .startsWith(
            "{\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":\"".formatted(type));
  }

  @Test
  void whatThePoolTurnsAwayOnTheMessagesApiIsToldInItsShape() {
    pool.configured(TestPool.NOBODY_WAITS).endpoints();
    tell(
        post(DUPLEX, DUPLEX, ":path", "/v1/messages", "content-type", "application/json"),
        body(OTHER, true));
    ImmediateResponse refusal = proxy.answers.getLast().getImmediateResponse();
    assertThat(refusal.getStatus().getCodeValue()).isEqualTo(503);
    assertThat(refusal.getBody().toStringUtf8())
        .startsWith("{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",");
    assertThat(pool.events).containsExactly("rejected NO_READY_ENDPOINTS");
  }

  @Test
  void aProxyThatTakesNoAnswersIsToldSo() {
    tell(post().toBuilder().setObservabilityMode(true).build());
    assertThat(proxy.status).isNotNull();
    assertThat(proxy.status.getDescription())
        .isEqualTo("observability_mode: true is not served; set it to false");
  }

  @ParameterizedTest
  @EnumSource(names = {"STREAMED", "BUFFERED", "BUFFERED_PARTIAL"})
  void eachPieceOfAResponseIsAnsweredOnce(BodySendMode mode) {
    String text = "{\"x\":\"" + "y".repeat(100_000) + "\",\"usage\":{\"prompt_tokens\":3}}";
    tell(post(DUPLEX, mode), body(OTHER, true), status(200, false));
    tell(responseBody(text, false), responseBody("", true));
    assertThat(proxy.answers.subList(3, 5))
        .containsExactly(Answers.RESPONSE_BODY, Answers.RESPONSE_BODY);
    assertThat(pool.events).containsExactly("sent a", "ended a COMPLETED");
    assertThat(pool.answers).containsExactly(text.length() + " bytes, 0 events");
    assertThat(pool.usages).containsExactly(new Usage(3, -1, -1));
  }

  @ParameterizedTest
  @CsvSource({"FULL_DUPLEX_STREAMED", "STREAMED", "BUFFERED"})
  void anAnswerNamesTheModelThatWasAskedFor(BodySendMode mode) {
    tell(post(DUPLEX, mode), body(CHAT_EVENTS, true), events());
    assertThat(
            proxy
                .answers
                .getLast()
                .getResponseHeaders()
                .getResponse()
                .getHeaderMutation()
                .getRemoveHeadersList())
        .containsExactly("content-length");
    tell(responseBody("data: {\"model\":\"lla", false), responseBody("ma", false));
    tell(responseBody("-v2\",\"choices\":[]}\n\n", false), responseBody("data: [DONE]\n\n", true));
    assertThat(
            proxy.responseBody(
                "data: {\"model\":\"lla", "ma", "-v2\",\"choices\":[]}\n\n", "data: [DONE]\n\n"))
        .isEqualTo("data: {\"model\":\"chat\",\"choices\":[]}\n\ndata: [DONE]\n\n");
    assertThat(pool.answers).containsExactly("51 bytes, 2 events");
    assertThat(pool.events).containsExactly("sent a", "first token a", "ended a COMPLETED");
  }

  @Test
  void anAnswerThatNamesTheModelIsLeftAlone() {
    tell(post(), body(OTHER, true), status(200, false));
    assertThat(proxy.answers.getLast()).isEqualTo(Answers.responseHeaders(List.of(), false));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatIsHeldOfANameComesBeforeTheTrailers(boolean duplex) {
    tell(post(DUPLEX, duplex ? DUPLEX : STREAMED), body(CHAT, true), status(200, false));
    tell(responseBody("{\"model\":\"lla", false), RESPONSE_TRAILERS);
    if (duplex) {
      assertThat(proxy.kinds()).endsWith("RESPONSE_BODY", "RESPONSE_BODY", "RESPONSE_TRAILERS");
    } else {
      assertThat(proxy.status).as("it must not pass for whole").isNotNull();
      assertThat(proxy.status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    }
  }

  @Test
  void aResponseMayComeWithoutItsHeaders() {
    tell(post(DUPLEX, STREAMED), body(CHAT_EVENTS, true));
    tell(responseBody("data: {\"usage\":{\"prompt_tokens\":3}}\n\n", false));
    tell(responseBody("", true));
    assertThat(proxy.answers.subList(2, 4))
        .containsExactly(Answers.RESPONSE_BODY, Answers.RESPONSE_BODY);
    assertThat(pool.events).containsExactly("sent a", "first token a", "ended a COMPLETED");
    assertThat(pool.usages.getFirst().promptTokens()).isEqualTo(3);
  }

  /** Its head has gone out with 200 long before. */
  @Test
  void aStreamThatEndsWithAnErrorOfTheServersIsAFailure() {
    tell(post(DUPLEX, STREAMED), body(CHAT_EVENTS, true), events());
    tell(responseBody("data: {\"error\": {\"message\": \"m\", \"code\": 500}}\n\n", false));
    tell(responseBody("data: [DONE]\n\n", true));
    assertThat(pool.events).containsExactly("sent a", "ended a FAILED");
  }

  @ParameterizedTest
  @EnumSource(names = {"STREAMED", "NONE"})
  void trailersAloneEndAResponse(BodySendMode mode) {
    tell(post(DUPLEX, mode), body(OTHER, true), RESPONSE_TRAILERS);
    assertThat(proxy.kinds()).endsWith("RESPONSE_TRAILERS");
    assertThat(pool.events).containsExactly("sent a", "ended a COMPLETED");
  }

  @ParameterizedTest
  @CsvSource({
    "200,ended a COMPLETED",
    "404,ended a REFUSED",
    "400,ended a INVALID",
    "503,ended a FAILED"
  })
  void headersOfAnAnswerInOnePieceAreItsEndWhereNoBodyIsShown(int status, String end) {
    tell(post(DUPLEX, NONE), body(OTHER, true), status(status, false));
    assertThat(proxy.kinds()).endsWith("RESPONSE_HEADERS");
    assertThat(proxy.status).isEqualTo(Status.OK);
    assertThat(pool.events).containsExactly("sent a", end);
  }

  @Test
  void thatAnEarlierAnswerIsNotThereIsNoRefusal() {
    String follows = OTHER.replaceFirst("\\{", "{\"previous_response_id\":\"resp_1\",");
    tell(post(DUPLEX, NONE), body(follows, true), status(404, false));
    assertThat(pool.events).containsExactly("sent a", "ended a INVALID");
  }

  @ParameterizedTest
  @CsvSource({"200,REFUSED", "204,REFUSED", "302,INVALID"})
  void headersThatAreAllOfAnAnswerServeNothing(int status, String outcome) {
    tell(post(DUPLEX, NONE), body(OTHER, true), status(status, true));
    assertThat(proxy.kinds()).endsWith("RESPONSE_HEADERS");
    assertThat(pool.events).containsExactly("sent a", "ended a " + outcome);
  }

  @Test
  void aStreamOfEventsThatIsNotShownIsLeft() {
    tell(post(DUPLEX, NONE), body(CHAT_EVENTS, true), events());
    assertThat(proxy.kinds()).endsWith("RESPONSE_HEADERS");
    assertThat(proxy.status).isEqualTo(Status.OK);
    assertThat(pool.events).containsExactly("sent a", "left a");
    assertThat(pool.answers).as("nobody saw it").isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aProxyThatShowsNothingOfResponsesGoesWithThePick(boolean cancels) {
    tell(post(BUFFERED, NONE), body(OTHER, true));
    if (cancels) {
      stream.onCancel();
    } else {
      stream.onCompleted();
    }
    assertThat(pool.events).containsExactly("sent a", "left a");
  }

  @Test
  void aStreamOnWhichNothingComesEnds() {
    loop.advance(Duration.ofSeconds(60));
    assertThat(proxy.status).isNotNull();
    assertThat(proxy.status.getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
    assertThat(counters.active()).isZero();
  }

  @Test
  void aBodyInOnePieceHasFiveTimesAsLong() {
    tell(post(BUFFERED, DUPLEX));
    loop.advance(Duration.ofSeconds(299));
    assertThat(proxy.kinds()).containsExactly("REQUEST_HEADERS");
    loop.advance(Duration.ofSeconds(1));
    assertThat(proxy.answers.getLast().getImmediateResponse().getStatus().getCodeValue())
        .isEqualTo(408);
  }

  @Test
  void anAnswerOfTheProxysOwnPassesWhereTheRequestWasNeverShown() {
    tell(status(429, false), responseBody("{\"choices\":[]}", true));
    assertThat(proxy.kinds()).containsExactly("RESPONSE_HEADERS", "RESPONSE_BODY");
    assertThat(proxy.status).isEqualTo(Status.OK);
    assertThat(pool.events).isEmpty();
    assertThat(counters.protocolErrors()).isZero();
  }

  @Test
  void anAnswerOfTheProxysOwnThatStopsEnds() {
    tell(post(), body("{", false), status(408, false));
    loop.advance(Duration.ofSeconds(59));
    tell(responseBody("too", false));
    loop.advance(Duration.ofSeconds(59));
    assertThat(proxy.ends).isZero();
    loop.advance(Duration.ofSeconds(1));
    assertThat(proxy.status).isNotNull();
    assertThat(proxy.status.getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatComesAfterTheEndOfABodyIsNoError(boolean taken) {
    tell(post());
    proxy.ready = taken;
    tell(body(OTHER, true), body("", true), REQUEST_TRAILERS);
    proxy.ready = true;
    stream.onReady();
    assertThat(proxy.kinds())
        .containsExactly("REQUEST_HEADERS", "REQUEST_BODY", "REQUEST_TRAILERS");
    assertThat(proxy.requestBody().toStringUtf8()).isEqualTo(OTHER);
    tell(
        status(200, false),
        responseBody("{\"choices\":[]}", true),
        responseBody("", true),
        RESPONSE_TRAILERS);
    assertThat(pool.events).containsExactly("sent a", "ended a COMPLETED");
    assertThat(counters.protocolErrors()).isZero();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anErrorOfOursIsAnAnswer(boolean withBody) {
    stream.onCancel();
    stream = new ExtProcStream(TestStreams.failing(context), proxy, loop);
    if (withBody) {
      tell(post(), body(OTHER, true));
    } else {
      tell(get());
    }
    assertThat(proxy.kinds()).containsExactly("IMMEDIATE_RESPONSE");
    ImmediateResponse answer = proxy.answers.getFirst().getImmediateResponse();
    assertThat(answer.getStatus().getCodeValue()).isEqualTo(500);
    assertThat(answer.getBody().toStringUtf8()).contains("\"code\":\"picker_failed\"");
    assertThat(proxy.status).isEqualTo(Status.OK);
    assertThat(counters.failures()).isEqualTo(1);
  }

  @Test
  void anErrorOfOursEndsAnAnswerThatHasBegun() {
    tell(post(), body(OTHER, true), status(200, false));
    proxy.failing = true;
    tell(responseBody("x", false));
    assertThat(proxy.status).isNotNull();
    assertThat(proxy.status.getCode()).isEqualTo(Status.Code.INTERNAL);
    assertThat(pool.events).containsExactly("sent a", "ended a DISCONNECTED");
  }

  private void tell(ProcessingRequest... messages) {
    for (ProcessingRequest message : messages) {
      stream.onNext(Messages.read(message));
    }
  }

  private static String length(String text) {
    return Integer.toString(text.length());
  }

  private static Map<String, String> set(CommonResponse answer) {
    Map<String, String> headers = new TreeMap<>();
    for (HeaderValueOption option : answer.getHeaderMutation().getSetHeadersList()) {
      ByteString value = option.getHeader().getRawValue();
      headers.put(option.getHeader().getKey(), value.toStringUtf8());
    }
    return headers;
  }
}
