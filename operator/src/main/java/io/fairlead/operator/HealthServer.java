package io.fairlead.operator;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fairlead.crds.access.PageAccess;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Serves {@code /healthz}, {@code /readyz} and {@code /metrics} over plain HTTP. */
final class HealthServer implements AutoCloseable {
  private static final int OK = 200;
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
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/healthz", exchange -> check(exchange, healthy));
    server.createContext("/readyz", exchange -> check(exchange, ready));
    server.createContext(
        "/metrics",
        exchange -> {
          if (access == null || allowed(exchange, access)) {
            answer(exchange, OK, "text/plain; version=0.0.4", metrics.scrape());
          }
        });
    server.start();
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
