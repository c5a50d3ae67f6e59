package io.fairlead.operator.apply;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.api.model.Condition;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.status.ConditionList;
import io.fairlead.operator.status.ConditionType;
import io.fairlead.operator.status.Notice;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import io.fairlead.operator.testing.ScriptedApi;
import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class EventsTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final String GONE =
      """
      {"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": 404, "reason": "NotFound",
       "message": "namespaces \"gone\" not found", "details": {"name": "gone", "kind": "namespaces"}}
      """;

  private final Logger logger = (Logger) LoggerFactory.getLogger(Events.class);
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();

  @BeforeEach
  void listen() {
    log.list = new CopyOnWriteArrayList<>();
    log.start();
    logger.addAppender(log);
  }

  @AfterEach
  void leave() {
    logger.detachAppender(log);
  }

  /** Each pool in it has a dozen transitions on its way out, and nobody is to do anything. */
  @Test
  void anEventOfANamespaceThatIsBeingDeletedIsMissedByNobody() throws IOException {
    try (ScriptedApi api =
        new ScriptedApi(
            exchange -> {
              boolean leaving = exchange.getRequestURI().getPath().contains("/leaving/");
              byte[] body = refusal(leaving ? "NamespaceTerminating" : "Other").getBytes(UTF_8);
              exchange.sendResponseHeaders(403, body.length);
              exchange.getResponseBody().write(body);
              exchange.close();
            })) {
      Events events = new Events(api.client(), InstantSource.system());
      events.warn(pool("leaving"), Notice.REPAIRED, "first");
      events.warn(pool("staying"), Notice.REPAIRED, "second");
      // They are sent in their order.
      await().until(() -> !notWritten().isEmpty());
      assertThat(notWritten()).singleElement().asString().contains("/namespaces/staying/");
    }
  }

  /** What waits is of the same namespace mostly, and each of it would be one more question. */
  @Test
  void ofANamespaceThatIsGoneOneEventIsSentAndNothingIsSaid() throws IOException {
    List<String> asked = new CopyOnWriteArrayList<>();
    CountDownLatch waiting = new CountDownLatch(1);
    try (ScriptedApi api =
        new ScriptedApi(
            exchange -> {
              asked.add(exchange.getRequestURI().getPath());
              try {
                waiting.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              byte[] body = GONE.getBytes(UTF_8);
              exchange.sendResponseHeaders(404, body.length);
              exchange.getResponseBody().write(body);
              exchange.close();
            })) {
      Events events = new Events(api.client(), InstantSource.system());
      events.warn(pool("gone"), Notice.REPAIRED, "first");
      events.warn(pool("gone"), Notice.REPAIRED, "second");
      events.warn(pool("other"), Notice.REPAIRED, "third");
      waiting.countDown();
      await().until(() -> asked.stream().anyMatch(path -> path.contains("/other/")));
      assertThat(asked).hasSize(2);
      assertThat(notWritten()).isEmpty();
    }
  }

  /** A pool at its limit is full and has room several times a minute, for hours. */
  @Test
  void ofAPoolThatIsFullAndHasRoomInTurnItIsToldRarely() throws IOException {
    List<String> sent = new CopyOnWriteArrayList<>();
    try (ScriptedApi api =
        new ScriptedApi(
            exchange -> {
              sent.add(
                  JSON.readTree(exchange.getRequestBody().readAllBytes()).at("/reason").asText());
              byte[] body = "{\"kind\": \"Event\", \"apiVersion\": \"v1\"}".getBytes(UTF_8);
              exchange.getResponseHeaders().add("Content-Type", "application/json");
              exchange.sendResponseHeaders(201, body.length);
              exchange.getResponseBody().write(body);
              exchange.close();
            })) {
      Events events = new Events(api.client(), InstantSource.system());
      InferencePool pool = pool("busy");
      pool.getMetadata().setUid("uid");
      List<Condition> room = saturated(Verdict.no(Reason.ROOM_FOR_REQUESTS, "room"));
      List<Condition> full = saturated(Verdict.yes(Reason.EVERY_ENDPOINT_FULL, "full"));
      for (int i = 0; i < 5; i++) {
        events.tell(pool, room, full);
        events.tell(pool, full, room);
      }
      events.warn(pool, Notice.REPAIRED, "the last one: they are sent in their order");
      await().until(() -> sent.contains("Repaired"));
      assertThat(sent).containsExactly("EveryEndpointFull", "RoomForRequests", "Repaired");
    }
  }

  private static List<Condition> saturated(Verdict verdict) {
    return ConditionList.merge(
        List.of(), Map.of(ConditionType.SATURATED, verdict), 1, Instant.EPOCH);
  }

  private static String refusal(String cause) {
    return """
        {"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": 403, "reason": "Forbidden",
         "details": {"kind": "events", "causes": [{"reason": "%s", "field": "metadata.namespace"}]}}
        """
        .formatted(cause);
  }

  private List<String> notWritten() {
    return log.list.stream()
        .map(ILoggingEvent::getFormattedMessage)
        .filter(line -> line.contains("could not be written"))
        .toList();
  }

  private static InferencePool pool(String namespace) {
    InferencePool pool = new InferencePool();
    pool.getMetadata().setNamespace(namespace);
    pool.getMetadata().setName("pool");
    return pool;
  }
}
