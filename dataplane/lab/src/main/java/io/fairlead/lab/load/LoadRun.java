package io.fairlead.lab.load;

import io.fairlead.lab.load.Answered.Outcome;
import io.fairlead.lab.workload.Arrival;
import io.fairlead.lab.workload.RequestShape;
import io.fairlead.lab.workload.Traffic;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscribers;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends a workload's requests to a server at their own times. Those that don't wait for others in
 * the workload don't here (open loop), so that a slow server can't slow the load down and hide it;
 * what follows an answer is sent when it has come.
 */
public final class LoadRun implements AutoCloseable {

  /** The kind of failure that begins with an answer. */
  private static final String CUT = "incomplete";

  /** The kind of failure that comes with a status of 200. */
  private static final String ERROR_INSIDE = "error inside";

  private static final String NOTHING = "no answer";

  private static final int MOST_IN_FLIGHT = 4_096;
  private static final long LONGEST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(5))
          .build();
  private final URI target;
  private final LoadSettings settings;
  private final Consumer<Answered> observer;
  private final LoadRecorder recorder = new LoadRecorder();
  private final BlockingQueue<Done> done = new LinkedBlockingQueue<>();
  private volatile boolean stopped;

  /** Of the thread that sends. */
  private int inFlight;

  private long sent;

  private record Done(RequestShape request, boolean served) {}

  /**
   * A run that has not begun.
   *
   * @param base where the server is, e.g. {@code http://127.0.0.1:8080}
   */
  public LoadRun(URI base, LoadSettings settings) {
    this(base, settings, answered -> {});
  }

  /**
   * A run that has not begun.
   *
   * @param observer told of each request that is over, from any thread
   */
  public LoadRun(URI base, LoadSettings settings, Consumer<Answered> observer) {
    this.target = base.resolve("/v1/chat/completions");
    this.settings = settings;
    this.observer = observer;
  }

  /**
   * Sends requests on the caller's thread until there are no more, or as many as may be, and waits
   * for the last answer.
   *
   * @param limit most requests to send
   * @param longest time of the workload after which none is sent
   */
  public void send(Traffic traffic, long limit, Duration longest) throws InterruptedException {
    long start = System.nanoTime();
    Arrivals arrivals = new Arrivals(traffic, longest.toNanos());
    long left = limit;
    while (!stopped) {
      take(arrivals, start, 0);
      Arrival next = left == 0 ? null : arrivals.peek();
      if (next == null && inFlight == 0) {
        return;
      }
      long due = next == null ? 0 : start + (long) (next.atNanos() / settings.speed());
      long wait = next == null ? LONGEST_WAIT_NANOS : due - System.nanoTime();
      if (wait > 0 || inFlight == MOST_IN_FLIGHT) {
        take(arrivals, start, Math.clamp(wait, 1, LONGEST_WAIT_NANOS));
      } else if (next != null) {
        arrivals.remove();
        left--;
        sendOne(next.request(), start, due);
      }
    }
    while (inFlight > 0) {
      done.take();
      inFlight--;
    }
  }

  /** What has come back so far. Any thread. */
  public LoadReport report() {
    return recorder.report();
  }

  /** Sends nothing more; {@link #send} returns when what is under way has ended. Any thread. */
  public void stop() {
    stopped = true;
  }

  @Override
  public void close() {
    stop();
    client.shutdownNow();
    client.close();
  }

  /** Tells the traffic which requests are over, waiting for the first so long. */
  private void take(Arrivals arrivals, long start, long wait) throws InterruptedException {
    Done next = done.poll(wait, TimeUnit.NANOSECONDS);
    while (next != null) {
      inFlight--;
      long now = (long) ((System.nanoTime() - start) * settings.speed());
      arrivals.ended(now, next.request(), next.served());
      next = done.poll();
    }
  }

  private void sendOne(RequestShape request, long start, long due) {
    long number = sent++;
    boolean stream = new SplittableRandom(number).nextDouble() < settings.streamShare();
    HttpRequest http =
        HttpRequest.newBuilder(target)
            .timeout(settings.timeout())
            .header("content-type", "application/json")
            .POST(
                HttpRequest.BodyPublishers.ofByteArray(
                    ChatBody.of(request, number, stream, settings)))
            .build();
    // From when it was due, not from when it went: else a client that falls behind hides the wait.
    var answer = new AnswerReader(stream, due);
    recorder.sent();
    inFlight++;
    long sentAt = System.nanoTime() - start;
    CompletableFuture<HttpResponse<AnswerReader>> call =
        client.sendAsync(http, info -> BodySubscribers.fromSubscriber(answer, reader -> reader));
    // The client's own timeout ends with the head of an answer; this one with all of it.
    var _ =
        call.copy()
            .orTimeout(settings.timeout().toNanos(), TimeUnit.NANOSECONDS)
            .whenComplete(
                (response, failure) -> {
                  boolean served = false;
                  try {
                    Answered over =
                        answered(request, stream, due - start, sentAt, answer, response, failure);
                    served = over.outcome() == Outcome.SUCCEEDED;
                    recorder.over(over, answer, stream);
                    observer.accept(over);
                  } finally {
                    call.cancel(true);
                    done.add(new Done(request, served));
                  }
                });
  }

  private static Answered answered(
      RequestShape request,
      boolean stream,
      long due,
      long sent,
      AnswerReader answer,
      @Nullable HttpResponse<AnswerReader> response,
      @Nullable Throwable failure) {
    Outcome outcome = Outcome.FAILED;
    String kind = "";
    if (failure != null || response == null) {
      kind = answer.firstByteNanos() > 0 ? CUT : kind(failure);
    } else if (response.statusCode() == 429) {
      outcome = Outcome.REJECTED;
      kind = "429";
    } else if (response.statusCode() != 200) {
      kind = Integer.toString(response.statusCode());
    } else if (answer.error()) {
      kind = ERROR_INSIDE;
    } else if (!answer.complete()) {
      kind = answer.firstByteNanos() > 0 ? CUT : NOTHING;
    } else {
      outcome = Outcome.SUCCEEDED;
    }
    return new Answered(
        request,
        stream,
        Duration.ofNanos(due),
        Duration.ofNanos(sent),
        outcome,
        kind,
        Duration.ofNanos(answer.firstByteNanos()),
        header(response, "x-stub-endpoint"),
        header(response, "x-stub-model"));
  }

  private static String header(@Nullable HttpResponse<AnswerReader> response, String name) {
    return response == null ? "" : response.headers().firstValue(name).orElse("");
  }

  private static String kind(@Nullable Throwable failure) {
    if (failure == null) {
      return NOTHING;
    }
    Throwable cause = failure.getCause() instanceof IOException io ? io : failure;
    return cause.getClass().getSimpleName();
  }
}
