package io.fairlead.epp;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.stub.profile.EngineProfiles;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** One of two servers lacks an adapter, and answers 404 for it. */
@ExtendWith(NoLeaks.class)
class LackedAdapterIT {

  private static final int ROUNDS = 40;
  private static final int EACH = 4;

  @TempDir private Path folder;

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final TwoStubs stubs =
      new TwoStubs(
          each -> each.profile(EngineProfiles.shipped().named("h100-8b")).maxAdapters(2),
          "base",
          "french",
          "poetry");

  @AfterEach
  void stop() {
    stubs.close();
    http.close();
  }

  @Test
  void itGetsFewRequestsOfThatAdapterAndItsShareOfAllOthersUntilItHasIt() throws Exception {
    // By load alone: the cost of loading an adapter would keep requests where it is.
    Path config =
        Files.writeString(
            folder.resolve("config.yaml"),
            """
            apiVersion: inference.networking.x-k8s.io/v1alpha1
            kind: EndpointPickerConfig
            plugins: [{type: active-request-scorer}]
            """);
    try (DataPlane dataPlane = stubs.gateway(folder, config)) {
      int port = dataPlane.gatewayPort().orElseThrow();
      for (String model : List.of("base", "french", "poetry")) {
        await(model + " is served by both")
            .until(() -> served(ask(port, model)).keySet().equals(Set.of("one", "two")));
      }
      assertThat(adapterAtTwo("unload").statusCode()).isEqualTo(200);
      List<HttpResponse<String>> french = new ArrayList<>();
      List<HttpResponse<String>> base = new ArrayList<>();
      for (int i = 0; i < ROUNDS; i++) {
        CompletableFuture<List<HttpResponse<String>>> asked =
            CompletableFuture.supplyAsync(() -> ask(port, "french"));
        base.addAll(ask(port, "base"));
        french.addAll(asked.join());
      }
      // Where a busy machine has the other look unwell for a moment, it gets more for as long.
      assertThat(french.stream().filter(answer -> answer.statusCode() == 404))
          .as("of %d, with half of them as its share", ROUNDS * EACH)
          .hasSizeBetween(1, ROUNDS * EACH * 2 / 5)
          .allMatch(answer -> server(answer).equals("two"));
      assertThat(base).allMatch(answer -> answer.statusCode() == 200);
      assertThat(served(base).get("two"))
          .as("of %d of the base model", ROUNDS * EACH)
          .isGreaterThan(ROUNDS * EACH * 2 / 5);

      assertThat(adapterAtTwo("load").statusCode()).isEqualTo(200);
      await("it gets its share again")
          .atMost(Duration.ofSeconds(30))
          .until(
              () ->
                  served(
                              Stream.generate(() -> ask(port, "french"))
                                  .limit(5)
                                  .flatMap(List::stream)
                                  .toList())
                          .getOrDefault("two", 0L)
                      >= 5 * EACH * 2 / 5);
    }
  }

  private static String server(HttpResponse<String> answer) {
    return answer.headers().firstValue("x-stub-endpoint").orElseThrow();
  }

  /** How many of these each server has served. */
  private static Map<String, Long> served(List<HttpResponse<String>> answers) {
    return answers.stream()
        .filter(answer -> answer.statusCode() == 200)
        .collect(groupingBy(LackedAdapterIT::server, counting()));
  }

  /** What became of some requests at once. */
  private List<HttpResponse<String>> ask(int port, String model) {
    return Stream.generate(
            () ->
                http.sendAsync(TwoStubs.completion(port, model, 5, true), BodyHandlers.ofString()))
        .limit(EACH)
        .toList()
        .stream()
        .map(CompletableFuture::join)
        .toList();
  }

  private HttpResponse<String> adapterAtTwo(String what) throws Exception {
    return http.send(
        HttpRequest.newBuilder(
                URI.create(
                    "http://127.0.0.1:" + stubs.portOfTwo() + "/v1/" + what + "_lora_adapter"))
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    "{\"lora_name\":\"french\",\"lora_path\":\"/adapters/french\"}"))
            .build(),
        BodyHandlers.ofString());
  }
}
