package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.memory.IncomingBody;
import io.fairlead.epp.openai.BadRequestException;
import io.fairlead.epp.openai.OpenAiError;
import io.fairlead.epp.openai.RequestContent;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What time a client has, whatever its timer was set for before; in virtual time. */
class IntakeTest {

  private static final int LARGE = 3 << 20;
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final BodyBudget bodies = new BodyBudget(4 << 20, PATIENCE);
  private final Told told = new Told();
  private final ClientBounds bounds = ClientBounds.DEFAULT;
  private final Intake intake;

  IntakeTest() {
    channel.freezeTime();
    intake = new Intake(bodies, Rig.config(), channel.eventLoop(), told);
    intake.settle(false);
  }

  @AfterEach
  void stop() {
    intake.stop();
    assertThat(bodies.used()).isZero();
    var _ = channel.close();
  }

  private static final class Told implements Intake.Owner {
    final List<String> events = new ArrayList<>();
    boolean reusable;

    @Override
    public void begun(HttpRequest head, long bytes) {
      events.add("begun");
    }

    @Override
    public void continued() {
      events.add("continued");
    }

    @Override
    public void taken(RequestContent content, IncomingBody body, HttpHeaders trailers) {
      body.release();
      events.add("taken");
    }

    @Override
    public void refused(OpenAiError error, boolean reusable) {
      this.reusable = reusable;
      events.add("refused " + error.code());
    }

    @Override
    public void passed(boolean reusable) {
      this.reusable &= reusable;
      events.add("passed");
    }

    @Override
    public void resumed() {
      events.add("resumed");
    }

    @Override
    public void tooLate() {
      events.add("too late");
    }
  }

  private static HttpRequest post(int length) {
    HttpRequest head = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, Rig.CHAT);
    head.headers().set("host", "x").set("content-type", "application/json");
    head.headers().set("content-length", length);
    return head;
  }

  private void pass(Duration time) {
    channel.advanceTimeBy(time.toNanos(), TimeUnit.NANOSECONDS);
    channel.runScheduledPendingTasks();
  }

  @Test
  void isClosedWhenIdleThoughItsTimerEndedWhileItWasServed() {
    pass(Duration.ofSeconds(1));
    intake.take(post(0));
    intake.take(LastHttpContent.EMPTY_LAST_CONTENT);
    intake.settle(false);
    pass(bounds.idle());
    assertThat(told.events).containsExactly("begun", "taken");

    intake.next();
    pass(bounds.idle().minusNanos(1));
    assertThat(told.events).doesNotContain("too late");
    pass(Duration.ofNanos(1));
    assertThat(told.events).containsExactly("begun", "taken", "too late");
  }

  @Test
  void hasToSendTheRestOfWhatIsRefusedThoughItsTimerEndedInLine() throws BadRequestException {
    IncomingBody other = new IncomingBody(bodies, channel.eventLoop(), LARGE, LARGE, new Unmoved());
    other.open();
    other.add(Unpooled.wrappedBuffer(new byte[BodyBudget.BEGINNING]), false);
    other.add(Unpooled.wrappedBuffer(new byte[LARGE - BodyBudget.BEGINNING]), true);
    pass(bounds.idle().minus(PATIENCE.dividedBy(2)));
    intake.take(post(LARGE));
    intake.take(new DefaultHttpContent(Unpooled.wrappedBuffer(new byte[BodyBudget.BEGINNING])));
    intake.settle(false);
    pass(PATIENCE.dividedBy(2));
    assertThat(told.events).containsExactly("begun");
    pass(PATIENCE.dividedBy(2));
    assertThat(told.events).containsExactly("begun", "refused body_memory_full", "resumed");

    pass(bounds.bodyWindow());
    assertThat(told.events).endsWith("too late");
    other.release();
  }

  /** The rest of it may be read for long, and of many streams at a time. */
  @Test
  void nothingIsKeptOfTheHeadOfARequestThatIsRefused() {
    HttpRequest head = post(LARGE);
    head.headers().set("foo", "x".repeat(70_000));
    intake.take(head);
    assertThat(told.events).containsExactly("begun", "refused header_fields_too_large");
    assertThat(head.headers().isEmpty()).isTrue();
  }

  /** There is room only for one of the two. */
  @Test
  void aRequestThatIsAllHereWaitsForRoomAndIsTakenOrRefused() throws BadRequestException {
    for (boolean served : new boolean[] {true, false}) {
      told.events.clear();
      IncomingBody other =
          new IncomingBody(bodies, channel.eventLoop(), LARGE, LARGE, new Unmoved());
      other.open();
      other.add(Unpooled.wrappedBuffer(new byte[LARGE]), true);
      intake.take(post(LARGE));
      intake.take(new DefaultLastHttpContent(Unpooled.wrappedBuffer(new byte[LARGE])));
      assertThat(intake.isHeld()).isTrue();
      if (served) {
        other.release();
        channel.runPendingTasks();
        assertThat(told.events).containsExactly("begun", "taken", "resumed");
      } else {
        pass(PATIENCE);
        assertThat(told.events)
            .containsExactly("begun", "refused body_memory_full", "passed", "resumed");
        other.release();
      }
      assertThat(intake.isIdle()).isTrue();
    }
  }

  /** It sends what it was told to send, so that its connection is good for another request. */
  @Test
  void whoWasToldToGoOnIsReadToTheEndThoughItIsRefused() throws BadRequestException {
    IncomingBody other = new IncomingBody(bodies, channel.eventLoop(), LARGE, LARGE, new Unmoved());
    other.open();
    other.add(Unpooled.wrappedBuffer(new byte[LARGE]), true);
    HttpRequest head = post(LARGE);
    head.headers().set("expect", "100-continue");
    intake.take(head);
    intake.take(new DefaultHttpContent(Unpooled.wrappedBuffer(new byte[BodyBudget.BEGINNING])));
    pass(PATIENCE);
    assertThat(told.events)
        .containsExactly("begun", "continued", "refused body_memory_full", "resumed");
    int left = LARGE - BodyBudget.BEGINNING;
    intake.take(new DefaultLastHttpContent(Unpooled.wrappedBuffer(new byte[left])));
    assertThat(told.events).endsWith("resumed", "passed");
    assertThat(told.reusable).isTrue();
    other.release();
  }

  @Test
  void aSlowBodyGets408WhenAnotherNeedsItsRoom() throws BadRequestException {
    intake.take(post(LARGE));
    intake.settle(false);
    pass(Duration.ofSeconds(10));
    intake.take(new DefaultHttpContent(Unpooled.wrappedBuffer(new byte[100_000])));
    IncomingBody other = new IncomingBody(bodies, channel.eventLoop(), LARGE, LARGE, new Unmoved());
    other.open();
    assertThat(other.add(Unpooled.wrappedBuffer(new byte[BodyBudget.BEGINNING]), false))
        .isEqualTo(IncomingBody.Room.AWAITED);
    pass(Duration.ofSeconds(5));
    assertThat(told.events).containsExactly("begun", "refused request_timeout", "passed");
    assertThat(bodies.waiting()).isZero();
    other.release();
    channel.runPendingTasks();
  }

  private static final class Unmoved implements IncomingBody.Owner {
    @Override
    public void roomMade() {}

    @Override
    public void roomRefused(BadRequestException why) {}

    @Override
    public void tooSlow(BadRequestException why) {}
  }
}
