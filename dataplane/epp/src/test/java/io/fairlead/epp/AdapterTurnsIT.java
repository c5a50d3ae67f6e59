package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.stub.profile.EngineProfiles;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Three times as many adapters as servers have slots: who has none waits in the gateway. */
@ExtendWith(NoLeaks.class)
class AdapterTurnsIT {

  private static final List<String> ADAPTERS = List.of("a", "b", "c", "d", "e", "f");
  private static final int EACH = 8;

  @TempDir private Path folder;

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final TwoStubs stubs =
      new TwoStubs(
          each -> each.profile(EngineProfiles.shipped().named("h100-8b")).maxAdapters(1),
          "base",
          "a",
          "b",
          "c",
          "d",
          "e",
          "f");

  @AfterEach
  void stop() {
    stubs.close();
    http.close();
  }

  @Test
  void allAreAnsweredAndNoneWaitsForASlotAtAServer() throws Exception {
    try (DataPlane dataPlane = stubs.gateway(folder, null)) {
      int port = dataPlane.gatewayPort().orElseThrow();
      // The picker holds nobody back for a name that no server has called an adapter.
      for (String adapter : ADAPTERS) {
        ask(port, adapter, 100).join();
      }
      int most = 0;
      List<CompletableFuture<HttpResponse<String>>> asked = new ArrayList<>();
      for (int i = 0; i < EACH * ADAPTERS.size(); i++) {
        asked.add(ask(port, ADAPTERS.get(i % ADAPTERS.size()), 30));
      }
      CompletableFuture<Void> all =
          CompletableFuture.allOf(asked.toArray(CompletableFuture<?>[]::new));
      while (!all.isDone()) {
        most =
            Math.max(
                most,
                dataPlane.snapshot().get(30, TimeUnit.SECONDS).stream()
                    .mapToInt(row -> row.state().inFlight())
                    .sum());
      }
      assertThat(asked).allSatisfy(answer -> assertThat(answer.join().statusCode()).isEqualTo(200));
      assertThat(most).as("at the servers at once").isBetween(EACH, 2 * EACH);
    }
  }

  private CompletableFuture<HttpResponse<String>> ask(int port, String model, int tokens) {
    return http.sendAsync(TwoStubs.completion(port, model, tokens, false), BodyHandlers.ofString());
  }
}
