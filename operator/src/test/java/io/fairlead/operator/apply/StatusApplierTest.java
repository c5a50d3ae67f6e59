package io.fairlead.operator.apply;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.status.ConditionType;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import io.fairlead.operator.testing.ScriptedApi;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is sent of a status where looks at an object overtake each other. */
class StatusApplierTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final Map<ConditionType, Verdict> OLD =
      Map.of(ConditionType.ACCEPTED, Verdict.yes(Reason.ACCEPTED, "of one pool"));
  private static final Map<ConditionType, Verdict> NEW =
      Map.of(ConditionType.ACCEPTED, Verdict.pending("of another pool"));

  private final List<String> asked = new CopyOnWriteArrayList<>();
  private volatile InferenceModel there = model("5", 2);
  private volatile boolean conflicts;
  private ScriptedApi api;
  private StatusApplier statuses;

  @BeforeEach
  void start() throws IOException {
    api = new ScriptedApi(this::answer);
    Events events = new Events(api.client(), InstantSource.system());
    statuses =
        new StatusApplier(
            api.client(),
            InstantSource.system(),
            events,
            new WriteLanes(),
            new StatusSteps(),
            new Contradictions(Duration.ofMinutes(1), System::nanoTime, (object, why) -> {}),
            new RefusedStatuses(events, System::nanoTime));
  }

  @AfterEach
  void stop() {
    api.close();
  }

  /** A look at thousands of models lasts, and one that is edited meanwhile is another pool's. */
  @Test
  void aLookThatSawAnOlderGenerationSaysNothingOfANewerOne() {
    assertThat(statuses.write(model("5", 2), NEW)).isEmpty();
    assertThat(statuses.write(model("4", 1), OLD)).isEmpty();
    assertThat(asked).containsExactly("PATCH");
  }

  @Test
  void whatIsFoundToHaveBeenEditedIsLeftToTheNextLook() {
    conflicts = true;
    assertThat(statuses.write(model("4", 1), OLD)).isEmpty();
    assertThat(asked).containsExactly("PATCH", "GET");
  }

  /**
   * After an outage informers list again one by one, while those that have look again and again.
   */
  @Test
  void whatIsFoundToHaveBeenEditedIsAskedForOnce() {
    conflicts = true;
    for (int look = 0; look < 10; look++) {
      assertThat(statuses.write(model("4", 1), OLD)).isEmpty();
    }
    assertThat(asked).containsExactly("PATCH", "GET");

    conflicts = false;
    assertThat(statuses.write(model("5", 2), NEW)).isEmpty();
    assertThat(asked).containsExactly("PATCH", "GET", "PATCH");
  }

  /** Takes every status for the object that is there, at the next version. */
  private void answer(HttpExchange exchange) throws IOException {
    byte[] request = exchange.getRequestBody().readAllBytes();
    if (!exchange.getRequestURI().getPath().contains("/inferencemodels/")) {
      exchange.sendResponseHeaders(403, -1);
      exchange.close();
      return;
    }
    asked.add(exchange.getRequestMethod());
    boolean patch = exchange.getRequestMethod().equals("PATCH");
    if (patch && conflicts) {
      exchange.sendResponseHeaders(409, -1);
      exchange.close();
      return;
    }
    ObjectNode left = JSON.valueToTree(there);
    if (patch) {
      left.set("status", JSON.readTree(request).path("status"));
      left.withObject("/metadata").put("resourceVersion", "6");
    }
    byte[] body = left.toString().getBytes(UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  private static InferenceModel model(String version, long generation) {
    InferenceModel model = new InferenceModel();
    model.getMetadata().setUid("uid");
    model.getMetadata().setNamespace("ns");
    model.getMetadata().setName("chat");
    model.getMetadata().setGeneration(generation);
    model.getMetadata().setResourceVersion(version);
    return model;
  }
}
