package io.fairlead.epp.frontend.extproc;

import static io.fairlead.epp.frontend.extproc.Messages.body;
import static io.fairlead.epp.frontend.extproc.Messages.post;
import static io.fairlead.epp.frontend.extproc.TestPool.endpoint;
import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.ImmediateResponse;
import io.fairlead.epp.memory.BodyBudget;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Streams whose bodies share too little memory. */
class ExtProcMemoryTest {

  private static final int LIMIT = 3 << 20;
  private static final String[] LARGE = {
    "content-type", "application/json", "content-length", String.valueOf(LIMIT)
  };
  private static final String BODY = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\"}]";

  /** As much of a long body as may come without a claim on all of it. */
  private static final String BEGINNING = BODY + " ".repeat(BodyBudget.BEGINNING - BODY.length());

  private static final String REST = " ".repeat(LIMIT - BEGINNING.length() - 1) + "}";

  private final BodyBudget bodies = new BodyBudget(4 << 20, Duration.ofSeconds(10));
  private final TestLoop loop = new TestLoop();
  private final TestPool pool =
      new TestPool(loop).configured().endpoints(endpoint("a", "10.0.0.1", 8000));
  private final StreamCounters counters = new StreamCounters();
  private final FakeProxy firstProxy = new FakeProxy();
  private final ExtProcStream first = stream(firstProxy);
  private final FakeProxy secondProxy = new FakeProxy();
  private final ExtProcStream second = stream(secondProxy);

  private ExtProcStream stream(FakeProxy proxy) {
    return new ExtProcStream(TestStreams.context(pool, bodies, LIMIT, counters), proxy, loop);
  }

  private static void begin(ExtProcStream stream) {
    stream.onNext(Messages.read(post(LARGE)));
    stream.onNext(Messages.read(body(BEGINNING, false)));
  }

  @AfterEach
  void nothingIsLeft() {
    first.onCancel();
    second.onCancel();
    TestStreams.assertNothingIsLeft(loop, pool, bodies, counters);
  }

  @Test
  void asksForNothingMoreWhileThereIsNoRoom() {
    begin(first);
    assertThat(firstProxy.requested).isEqualTo(2);
    begin(second);
    assertThat(secondProxy.requested).as("the proxy is held back").isEqualTo(1);

    first.onCancel();

    assertThat(secondProxy.requested).isEqualTo(2);
    second.onNext(Messages.read(body(REST, true)));
    assertThat(secondProxy.requestBody().size()).isEqualTo(LIMIT);
    assertThat(bodies.used()).as("the proxy has it all").isZero();
  }

  /** Of as many bytes as there are for small ones. */
  @Test
  void streamsThatBringNothingTakeNoRoomFromOthers() {
    String[] small = {"content-type", "application/json", "content-length", "262144"};
    List<ExtProcStream> silent = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      ExtProcStream next = stream(new FakeProxy());
      next.onNext(Messages.read(post(i == 4 ? LARGE : small)));
      silent.add(next);
    }
    first.onNext(Messages.read(post("content-type", "application/json")));
    assertThat(firstProxy.requested).isEqualTo(1);
    first.onNext(Messages.read(body(BODY + "}", true)));
    assertThat(firstProxy.requestBody().toStringUtf8()).isEqualTo(BODY + "}");
    second.onNext(Messages.read(post(LARGE)));
    assertThat(secondProxy.requested).isEqualTo(1);
    second.onNext(Messages.read(body(BODY + " ".repeat(LIMIT - BODY.length() - 1) + "}", true)));
    assertThat(secondProxy.requestBody().size()).isEqualTo(LIMIT);
    silent.forEach(ExtProcStream::onCancel);
  }

  /** All of it is here: no other message comes that would show the error. */
  @Test
  void anErrorOfOursIsAnAnswerAlsoToOneThatWaitedForRoom() {
    begin(first);
    FakeProxy proxy = new FakeProxy();
    StreamContext context = TestStreams.context(pool, bodies, LIMIT, counters);
    ExtProcStream failing = new ExtProcStream(TestStreams.failing(context), proxy, loop);
    failing.onNext(Messages.read(post(LARGE)));
    failing.onNext(Messages.read(body(BEGINNING + REST, true)));
    assertThat(proxy.answers).isEmpty();
    first.onCancel();
    assertThat(proxy.kinds()).containsExactly("IMMEDIATE_RESPONSE");
    ImmediateResponse answer = proxy.answers.getFirst().getImmediateResponse();
    assertThat(answer.getBody().toStringUtf8()).contains("\"code\":\"picker_failed\"");
    assertThat(counters.failures()).isEqualTo(1);
  }

  @Test
  void keepsItChargedUntilTheProxyHasTakenIt() {
    firstProxy.ready = false;
    first.onNext(Messages.read(post(LARGE)));
    first.onNext(Messages.read(body(BODY + " ".repeat(LIMIT - BODY.length() - 1) + "}", true)));
    assertThat(bodies.used()).isEqualTo(LIMIT);
    firstProxy.ready = true;
    first.onReady();
    assertThat(bodies.used()).isZero();
  }

  @Test
  void aBodyThatEndsInTrailersIsChargedNoMoreThanItTakes() {
    firstProxy.ready = false;
    first.onNext(Messages.read(post()));
    assertThat(bodies.used()).as("a beginning").isEqualTo(BodyBudget.BEGINNING);
    first.onNext(Messages.read(body(BODY + "}", false)));
    first.onNext(Messages.read(Messages.REQUEST_TRAILERS));
    assertThat(bodies.used()).isEqualTo(4096);
    firstProxy.ready = true;
    first.onReady();
    assertThat(firstProxy.requestBody().toStringUtf8()).isEqualTo(BODY + "}");
    assertThat(bodies.used()).isZero();
  }

  @Test
  void aBodyThatIsReplacedAsAWholeIsChargedUntilTheProxyHasTakenIt() {
    BodySendMode buffered = BodySendMode.BUFFERED;
    first.onNext(Messages.read(post(buffered, buffered, LARGE)));
    firstProxy.ready = false;
    String body = BODY.replace("\"m\"", "\"chat\"");
    first.onNext(Messages.read(body(body + " ".repeat(LIMIT - body.length() - 1) + "}", true)));
    assertThat(firstProxy.kinds()).containsExactly("REQUEST_HEADERS", "REQUEST_BODY");
    assertThat(bodies.used()).isEqualTo(LIMIT);
    firstProxy.ready = true;
    first.onReady();
    assertThat(bodies.used()).isZero();
  }

  /** It lies in memory until the stream is over. */
  @Test
  void refusesAHeadThatFindsNoRoom() {
    String[] head = {"content-type", "application/json", "x-long", "x".repeat(900_000)};
    first.onNext(Messages.read(post(head)));
    second.onNext(Messages.read(post(head)));
    assertThat(firstProxy.kinds()).isEmpty();
    assertThat(secondProxy.kinds()).containsExactly("IMMEDIATE_RESPONSE");
    ImmediateResponse answer = secondProxy.answers.getFirst().getImmediateResponse();
    assertThat(answer.getStatus().getCodeValue()).isEqualTo(429);
    assertThat(answer.getBody().toStringUtf8()).contains("\"code\":\"body_memory_full\"");
    first.onCancel();
    assertThat(bodies.usedByHeads()).isZero();
  }

  @Test
  void refusesOneThatHasWaitedForLong() {
    firstProxy.ready = false;
    begin(first);
    first.onNext(Messages.read(body(REST, true)));
    begin(second);
    loop.advance(Duration.ofSeconds(10));

    assertThat(secondProxy.kinds()).containsExactly("IMMEDIATE_RESPONSE");
    ImmediateResponse answer = secondProxy.answers.getFirst().getImmediateResponse();
    assertThat(answer.getStatus().getCodeValue()).isEqualTo(429);
    assertThat(answer.getBody().toStringUtf8()).contains("\"code\":\"body_memory_full\"");
    assertThat(answer.getHeaders().getSetHeadersList().toString())
        .contains("x-llm-d-request-dropped-reason", "rejected-saturated", "retry-after");
    assertThat(pool.events).containsExactly("sent a", "refused by ext_proc: body_memory_full");
    assertThat(bodies.refusals()).isEqualTo(1);
  }

  @Test
  void doesNotBlameTheProxyForWaiting() {
    begin(first);
    loop.advance(Duration.ofSeconds(55));
    begin(second);
    loop.advance(Duration.ofSeconds(5)); // the first one's body stopped coming

    assertThat(firstProxy.answers.getFirst().getImmediateResponse().getStatus().getCodeValue())
        .isEqualTo(408);
    loop.advance(Duration.ofSeconds(59));
    assertThat(secondProxy.answers).isEmpty();
  }

  /** One byte in a while was enough to keep it. */
  @Test
  void aBodyThatDripsMakesRoomForAnother() {
    begin(first);
    loop.advance(Duration.ofSeconds(15));
    first.onNext(Messages.read(body(" ", false)));
    begin(second);
    assertThat(secondProxy.requested).isEqualTo(1);
    loop.advance(Duration.ofSeconds(5));

    assertThat(firstProxy.answers.getFirst().getImmediateResponse().getStatus().getCodeValue())
        .isEqualTo(408);
    assertThat(pool.events).containsExactly("refused by ext_proc: request_timeout");
    assertThat(secondProxy.requested).isEqualTo(2);
  }

  @ParameterizedTest
  @EnumSource(names = {"BUFFERED", "BUFFERED_PARTIAL"})
  void aBodyOfNoKnownLengthIsChargedBeforeItComesInOneMessage(BodySendMode mode) {
    first.onNext(Messages.read(post(mode, BodySendMode.BUFFERED)));
    assertThat(bodies.used()).isEqualTo(LIMIT);
    assertThat(firstProxy.kinds()).containsExactly("REQUEST_HEADERS");
    second.onNext(Messages.read(post(mode, BodySendMode.BUFFERED)));
    assertThat(secondProxy.kinds()).as("its body may not come yet").isEmpty();

    first.onNext(Messages.read(body(BODY + "}", true)));
    assertThat(secondProxy.kinds()).containsExactly("REQUEST_HEADERS");
  }
}
