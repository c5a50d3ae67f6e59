package io.fairlead.operator;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import io.fairlead.crds.access.PageAccess;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Serves {@code /healthz}, {@code /readyz} and {@code /metrics} over plain HTTP. */
final class HealthServer implements AutoCloseable {
  /**
   * What a request may take, from its first byte to the last of the answer: somebody who sends
   * nothing more would be waited for for ever.
   */
  private static final Duration LONGEST = Duration.ofSeconds(5);

  private static final Executor LATER =
      CompletableFuture.delayedExecutor(LONGEST.toMillis(), TimeUnit.MILLISECONDS);
  private static final int OK = 200;
  private static final int NOT_FOUND = 404;
  private static final int UNAVAILABLE = 503;

  private final HttpServer server;

  /**
   * Starts at once.
   *
   * @param port 0 for any free one
   * @param access says who may get the metrics; null for everybody
   */
  HealthServer(
      int port,
      BooleanSupplier healthy,
      BooleanSupplier ready,
      PrometheusMeterRegistry metrics,
      @Nullable PageAccess access) {
    try {
      server = HttpServer.create(new InetSocketAddress(port), 0);
    } catch (IOException e) {
      throw new UncheckedIOException("port %d of --port cannot be served".formatted(port), e);
    }
    server.setExecutor(
        request -> {
          Thread serving = Thread.ofVirtual().name("health").start(request);
          // Which closes its connection, where it still reads or writes.
          LATER.execute(serving::interrupt);
        });
    page("/healthz", exchange -> check(exchange, healthy));
    page("/readyz", exchange -> check(exchange, ready));
    page(
        "/metrics",
        exchange -> {
          if (access == null || allowed(exchange, access)) {
            answer(exchange, OK, "text/plain; version=0.0.4", metrics.scrape());
          }
        });
    server.start();
  }

  /** Of this path alone: a context has all below it, and all that begins like it. */
  private void page(String path, HttpHandler handler) {
    server.createContext(
        path,
        exchange -> {
          if (exchange.getRequestURI().getPath().equals(path)) {
            handler.handle(exchange);
          } else {
            answer(exchange, NOT_FOUND, "text/plain", "not found\n");
          }
        });
  }

  int port() {
    return server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
  }

  private static boolean allowed(HttpExchange exchange, PageAccess access) throws IOException {
    String path = exchange.getRequestURI().getPath();
    PageAccess.Answer answer =
        access.ask(exchange.getRequestHeaders().getFirst("Authorization"), path);
    if (answer == PageAccess.Answer.ALLOWED) {
      return true;
    }
    if (answer == PageAccess.Answer.UNAUTHENTICATED) {
      exchange.getResponseHeaders().set("WWW-Authenticate", "Bearer");
    }
    answer(exchange, answer.status(), "text/plain", path + " " + answer.message() + "\n");
    return false;
  }

  private static void check(HttpExchange exchange, BooleanSupplier good) throws IOException {
    boolean ok = good.getAsBoolean();
    answer(exchange, ok ? OK : UNAVAILABLE, "text/plain", ok ? "ok\n" : "not ok\n");
  }

  private static void answer(HttpExchange exchange, int code, String type, String body)
      throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.sendResponseHeaders(code, bytes.length);
    try (var out = exchange.getResponseBody()) {
      out.write(bytes);
    }
  }
}
