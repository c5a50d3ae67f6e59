package io.fairlead.lab.load;

import io.fairlead.lab.workload.WorkloadRequest;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscribers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests at their own times whatever becomes of the earlier ones (open loop), so that a
 * slow server can't slow the load down and hide it.
 */
public final class LoadRun implements AutoCloseable {

  private static final int MOST_IN_FLIGHT = 4_096;

  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(5))
          .build();
  private final URI target;
  private final Duration timeout;
  private final LoadRecorder recorder = new LoadRecorder();
  private final Semaphore inFlight = new Semaphore(MOST_IN_FLIGHT);
  private final AtomicBoolean stopped = new AtomicBoolean();

  /**
   * A run that has not begun.
   *
   * @param base where the server is, e.g. {@code http://127.0.0.1:8080}
   * @param timeout longest wait for a whole answer
   */
  public LoadRun(URI base, Duration timeout) {
    this.target = base.resolve("/v1/chat/completions");
    this.timeout = timeout;
  }

  /** Sends all of them, on the caller's thread, and waits for the last answer. */
  public void send(List<WorkloadRequest> requests) throws InterruptedException {
    long start = System.nanoTime();
    for (WorkloadRequest request : requests) {
      HttpRequest http = http(request);
      long due = start + request.atNanos();
      if (!waitUntil(due)) {
        break;
      }
      inFlight.acquire();
      sendOne(request, http, due);
    }
    inFlight.acquire(MOST_IN_FLIGHT);
    inFlight.release(MOST_IN_FLIGHT);
  }

  /** What has come back so far. */
  public LoadReport report() {
    return recorder.report();
  }

  /** Sends nothing more; {@link #send} returns when what is under way has ended. */
  public void stop() {
    stopped.set(true);
  }

  @Override
  public void close() {
    stop();
    client.shutdownNow();
    client.close();
  }

  private boolean waitUntil(long time) {
    long left = time - System.nanoTime();
    while (left > 0 && !stopped.get() && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(Math.min(left, 50_000_000));
      left = time - System.nanoTime();
    }
    return !stopped.get() && !Thread.currentThread().isInterrupted();
  }

  private HttpRequest http(WorkloadRequest request) {
    return HttpRequest.newBuilder(target)
        .timeout(timeout)
        .header("content-type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofByteArray(ChatBody.of(request)))
        .build();
  }

  private void sendOne(WorkloadRequest request, HttpRequest http, long due) {
    // From when it was due, not from when it went: else a client that falls behind hides the wait.
    var answer = new AnswerReader(due);
    recorder.sent();
    var _ =
        client
            .sendAsync(http, info -> BodySubscribers.fromSubscriber(answer, AnswerReader::bytes))
            .whenComplete((response, failure) -> done(request, answer, response, failure));
  }

  private void done(
      WorkloadRequest request,
      AnswerReader answer,
      @Nullable HttpResponse<byte[]> response,
      @Nullable Throwable failure) {
    try {
      if (failure != null || response == null) {
        recorder.failed(kind(failure));
      } else if (response.statusCode() == 429) {
        recorder.rejected();
      } else if (response.statusCode() != 200) {
        recorder.failed(Integer.toString(response.statusCode()));
      } else if (!answer.complete(request.stream())) {
        recorder.failed("incomplete");
      } else {
        recorder.succeeded(
            response.headers().firstValue("x-stub-endpoint").orElse(""),
            answer.model(),
            answer.firstByteNanos(),
            answer.lastByteNanos());
      }
    } finally {
      inFlight.release();
    }
  }

  private static String kind(@Nullable Throwable failure) {
    if (failure == null) {
      return "no answer";
    }
    Throwable cause = failure.getCause() instanceof IOException io ? io : failure;
    return cause.getClass().getSimpleName();
  }
}
