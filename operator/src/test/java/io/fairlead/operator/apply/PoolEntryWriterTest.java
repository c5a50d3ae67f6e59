package io.fairlead.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.sun.net.httpserver.HttpExchange;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1.InferencePoolStatus;
import io.fairlead.crds.v1.ParentStatus;
import io.fairlead.operator.status.ConditionType;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import io.fairlead.operator.testing.ScriptedApi;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is sent where the informer shows a pool as it was before our last write. */
class PoolEntryWriterTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final String KINDS =
      """
      {"apiVersion": "v1", "kind": "APIResourceList", "groupVersion": "inference.networking.k8s.io/v1",
       "resources": [{"name": "inferencepools", "kind": "InferencePool", "namespaced": true, "verbs": []}]}
      """;

  private static final Map<ConditionType, Verdict> READY =
      Map.of(ConditionType.READY, Verdict.yes(Reason.READY, "it is"));
  private static final Map<ConditionType, Verdict> WAITS =
      Map.of(ConditionType.READY, Verdict.pending("it is not"));

  /** Methods of the requests for the pool, in their order. */
  private final List<String> requests = new CopyOnWriteArrayList<>();

  private final StatusSteps steps = new StatusSteps();
  private volatile InferencePool stored = pool("1");
  private volatile boolean refuses;

  /** As with the kind of upstream's v1.0. */
  private volatile boolean dropsControllers;

  private ScriptedApi api;
  private PoolEntryWriter entries;

  @BeforeEach
  void start() throws IOException {
    api = new ScriptedApi(this::answer);
    entries = writer();
  }

  private PoolEntryWriter writer() {
    Events events = new Events(api.client(), InstantSource.system());
    return new PoolEntryWriter(
        api.client(),
        InstantSource.system(),
        events,
        new LostEntries(System::nanoTime, new SimpleMeterRegistry()),
        new WriteLanes(),
        steps,
        new Contradictions(Duration.ofMinutes(1), System::nanoTime, (pool, why) -> {}),
        new RefusedStatuses(events, System::nanoTime));
  }

  @AfterEach
  void stop() {
    api.close();
  }

  @Test
  void whatWasWrittenIsNotWrittenAgain() {
    InferencePool seen = stored;
    write(seen, WAITS);
    write(seen, WAITS);
    assertThat(requests).containsExactly("PATCH");
    assertThat(steps.after("uid", "1")).hasValue("2");
  }

  /** Whoever took it for written would leave the pool with what was said in between. */
  @Test
  void whatIsAsItWasBeforeOurLastWriteIsWrittenBack() {
    write(stored, READY);
    InferencePool seen = stored;
    write(seen, WAITS);
    write(seen, READY);
    assertThat(requests).containsExactly("PATCH", "PATCH", "PATCH");
    assertThat(condition(stored)).isEqualTo("True");
  }

  /** The same where another has changed the pool meanwhile, and it was read. */
  @Test
  void whatIsAsItWasBeforeWeReadThePoolIsWrittenBack() {
    write(stored, READY);
    InferencePool seen = stored;
    InferencePool changed = pool("3");
    changed.setStatus(seen.getStatus());
    stored = changed;
    write(seen, WAITS);
    assertThat(requests).containsExactly("PATCH", "PATCH", "GET", "PATCH");
    write(seen, READY);
    assertThat(condition(stored)).isEqualTo("True");
  }

  /** What is there then is what is to be said. */
  @Test
  void whatWasRefusedIsToldNoMoreOnceItNeedNotBeSaid() {
    write(stored, READY);
    refuses = true;
    assertThatThrownBy(() -> write(stored, WAITS)).isInstanceOf(KubernetesClientException.class);
    assertThat(entries.refusal(stored)).isPresent();
    write(stored, READY);
    assertThat(entries.refusal(stored)).isEmpty();
  }

  @Test
  void anEntryWhoseControllerTheKindHasNoFieldForIsOurs() {
    dropsControllers = true;
    write(stored, WAITS);
    write(stored, READY);
    write(stored, READY);
    assertThat(requests).containsExactly("PATCH", "PATCH");
    assertThat(condition(stored)).isEqualTo("True");
    assertThat(entries.isThere(stored)).isTrue();
  }

  /** The kind may have the field since the entry was written. */
  @Test
  void anEntryWithoutItsControllerIsWrittenOnceMoreAfterAStart() {
    dropsControllers = true;
    write(stored, READY);
    dropsControllers = false;
    PoolEntryWriter restarted = writer();
    assertThat(restarted.write(stored, "pool-epp", READY)).isEmpty();
    assertThat(stored.getStatus().parents())
        .extracting(ParentStatus::controllerName)
        .containsExactly(ParentStatus.FAIRLEAD);
    assertThat(restarted.write(stored, "pool-epp", READY)).isEmpty();
    assertThat(requests).containsExactly("PATCH", "PATCH");
  }

  private void write(InferencePool seen, Map<ConditionType, Verdict> verdicts) {
    assertThat(entries.write(seen, "pool-epp", verdicts)).isEmpty();
  }

  private static String condition(InferencePool pool) {
    return pool.getStatus().parents().getFirst().conditions().getFirst().getStatus();
  }

  /** Takes a patch of the version that is stored, and stores its entry at the next one. */
  private void answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    if (path.equals("/apis/inference.networking.k8s.io/v1")) {
      send(exchange, 200, KINDS);
      return;
    }
    boolean event = path.contains("/events");
    if (!event) {
      requests.add(exchange.getRequestMethod());
    }
    String version = stored.getMetadata().getResourceVersion();
    int code = 200;
    byte[] request = exchange.getRequestBody().readAllBytes();
    if (!event && refuses) {
      code = 403;
    } else if (!event && exchange.getRequestMethod().equals("PATCH")) {
      JsonNode changes = JSON.readTree(request);
      if (changes.get(1).get("value").textValue().equals(version)) {
        InferencePool next = pool(String.valueOf(Integer.parseInt(version) + 1));
        ParentStatus entry = entry(changes);
        next.setStatus(
            new InferencePoolStatus(
                List.of(
                    dropsControllers
                        ? new ParentStatus(entry.parentRef(), null, entry.conditions())
                        : entry)));
        stored = next;
      } else {
        code = 409;
      }
    }
    send(exchange, code, api.client().getKubernetesSerialization().asJson(stored));
  }

  private static void send(HttpExchange exchange, int code, String json) throws IOException {
    byte[] body = json.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(code, code == 200 ? body.length : -1);
    if (code == 200) {
      exchange.getResponseBody().write(body);
    }
    exchange.close();
  }

  private static ParentStatus entry(JsonNode changes) throws IOException {
    JsonNode value = changes.get(changes.size() - 1).get("value");
    JsonNode list = value.isArray() ? value : value.get("parents");
    return JSON.treeToValue(list == null ? value : list.get(0), ParentStatus.class);
  }

  private static InferencePool pool(String version) {
    InferencePool pool = new InferencePool();
    pool.getMetadata().setUid("uid");
    pool.getMetadata().setNamespace("ns");
    pool.getMetadata().setName("pool");
    pool.getMetadata().setGeneration(1L);
    pool.getMetadata().setResourceVersion(version);
    return pool;
  }
}
