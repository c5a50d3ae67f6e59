package io.fairlead.crds.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fairlead.crds.access.PageAccess.Answer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who may get a page while the API server is slow, silent or has changed its mind. */
class PageAccessTest {

  private static final String PATH = "/metrics";
  private static final String READER = "Bearer reader";
  private static final Duration EXPIRED = PageAccess.ALLOWED_FOR.plusSeconds(1);

  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1);
  private final CountDownLatch storm = new CountDownLatch(1);
  private final AtomicInteger asked = new AtomicInteger();
  private final AtomicInteger held = new AtomicInteger();
  private volatile boolean silent;
  private volatile boolean granted = true;
  private HttpServer server;
  private KubernetesClient client;
  private PageAccess access;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::serve);
    server.start();
    client =
        new KubernetesClientBuilder()
            .withConfig(
                new ConfigBuilder(io.fabric8.kubernetes.client.Config.empty())
                    .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort())
                    .withRequestRetryBackoffLimit(0)
                    .build())
            .build();
    access = new PageAccess(client, now::get);
  }

  @AfterEach
  void stop() {
    storm.countDown();
    client.close();
    server.stop(0);
  }

  private void serve(HttpExchange exchange) throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    if (body.contains("garbage")) {
      held.incrementAndGet();
      awaitEnd();
    }
    asked.incrementAndGet();
    boolean who = exchange.getRequestURI().getPath().endsWith("/tokenreviews");
    String status =
        who
            ? "{\"authenticated\":" + body.contains("reader") + ",\"user\":{\"username\":\"r\"}}"
            : "{\"allowed\":" + granted + "}";
    String kind =
        who
            ? "\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\""
            : "\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\"";
    byte[] answer = ("{" + kind + ",\"status\":" + status + "}").getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(silent ? 503 : 201, answer.length);
    exchange.getResponseBody().write(answer);
    exchange.close();
  }

  private void awaitEnd() {
    try {
      storm.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void tokensThatNobodyKnowsDontLockOutWhoLatelyMight() {
    assertThat(access.ask(READER, PATH)).isEqualTo(Answer.ALLOWED);
    for (int i = 0; i < 8; i++) {
      String token = "Bearer garbage" + i;
      Thread.ofVirtual().start(() -> access.ask(token, PATH));
    }
    await().until(() -> held.get() == 8);
    assertThat(access.ask("Bearer garbage8", PATH)).as("no turn is left").isEqualTo(Answer.UNKNOWN);

    now.addAndGet(EXPIRED.toNanos());
    int before = asked.get();
    assertThat(access.ask(READER, PATH)).isEqualTo(Answer.ALLOWED);
    assertThat(asked.get()).as("it is asked anew").isEqualTo(before + 2);
  }

  @Test
  void whoLatelyMightStillMaySomeMinutesWhileTheApiServerSaysNothing() {
    assertThat(access.ask(READER, PATH)).isEqualTo(Answer.ALLOWED);
    silent = true;
    assertThat(access.ask("Bearer another reader", PATH)).isEqualTo(Answer.UNAUTHENTICATED);
    assertThat(access.ask("Bearer reader2", PATH)).isEqualTo(Answer.UNKNOWN);
    now.addAndGet(EXPIRED.toNanos());
    assertThat(access.ask(READER, PATH)).isEqualTo(Answer.ALLOWED);
    now.addAndGet(PageAccess.ALLOWED_WITHOUT_ANSWER.toNanos());
    assertThat(access.ask(READER, PATH)).isEqualTo(Answer.UNKNOWN);
    silent = false;
    assertThat(access.ask(READER, PATH)).isEqualTo(Answer.ALLOWED);
  }

  @Test
  void whoseRightWasTakenMayNotWhenTheApiServerFallsSilentThen() {
    assertThat(access.ask(READER, PATH)).isEqualTo(Answer.ALLOWED);
    granted = false;
    now.addAndGet(EXPIRED.toNanos());
    assertThat(access.ask(READER, PATH)).isEqualTo(Answer.FORBIDDEN);
    silent = true;
    now.addAndGet(PageAccess.DENIED_FOR.toNanos());
    assertThat(access.ask(READER, PATH)).isEqualTo(Answer.UNKNOWN);
  }
}
