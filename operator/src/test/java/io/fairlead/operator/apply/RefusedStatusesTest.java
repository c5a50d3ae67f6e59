package io.fairlead.operator.apply;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.status.Notice;
import io.fairlead.operator.testing.ScriptedApi;
import java.io.IOException;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RefusedStatusesTest {
  private static final JsonMapper JSON = new JsonMapper();

  /** As where it names the port that a connection came from, or the time. */
  @Test
  void whatIsSaidInOtherWordsEachTimeIsNotToldEachTime() throws IOException {
    List<String> sent = new CopyOnWriteArrayList<>();
    try (ScriptedApi api =
        new ScriptedApi(
            exchange -> {
              sent.add(
                  JSON.readTree(exchange.getRequestBody().readAllBytes()).at("/message").asText());
              byte[] body = "{\"kind\": \"Event\", \"apiVersion\": \"v1\"}".getBytes(UTF_8);
              exchange.getResponseHeaders().add("Content-Type", "application/json");
              exchange.sendResponseHeaders(201, body.length);
              exchange.getResponseBody().write(body);
              exchange.close();
            })) {
      Events events = new Events(api.client(), InstantSource.system());
      AtomicLong nanos = new AtomicLong();
      RefusedStatuses refused = new RefusedStatuses(events, nanos::get);
      InferencePool pool = new InferencePool();
      pool.getMetadata().setNamespace("ns");
      pool.getMetadata().setName("pool");
      pool.getMetadata().setUid("uid");
      for (int port = 0; port < 60; port++) {
        refused.refused(pool, new KubernetesClientException("read from port " + port, 500, null));
        nanos.addAndGet(1_000_000_000L);
      }
      String told = refused.told(pool).orElseThrow();
      events.warn(pool, Notice.REPAIRED, "the last one");
      await().until(() -> sent.contains("the last one"));
      assertThat(sent).hasSizeBetween(2, 5);
      assertThat(told).isEqualTo(sent.get(sent.size() - 2));
    }
  }
}
