package io.fairlead.epp.frontend.extproc;

import static io.fairlead.epp.frontend.extproc.TestPool.endpoint;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.BodyMutation;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.fairlead.core.Usage;
import io.fairlead.epp.corpus.Corpus;
import io.fairlead.epp.memory.BodyBudget;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The corpus, cut in two at every offset of what is small, in each mode. */
class ExtProcCorpusTest {

  private static final int LIMIT = 32 << 20;
  private static final BodySendMode DUPLEX = BodySendMode.FULL_DUPLEX_STREAMED;
  private static final ByteString QUESTION =
      ByteString.copyFromUtf8("{\"model\":\"chat\",\"stream\":true,\"messages\":[{}]}");

  private final TestLoop loop = new TestLoop();
  private final TestPool pool =
      new TestPool(loop).configured().endpoints(endpoint("a", "10.0.0.1", 8000));
  private final BodyBudget bodies = BodyBudget.ofHeap();
  private final StreamCounters counters = new StreamCounters();
  private final StreamContext context = TestStreams.context(pool, bodies, LIMIT, counters);

  @AfterEach
  void nothingIsLeft() {
    TestStreams.assertNothingIsLeft(loop, pool, bodies, counters);
    assertThat(counters.failures()).isZero();
    assertThat(counters.protocolErrors()).isZero();
  }

  @ParameterizedTest
  @MethodSource("io.fairlead.epp.corpus.Corpus#requests")
  void aRequestIsForwardedWithTheTargetsNameAndNothingElseChanged(Corpus.Request request) {
    ByteString sent = ByteString.copyFrom(request.sent());
    for (int cut : Corpus.cuts(request.sent())) {
      FakeProxy proxy = new FakeProxy();
      ExtProcStream stream = new ExtProcStream(context, proxy, loop);
      stream.onNext(Messages.read(Messages.post()));
      stream.onNext(Messages.read(Messages.body(sent.substring(0, cut), false)));
      stream.onNext(Messages.read(Messages.body(sent.substring(cut), cut % 2 == 0)));
      stream.onNext(Messages.read(Messages.body(ByteString.EMPTY, true)));
      check(request, proxy, proxy.requestBody().isEmpty() ? null : proxy.requestBody());
      stream.onCancel();
    }
    FakeProxy proxy = new FakeProxy();
    ExtProcStream stream = new ExtProcStream(context, proxy, loop);
    stream.onNext(Messages.read(Messages.post(BodySendMode.BUFFERED, DUPLEX)));
    stream.onNext(Messages.read(Messages.body(sent, true)));
    BodyMutation changed = proxy.answers.getLast().getRequestBody().getResponse().getBodyMutation();
    check(request, proxy, changed.hasBody() ? changed.getBody() : null);
    stream.onCancel();
  }

  private static void check(Corpus.Request request, FakeProxy proxy, @Nullable ByteString body) {
    if (request.isGood()) {
      assertThat(body).isNotNull();
      assertThat(Arrays.equals(body.toByteArray(), request.forwarded())).isTrue();
    } else {
      assertThat(proxy.answers.getLast().getImmediateResponse().getBody().toStringUtf8())
          .contains("\"code\":\"" + request.outcome() + "\"");
    }
  }

  @ParameterizedTest
  @MethodSource("io.fairlead.epp.corpus.Corpus#answers")
  void anAnswerIsDeliveredWithTheNameAskedForAndItsUsageIsFound(Corpus.Answer answer) {
    for (BodySendMode mode : List.of(DUPLEX, BodySendMode.STREAMED)) {
      for (int cut : Corpus.cuts(answer.body())) {
        for (boolean trailers : new boolean[] {false, true}) {
          deliver(answer, mode, cut, trailers);
        }
      }
    }
  }

  private void deliver(Corpus.Answer answer, BodySendMode mode, int cut, boolean trailers) {
    FakeProxy proxy = new FakeProxy();
    ExtProcStream stream = new ExtProcStream(context, proxy, loop);
    stream.onNext(Messages.read(Messages.post(DUPLEX, mode)));
    stream.onNext(Messages.read(Messages.body(QUESTION, true)));
    stream.onNext(Messages.read(Messages.head(200, answer.contentType())));
    ByteString whole = ByteString.copyFrom(answer.body());
    List<ByteString> pieces = List.of(whole.substring(0, cut), whole.substring(cut));
    List<ByteString> delivered = new ArrayList<>();
    for (int i = 0; i < pieces.size(); i++) {
      int before = proxy.answers.size();
      stream.onNext(Messages.read(Messages.responseBody(pieces.get(i), i == 1 && !trailers)));
      for (ProcessingResponse out : proxy.answers.subList(before, proxy.answers.size())) {
        delivered.add(passed(out, pieces.get(i)));
      }
    }
    if (trailers) {
      stream.onNext(Messages.read(Messages.RESPONSE_TRAILERS));
    }
    ByteString all = delivered.stream().reduce(ByteString.EMPTY, ByteString::concat);
    assertThat(all.toStringUtf8())
        .as("cut at %d", cut)
        .isEqualTo(ByteString.copyFrom(answer.delivered()).toStringUtf8());
    Usage usage = pool.usages.getLast();
    assertThat(new Usage(usage.promptTokens(), usage.completionTokens(), usage.cachedTokens()))
        .as("cut at %d", cut)
        .isEqualTo(answer.usage());
    assertThat(pool.events.getLast()).isEqualTo("ended a " + answer.outcome());
    pool.events.clear();
    pool.usages.clear();
  }

  private static ByteString passed(ProcessingResponse answer, ByteString shown) {
    BodyMutation mutation = answer.getResponseBody().getResponse().getBodyMutation();
    return switch (mutation.getMutationCase()) {
      case STREAMED_RESPONSE -> mutation.getStreamedResponse().getBody();
      case BODY -> mutation.getBody();
      case CLEAR_BODY -> ByteString.EMPTY;
      case MUTATION_NOT_SET -> shown;
    };
  }
}
