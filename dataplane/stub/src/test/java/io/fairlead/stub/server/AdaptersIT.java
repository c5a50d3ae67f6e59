package io.fairlead.stub.server;

import static io.fairlead.stub.server.Stubs.CHAT;
import static io.fairlead.stub.server.Stubs.chat;
import static io.fairlead.stub.server.Stubs.instant;
import static io.fairlead.stub.server.Stubs.json;
import static io.fairlead.stub.server.Stubs.slow;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.stub.profile.EngineProfiles;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** LoRA adapters that are loaded and unloaded while the server runs. */
final class AdaptersIT {

  private static final String LOAD = "/v1/load_lora_adapter";
  private static final String UNLOAD = "/v1/unload_lora_adapter";
  private static final String FRENCH = "{\"lora_name\":\"french\",\"lora_path\":\"/french\"}";

  private final Stubs stubs = new Stubs(1);

  @AfterEach
  void stop() {
    stubs.close();
  }

  @Test
  void anAdapterComesAndGoes() throws Exception {
    ModelServer server = stubs.start(instant().maxAdapters(2));
    assertThat(stubs.post(server, CHAT, chat("french", 1)).statusCode()).isEqualTo(404);

    HttpResponse<String> loaded = stubs.post(server, LOAD, FRENCH);
    assertThat(loaded.statusCode()).isEqualTo(200);
    assertThat(loaded.body()).isEqualTo("Success: LoRA adapter 'french' added successfully.");
    assertThat(server.stats().adapterLoads()).isEqualTo(1);
    assertThat(json(stubs.get(server, "/v1/models").body()).path("data"))
        .extracting(model -> model.path("id").asText() + " < " + model.path("parent").asText())
        .containsExactly("m < null", "m2 < m", "m3 < m", "french < m");
    assertThat(stubs.post(server, CHAT, chat("french", 1)).statusCode()).isEqualTo(200);
    assertThat(server.stats().adapterLoads()).as("it is there already").isEqualTo(1);

    assertThat(stubs.post(server, UNLOAD, FRENCH).body())
        .isEqualTo("Success: LoRA adapter 'french' removed successfully.");
    assertThat(stubs.post(server, CHAT, chat("french", 1)).statusCode()).isEqualTo(404);
    stubs.post(server, LOAD, FRENCH);
    assertThat(server.stats().adapterLoads()).as("the slot was free again").isEqualTo(2);
  }

  @Test
  void whatCannotBeLoadedOrUnloadedIsTold() throws Exception {
    ModelServer server = stubs.start(instant().maxAdapters(2));
    assertThat(stubs.post(server, LOAD, "{\"lora_name\":\"x\"}").body()).contains("'lora_path'");
    assertThat(stubs.post(server, LOAD, "no JSON").statusCode()).isEqualTo(400);
    assertThat(stubs.post(server, LOAD, FRENCH.replace("french", "m2")).body())
        .contains("The lora adapter 'm2' has already been loaded.");
    assertThat(stubs.post(server, LOAD, FRENCH.replace("french", "m")).statusCode())
        .as("the base model's name")
        .isEqualTo(400);
    assertThat(stubs.post(server, UNLOAD, FRENCH).statusCode()).isEqualTo(404);
    assertThat(stubs.post(server, UNLOAD, "{}").statusCode()).isEqualTo(400);
    assertThat(stubs.get(server, LOAD).statusCode()).isEqualTo(405);
    assertThat(stubs.post(stubs.start(instant()), LOAD, FRENCH).statusCode())
        .as("LoRA is off")
        .isEqualTo(404);
  }

  @Test
  void loadingTakesTheEnginesTime() throws Exception {
    ModelServer server =
        stubs.start(
            instant()
                .timeScale(0.5)
                .profile(EngineProfiles.shipped().named("h100-8b").withAdapters(0, 300))
                .maxAdapters(2));
    long begin = System.nanoTime();
    stubs.post(server, LOAD, FRENCH);
    assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(150_000_000);
  }

  @Test
  void anAdapterWithoutASlotWaitsAndIsNotShown() throws Exception {
    ModelServer server = stubs.start(slow().maxAdapters(1));
    var running = stubs.send(server, CHAT, chat("m2", 10_000));
    await().until(() -> server.stats().running() == 1);
    var waiting = stubs.send(server, CHAT, chat("m3", 1));
    await().until(() -> server.stats().waiting() == 1);

    await()
        .untilAsserted(
            () ->
                assertThat(stubs.get(server, "/metrics").body())
                    .contains("running_lora_adapters=\"m2\",waiting_lora_adapters=\"m2\"")
                    .contains("reason=\"deferred\"} 1.0")
                    .doesNotContain("m3"));
    assertThat(waiting).isNotDone();
    running.cancel(true);
    assertThat(waiting.get().statusCode()).isEqualTo(200);
    assertThat(server.stats().adapterLoads()).isEqualTo(2);
  }
}
