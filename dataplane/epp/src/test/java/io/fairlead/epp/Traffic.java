package io.fairlead.epp;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

/** Clients that send one completion after the other to a gateway until closed. */
final class Traffic implements AutoCloseable {

  /** A request's end: who answered with which of its models, and what; or what went wrong. */
  record Answer(long number, int status, String endpoint, String servedBy, String body) {
    boolean ofModel(String model) {
      return servedBy.equals(model) && body.contains("\"model\":\"chat\"");
    }
  }

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final Queue<Answer> answers = new ConcurrentLinkedQueue<>();
  private final AtomicLong numbers = new AtomicLong();
  private final ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
  private final URI uri;
  private volatile boolean closed;

  Traffic(int port, int clients) {
    uri = URI.create("http://127.0.0.1:" + port + "/v1/completions");
    for (int i = 0; i < clients; i++) {
      this.clients.execute(this::run);
    }
  }

  private void run() {
    while (!closed) {
      long number = numbers.incrementAndGet();
      answers.add(send(number));
    }
  }

  private Answer send(long number) {
    try {
      HttpResponse<String> response =
          http.send(
              HttpRequest.newBuilder(uri)
                  .timeout(Duration.ofSeconds(20))
                  .header("content-type", "application/json")
                  .POST(
                      HttpRequest.BodyPublishers.ofString(
                          "{\"model\":\"chat\",\"max_tokens\":4,\"prompt\":\"p" + number + "\"}"))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      return new Answer(
          number,
          response.statusCode(),
          response.headers().firstValue("x-stub-endpoint").orElse(""),
          response.headers().firstValue("x-stub-model").orElse(""),
          response.body());
    } catch (IOException | InterruptedException e) {
      return new Answer(number, -1, "", "", e.toString());
    }
  }

  /** Waits for {@code count} answers to requests begun from now on, and gives them. */
  List<Answer> next(int count) {
    long from = numbers.get();
    await().until(() -> since(from).size() >= count);
    return since(from);
  }

  private List<Answer> since(long number) {
    return answers.stream().filter(answer -> answer.number() > number).toList();
  }

  /** Requests that did not end well, since the start. */
  List<Answer> failed() {
    return answers.stream().filter(Predicate.not(answer -> answer.status() == 200)).toList();
  }

  @Override
  public void close() {
    closed = true;
    clients.close();
    http.close();
  }
}
