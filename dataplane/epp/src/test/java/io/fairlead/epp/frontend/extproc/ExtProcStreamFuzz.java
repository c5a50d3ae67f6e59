package io.fairlead.epp.frontend.extproc;

import static io.fairlead.epp.frontend.extproc.TestPool.endpoint;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.fairlead.epp.memory.BodyBudget;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Any sequence of what can happen to a stream: no error of ours, one end at most, and nothing is
 * left of it. Each byte of an input is an event; the first two are the modes.
 */
class ExtProcStreamFuzz {

  private static final String EVENTS = "DBPNS hgslobctejxyzHVFWwiEdTnrRaAuLQkK";
  private static final String CHAT =
      "{\"model\":\"chat\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";

  @FuzzTest
  void anySequenceEndsAndLeavesNothing(byte[] events) {
    run(new String(events, StandardCharsets.ISO_8859_1));
  }

  @Test
  void randomSequencesEndAndLeaveNothing() {
    for (long seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      StringBuilder events = new StringBuilder();
      events.append("DBPN".charAt(random.nextInt(4))).append("DSBN".charAt(random.nextInt(4)));
      events.append(random.nextInt(8) == 0 ? "" : random.nextBoolean() ? "hbeV" : "h");
      for (int i = random.nextInt(16); i > 0; i--) {
        events.append(EVENTS.charAt(random.nextInt(EVENTS.length())));
      }
      run(events.toString());
    }
  }

  private static void run(String events) {
    TestLoop loop = new TestLoop();
    TestPool pool = new TestPool(loop).configured().endpoints(endpoint("a", "10.0.0.1", 8000));
    BodyBudget bodies = new BodyBudget(1 << 20, Duration.ofSeconds(10));
    StreamCounters counters = new StreamCounters();
    StreamContext context = TestStreams.context(pool, bodies, 700_000, counters);
    FakeProxy proxy = new FakeProxy();
    ExtProcStream stream = new ExtProcStream(context, proxy, loop);
    BodySendMode request = mode(events.isEmpty() ? 'D' : events.charAt(0));
    BodySendMode response = mode(events.length() < 2 ? 'D' : events.charAt(1));
    ExtProcStream other = new ExtProcStream(context, new FakeProxy(), loop);
    for (int i = 2; i < Math.min(events.length(), 64); i++) {
      happen(events.charAt(i), request, response, stream, other, proxy, loop);
    }
    stream.onCancel();
    other.onCancel();
    assertThat(pool.active()).as(events).isEqualTo(pool.left());
    assertThat(bodies.used()).as(events).isZero();
    assertThat(bodies.waiting()).as(events).isZero();
    assertThat(counters.active()).as(events).isZero();
    assertThat(counters.failures()).as(events).isZero();
    assertThat(loop.hasTimer()).as(events).isFalse();
    assertThat(proxy.ends).as(events).isLessThanOrEqualTo(1);
  }

  private static void happen(
      char event,
      BodySendMode request,
      BodySendMode response,
      ExtProcStream stream,
      ExtProcStream other,
      FakeProxy proxy,
      TestLoop loop) {
    switch (event) {
      case 'h' -> stream.onNext(Messages.read(Messages.post(request, response)));
      case 'g' -> stream.onNext(Messages.read(Messages.get()));
      case 's' -> stream.onNext(Messages.read(large(request, response)));
      case 'l' -> other.onNext(Messages.read(large(request, response)));
      case 'o' -> other.onCancel();
      case 'b' -> stream.onNext(Messages.read(Messages.body(CHAT, false)));
      case 'c' -> stream.onNext(Messages.read(Messages.body(CHAT.substring(0, 20), false)));
      case 'd' -> stream.onNext(Messages.read(Messages.body(CHAT.substring(20), true)));
      case 'x' ->
          stream.onNext(
              Messages.read(Messages.body(ByteString.copyFrom(new byte[300_000]), false)));
      case 'e' -> stream.onNext(Messages.read(Messages.body("", true)));
      case 't' -> stream.onNext(Messages.read(Messages.REQUEST_TRAILERS));
      case 'H' -> stream.onNext(Messages.read(Messages.status(200, false)));
      case 'j' -> stream.onNext(Messages.read(Messages.status(200, true)));
      case 'V' -> stream.onNext(Messages.read(Messages.events()));
      case 'F' -> stream.onNext(Messages.read(Messages.status(503, false)));
      case 'W' ->
          stream.onNext(Messages.read(Messages.responseBody("data: {\"model\":\"llam", false)));
      case 'w' ->
          stream.onNext(Messages.read(Messages.responseBody("a-v2\",\"usage\":{}}\n\n", false)));
      case 'i' -> stream.onNext(Messages.read(Messages.responseBody("", false)));
      case 'E' -> stream.onNext(Messages.read(Messages.responseBody("x", true)));
      case 'y' -> stream.onNext(Messages.read(Messages.responseBody("", true)));
      case 'T' -> stream.onNext(Messages.read(Messages.RESPONSE_TRAILERS));
      case 'n' -> stream.onNext(Messages.read(ProcessingRequest.getDefaultInstance()));
      case 'r' -> proxy.ready = !proxy.ready;
      case 'R' -> stream.onReady();
      case 'a' -> loop.advance(Duration.ofMillis(2));
      case 'A' -> loop.advance(Duration.ofSeconds(11));
      case 'u' -> loop.advance(Duration.ofSeconds(60));
      case 'L' -> stream.leave();
      case 'U' -> stream.leaveUnanswered();
      case 'Q' -> stream.endNow();
      case 'k' -> stream.onCancel();
      case 'K' -> stream.onCompleted();
      default -> {}
    }
  }

  private static ProcessingRequest large(BodySendMode request, BodySendMode response) {
    return Messages.post(
        request, response, "content-type", "application/json", "content-length", "700000");
  }

  private static BodySendMode mode(char name) {
    return switch (name) {
      case 'B' -> BodySendMode.BUFFERED;
      case 'P' -> BodySendMode.BUFFERED_PARTIAL;
      case 'N' -> BodySendMode.NONE;
      case 'S' -> BodySendMode.STREAMED;
      default -> BodySendMode.FULL_DUPLEX_STREAMED;
    };
  }
}
