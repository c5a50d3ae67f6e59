package io.fairlead.operator.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.internal.SSLUtils;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;

/**
 * A way to the API server on which a third of what is asked fails while it is meant to: with 429
 * and when to come again, with 500, and with 500 after the API server has done what was asked.
 */
public final class Overload implements AutoCloseable {
  private static final int EVERY = 3;

  private static final Set<String> OF_CONNECTIONS =
      Set.of(
          "connection",
          "content-length",
          "host",
          "upgrade",
          "http2-settings",
          "expect",
          "transfer-encoding");

  private final URI server;
  private final HttpClient http;
  private final HttpServer way;
  private final AtomicInteger asked = new AtomicInteger();
  private final AtomicInteger failed = new AtomicInteger();
  private volatile boolean failing;

  /** Leads to the API server of this client, and fails at nothing. */
  public Overload(Config there) {
    server = URI.create(there.getMasterUrl());
    try {
      SSLContext context =
          SSLUtils.sslContext(SSLUtils.keyManagers(there), SSLUtils.trustManagers(there));
      http =
          HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).sslContext(context).build();
      way = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
    way.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    way.createContext("/", this::handle);
    way.start();
  }

  /** The same API server by this way. */
  public Config through(Config config) {
    config.setMasterUrl("http://127.0.0.1:" + way.getAddress().getPort() + "/");
    return config;
  }

  /** From now on a third fails. */
  public void begin() {
    asked.set(0);
    failing = true;
  }

  /** All is well again. */
  public void end() {
    failing = false;
  }

  /** What was asked since it began. */
  public int asked() {
    return asked.get();
  }

  private void handle(HttpExchange exchange) {
    try (exchange) {
      if ("websocket".equalsIgnoreCase(exchange.getRequestHeaders().getFirst("Upgrade"))) {
        answer(exchange, 503, "no watches over web sockets"); // clients then watch over HTTP
        return;
      }
      boolean fails = asked.incrementAndGet() % EVERY == 0 && failing;
      int kind = fails ? failed.incrementAndGet() % EVERY : 0;
      if (fails && kind == 0) {
        exchange.getResponseHeaders().add("Retry-After", "1");
        answer(exchange, 429, "too many requests");
      } else if (fails && kind == 1) {
        answer(exchange, 500, "it failed");
      } else {
        pass(exchange, fails);
      }
    } catch (IOException | UncheckedIOException e) {
      // One side has gone; the other goes, too.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void pass(HttpExchange exchange, boolean fails) throws IOException, InterruptedException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    HttpRequest.Builder request =
        HttpRequest.newBuilder(server.resolve(exchange.getRequestURI().toString()))
            .method(
                exchange.getRequestMethod(),
                body.length == 0
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofByteArray(body));
    exchange
        .getRequestHeaders()
        .forEach(
            (name, values) -> {
              if (!OF_CONNECTIONS.contains(name.toLowerCase(Locale.ROOT))) {
                values.forEach(value -> request.header(name, value));
              }
            });
    HttpResponse<InputStream> response =
        http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
    try (InputStream in = response.body()) {
      if (fails) {
        answer(exchange, 500, "it failed after it was done");
        return;
      }
      response
          .headers()
          .map()
          .forEach(
              (name, values) -> {
                if (!OF_CONNECTIONS.contains(name.toLowerCase(Locale.ROOT))) {
                  exchange.getResponseHeaders().put(name, List.copyOf(values));
                }
              });
      exchange.sendResponseHeaders(response.statusCode(), 0);
      try (OutputStream out = exchange.getResponseBody()) {
        out.flush(); // a watch has begun with its head, and may have nothing to tell for long
        byte[] buffer = new byte[1 << 16];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
          out.write(buffer, 0, n);
          out.flush();
        }
      }
    }
  }

  private static void answer(HttpExchange exchange, int code, String message) throws IOException {
    byte[] status =
        """
        {"kind":"Status","apiVersion":"v1","status":"Failure","message":"%s","code":%d}
        """
            .formatted(message, code)
            .getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(code, status.length);
    exchange.getResponseBody().write(status);
  }

  @Override
  public void close() {
    way.stop(0);
    http.shutdownNow();
  }
}
