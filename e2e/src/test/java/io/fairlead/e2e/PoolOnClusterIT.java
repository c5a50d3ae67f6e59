package io.fairlead.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fairlead.e2e.cluster.Checkout;
import io.fairlead.e2e.cluster.Cluster;
import io.fairlead.e2e.cluster.ClusterExtension;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Apply the resources, get a running picker, requests scheduled by it under a real Envoy, status
 * told.
 */
@ExtendWith(ClusterExtension.class)
final class PoolOnClusterIT {

  private static Installation fairlead;
  private static ChatClient envoy;

  @BeforeAll
  static void install(Cluster cluster) {
    fairlead = Installation.on(cluster);
    fairlead.awaitReady();
    envoy = new ChatClient(EnvoyOnCluster.start(cluster, fairlead.client()));
  }

  @AfterAll
  static void uninstall() {
    envoy.close();
    EnvoyOnCluster.stop(fairlead.client());
    fairlead.close();
  }

  @Test
  void poolAndModelsTellHowTheyAre() throws IOException {
    assertThat(fairlead.poolConditions())
        .containsKeys("Accepted", "ResolvedRefs", "Programmed", "EndpointsAvailable", "Ready")
        .allSatisfy(PoolOnClusterIT::isWell);
    for (String model : List.of("chat", "summarize")) {
      assertThat(fairlead.modelConditions(model))
          .containsKeys("Accepted", "ResolvedRefs", "Programmed", "Ready")
          .allSatisfy(PoolOnClusterIT::isWell);
    }

    String table = fairlead.kubectl().run("get", "infpool,infmodel,epp", "-A", "-o", "wide");
    String pool = fairlead.kubectl().run("get", "infpool", Installation.POOL, "-o", "yaml");
    keep("kubectl-get.txt", table);
    keep("pool.yaml", pool);
    assertThat(table.lines().filter(line -> line.contains("inferencemodel.")))
        .hasSize(2)
        .allSatisfy(line -> assertThat(line).containsPattern("True +True"));
    assertThat(table.lines().filter(line -> line.contains("endpointpicker.")))
        .hasSize(1)
        .allSatisfy(line -> assertThat(line).containsPattern("True +1 +2 +3 "));
  }

  /**
   * All conditions are true where all is well, but for the one that there is no room, and the one
   * that requests were answered: there may have been none yet.
   */
  private static void isWell(String type, Condition condition) {
    if (type.equals("TargetsAvailable")) {
      assertThat(condition.getStatus()).isNotEqualTo("False");
    } else {
      assertThat(condition.getStatus()).isEqualTo(type.equals("Saturated") ? "False" : "True");
    }
  }

  @Test
  void aWholeAnswerPassesWithBodyIntactAndModelRewritten() {
    String body =
        """
        {"messages": [{"role": "user", "content": "K\u00f6ln \\u003c & >"}], "seed": 9007199254740993,
         "model":"summarize", "max_tokens": 3}""";

    HttpResponse<String> response = envoy.post(body);

    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    assertThat(ChatClient.json(response.body()).path("model").asText()).isEqualTo("summarize");
    assertThat(response.headers().firstValue("x-stub-model")).contains("summarize-v1");
    assertThat(response.headers().firstValue("x-stub-body-sha256"))
        .contains(sha256(body.replace("\"summarize\"", "\"summarize-v1\"")));
    assertThat(modelServers())
        .contains(response.headers().firstValue("x-stub-endpoint").orElseThrow());
  }

  @Test
  void aStreamPassesToItsEnd() {
    HttpResponse<String> response =
        envoy.post(
            """
            {"model": "summarize", "stream": true, "max_tokens": 20,
             "messages": [{"role": "user", "content": "on and on"}]}""");

    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    assertThat(response.headers().firstValue("content-type").orElse(""))
        .startsWith("text/event-stream");
    assertThat(response.body().lines().filter(line -> line.startsWith("data: ")).toList())
        .hasSizeGreaterThan(20)
        .last()
        .isEqualTo("data: [DONE]");
  }

  @Test
  void everyModelServerGetsItsShare() {
    Set<String> answered = new HashSet<>();
    // One whose first answer came late looks slow for a while.
    await()
        .atMost(Duration.ofMinutes(2))
        .untilAsserted(
            () -> {
              for (int i = 0; i < 60; i++) {
                HttpResponse<String> response =
                    envoy.post(
                        """
                        {"model": "summarize", "max_tokens": 1,
                         "messages": [{"role": "user", "content": "question %d"}]}"""
                            .formatted(i));
                answered.add(response.headers().firstValue("x-stub-endpoint").orElse(""));
              }
              assertThat(answered).isEqualTo(modelServers());
            });
  }

  @Test
  void badRequestsAreAnsweredInTheShapeOfTheApi() {
    HttpResponse<String> broken = envoy.post("{\"model\": ");
    HttpResponse<String> nameless = envoy.post("{\"messages\": [{\"role\": \"user\"}]}");

    assertThat(List.of(broken, nameless))
        .allSatisfy(
            response -> {
              assertThat(response.statusCode()).isEqualTo(400);
              assertThat(ChatClient.json(response.body()).at("/error/code").asText()).isNotEmpty();
            });
    assertThat(envoy.servedBy("summarize")).isEqualTo("summarize-v1");
  }

  @Test
  void aWeightEditMovesTheSplitWithoutAPodRestart() {
    List<String> podsBefore = pickerPods();
    assertThat(targets("chat", 200)).contains("chat-v1");

    setWeights(1, 1_000_000);
    long edited = System.nanoTime();
    await()
        .atMost(Duration.ofSeconds(30))
        .pollInterval(Duration.ofMillis(50))
        .until(() -> targets("chat", 3).equals(Set.of("chat-v2")));
    System.out.printf(
        "a weight edit moved the split within %d ms%n", (System.nanoTime() - edited) / 1_000_000);

    assertThat(targets("chat", 100)).isEqualTo(Set.of("chat-v2"));
    assertThat(pickerPods()).isEqualTo(podsBefore);
    setWeights(90, 10);
    await().atMost(Duration.ofSeconds(30)).until(() -> targets("chat", 20).contains("chat-v1"));
    fairlead.awaitReady();
  }

  @Test
  void theLaterOfTwoModelsWithOneNameIsToldWhoWon() {
    var rival = rival();
    try {
      fairlead.client().resource(rival).serverSideApply();
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () -> {
                Condition accepted = fairlead.modelConditions("rival").get("Accepted");
                assertThat(accepted).isNotNull();
                assertThat(accepted.getStatus()).isEqualTo("False");
                assertThat(accepted.getReason()).isEqualTo("ModelNameInUse");
                assertThat(accepted.getMessage()).contains("summarize");
              });
      assertThat(targets("summarize", 20)).isEqualTo(Set.of("summarize-v1"));
      assertThat(fairlead.modelConditions("summarize"))
          .hasEntrySatisfying(
              "Ready", condition -> assertThat(condition.getStatus()).isEqualTo("True"));
    } finally {
      fairlead.client().resource(rival).delete();
    }
    // The pool tells of the rival until it is seen that it is gone, and other tests look at it.
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> assertThat(fairlead.poolConditions()).allSatisfy(PoolOnClusterIT::isWell));
  }

  private static HasMetadata rival() {
    return fairlead
        .client()
        .resource(
            """
                apiVersion: inference.networking.x-k8s.io/v1alpha2
                kind: InferenceModel
                metadata: {name: rival, namespace: default}
                spec:
                  modelName: summarize
                  poolRef: {group: inference.networking.k8s.io, name: sample}
                  targetModels: [{name: chat-v2}]
                """)
        .item();
  }

  private static void setWeights(int first, int second) {
    fairlead
        .kubectl()
        .run(
            "patch",
            "infmodel",
            "chat",
            "--type=merge",
            "-p",
            """
            {"spec": {"targetModels": [
              {"name": "chat-v1", "weight": %d}, {"name": "chat-v2", "weight": %d}]}}"""
                .formatted(first, second));
  }

  private static Set<String> targets(String model, int requests) {
    return Stream.generate(() -> envoy.servedBy(model)).limit(requests).collect(Collectors.toSet());
  }

  private static Set<String> modelServers() {
    return pods("app", "sample-model-servers")
        .map(pod -> pod.getMetadata().getName())
        .collect(Collectors.toSet());
  }

  /** UID and restarts of each picker pod: differs if any was replaced or restarted. */
  private static List<String> pickerPods() {
    return pods("fairlead.io/picker", "sample-epp")
        .map(
            pod -> {
              ObjectMeta meta = pod.getMetadata();
              return meta.getUid()
                  + " "
                  + pod.getStatus().getContainerStatuses().getFirst().getRestartCount();
            })
        .sorted()
        .toList();
  }

  private static Stream<Pod> pods(String label, String value) {
    return fairlead
        .client()
        .pods()
        .inNamespace(Installation.NAMESPACE)
        .withLabel(label, value)
        .list()
        .getItems()
        .stream()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null);
  }

  private static void keep(String file, String text) throws IOException {
    Path folder = Checkout.find().root().resolve("target/e2e");
    Files.createDirectories(folder);
    Files.writeString(folder.resolve(file), text);
  }

  private static String sha256(String text) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
