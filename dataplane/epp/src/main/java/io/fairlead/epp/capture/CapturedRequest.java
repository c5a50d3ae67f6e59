package io.fairlead.epp.capture;

import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.core.external.Advice;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * One request being captured. Its methods are called on the pool's loop right before the core is
 * told the same, and from within the core's effects; nothing changes any more once it is over.
 */
public final class CapturedRequest implements Line {

  private static final int WEIGHT = 768;
  private static final int TEXT_WEIGHT = 64;

  /** Something that the core was told of the request, and what it did then. */
  static final class Event {
    final String kind;

    /** When; of progress again and again. */
    final EventRun run;

    final long at;

    /** How an attempt failed. */
    final @Nullable Failure failure;

    /** Where an external scheduler wants it from then on. */
    final @Nullable Advice advice;

    /** Which endpoint answers, where a proxy has sent it there by itself. */
    @Nullable String answeredBy;

    @Nullable Route route;
    @Nullable Rejection rejection;
    boolean passed;

    Event(long seq, long at, String kind, @Nullable Failure failure, @Nullable Advice advice) {
      this.run = new EventRun(seq, at);
      this.at = at;
      this.kind = kind;
      this.failure = failure;
      this.advice = advice;
    }
  }

  private final Capture capture;
  private final RequestFacts facts;
  private final ReadHeaders headers;
  private final List<Event> events = new ArrayList<>(3);
  private Usage usage = Usage.UNKNOWN;
  private String outcome = CaptureFields.OPEN;

  /** The newest word of the external scheduler. */
  private @Nullable Advice newest;

  private boolean over;

  CapturedRequest(
      Capture capture, long now, RequestFacts given, @Nullable Advice advice, ReadHeaders headers) {
    this.capture = capture;
    this.headers = headers;
    facts =
        new RequestFacts(
            given.id(),
            given.model(),
            given.seed(),
            given.blocks(),
            given.prompt(),
            given.maxOutputTokens(),
            given.answers(),
            given.bodyBytes(),
            given.delivery(),
            given.timeouts(),
            headers,
            given.subset(),
            given.tokens());
    newest = advice;
    event(now, CaptureFields.ARRIVED, null, advice);
  }

  /** What to give to the core in place of what it would have got: the same, watched. */
  public RequestFacts facts() {
    return facts;
  }

  /** The core sends it there. */
  public void sent(Route route) {
    if (!over) {
      effect().route = route;
    }
  }

  /** The core has the client given what the endpoint answered. */
  public void passed() {
    if (!over) {
      effect().passed = true;
    }
  }

  /** The core turns it away. */
  public void rejected(Rejection rejection) {
    if (!over) {
      effect().rejection = rejection;
      outcome = CaptureFields.REJECTED;
      finish();
    }
  }

  /**
   * The event that the core does something in: the request's own if that is what the core was told
   * last, else one of its own.
   */
  private Event effect() {
    if (events.getLast().run.last() != capture.lastSeq()) {
      events.add(new Event(capture.nextSeq(), capture.at(), CaptureFields.DECIDED, null, null));
    }
    return events.getLast();
  }

  /** The core is about to be told so. */
  public void attemptFailed(long now, Failure failure) {
    event(now, CaptureFields.ATTEMPT_FAILED, failure);
  }

  /** The core is about to be told so. */
  public void answeredBy(long now, String destination) {
    event(now, CaptureFields.ANSWERED_BY, null);
    if (!over) {
      events.getLast().answeredBy = destination;
    }
  }

  /** The core is about to be told so. */
  public void firstByte(long now) {
    event(now, CaptureFields.FIRST_BYTE, null);
  }

  /** The core is about to be told so. */
  public void answering(long now) {
    event(now, CaptureFields.ANSWERING, null);
  }

  /** The core is about to be told so. */
  public void progress(long now) {
    Event last = events.getLast();
    if (!over && last.kind.equals(CaptureFields.PROGRESS)) {
      last.run.add(capture.nextSeq(), capture.told(now));
    } else {
      event(now, CaptureFields.PROGRESS, null);
    }
  }

  /** The core is about to be told so. */
  public void heldUp(long now, boolean held) {
    event(now, held ? CaptureFields.HELD_UP : CaptureFields.GOES_ON, null);
  }

  /** The core is about to be told so. */
  public void left(long now) {
    event(now, CaptureFields.LEFT, null);
  }

  /** The core is told so; called again, nothing happens. */
  public void ended(long now, Outcome how, Usage reported) {
    if (!over) {
      event(now, CaptureFields.ENDED, null);
      outcome = how.code();
      usage = reported;
      finish();
    }
  }

  /** The core takes it for over, in an event of its pool. */
  public void presumedOver(long now) {
    if (!over) {
      event(now, CaptureFields.PRESUMED_OVER, null);
      outcome = Outcome.COMPLETED.code();
      finish();
    }
  }

  /** The capture ends before the request does. */
  void leaveOpen() {
    over = true;
  }

  /**
   * The core is about to be told that an external scheduler has another word on it. The same once
   * more changes nothing, and is not kept: of who waits for long there are many.
   *
   * @param advice null for none any more
   */
  public void advised(long now, @Nullable Advice advice) {
    if (!Objects.equals(newest, advice)) {
      newest = advice;
      event(now, CaptureFields.ADVISED, null, advice);
    }
  }

  private void event(long now, String kind, @Nullable Failure failure) {
    event(now, kind, failure, null);
  }

  private void event(long now, String kind, @Nullable Failure failure, @Nullable Advice advice) {
    if (!over) {
      events.add(new Event(capture.nextSeq(), capture.told(now), kind, failure, advice));
    }
  }

  private void finish() {
    over = true;
    capture.finished(this);
  }

  List<Event> events() {
    return events;
  }

  Usage usage() {
    return usage;
  }

  /** Code of an {@link Outcome}, or one of {@link CaptureFields}. */
  String outcome() {
    return outcome;
  }

  SortedMap<String, String> headers() {
    return headers.written();
  }

  List<String> withheld() {
    return headers.withheld();
  }

  @Override
  public int weight() {
    long weight = WEIGHT + (long) facts.blocks().length * Long.BYTES;
    for (Event event : events) {
      weight += event.run.weight() + (event.advice == null ? 0 : event.advice.bytes());
    }
    for (Map.Entry<String, String> header : headers.written().entrySet()) {
      weight += weight(header.getKey()) + weight(header.getValue());
    }
    for (String name : headers.withheld()) {
      weight += weight(name);
    }
    if (facts.subset() != null) {
      for (String entry : facts.subset().entries()) {
        weight += weight(entry);
      }
    }
    if (facts.tokens() != null) {
      weight += (long) facts.tokens().keys().length * Long.BYTES;
    }
    return Math.clamp(weight, 0, Integer.MAX_VALUE);
  }

  private static int weight(String text) {
    return TEXT_WEIGHT + Character.BYTES * text.length();
  }
}
