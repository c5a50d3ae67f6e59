package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Condition;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Models that want one name. */
@ExtendWith(KubeApi.class)
class ModelNamesIT {
  private Installed cluster;
  private PoolFixture pool;
  private OperatorUnderTest operator;

  @BeforeEach
  void start(KubeApi.Running server) {
    cluster = Installed.on(server);
    pool = new PoolFixture(cluster.admin(), cluster.namespace("names"));
    operator = new OperatorUnderTest(cluster, pool, true);
    pool.createPool();
  }

  @AfterEach
  void stop() {
    operator.close();
  }

  @Test
  void theOlderModelWinsAndTheOtherSaysSo() {
    pool.createModel("z", "chat", 90);
    Instant created =
        Instant.parse(pool.need(InferenceModel.class, "z").getMetadata().getCreationTimestamp());
    // Creation times are cut to seconds.
    await().until(() -> Instant.now().isAfter(created.plusSeconds(1)));
    pool.createModel("a", "chat", 50);
    pool.awaitModel("a", "Accepted", "False/ModelNameInUse");
    pool.awaitModel("z", "Accepted", "True/Accepted");
    assertThat(acceptedMessage(pool.need(InferenceModel.class, "a")))
        .contains("InferenceModel " + pool.namespace() + "/z");
    pool.awaitModel("a", "Ready", "False/ModelNameInUse");
  }

  @Test
  void ofFiftyAtOnceOneWinsAndStaysAfterARestart() {
    List<String> names = IntStream.range(0, 50).mapToObj(i -> "m" + i).toList();
    names.parallelStream().forEach(name -> pool.createModel(name, "chat", 50));
    List<InferenceModel> models = models();
    assertThat(models).hasSameSizeAs(names);
    String winner =
        models.stream()
            .min(
                Comparator.comparing(
                        (InferenceModel model) -> model.getMetadata().getCreationTimestamp())
                    .thenComparing(model -> model.getMetadata().getName()))
            .orElseThrow()
            .getMetadata()
            .getName();
    Map<String, String> expected =
        names.stream()
            .collect(
                Collectors.toMap(
                    name -> name,
                    name -> name.equals(winner) ? "True/Accepted" : "False/ModelNameInUse"));
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> {
              assertThat(accepted()).isEqualTo(expected);
              // While they come, one of the others may be named for a moment.
              assertThat(models())
                  .filteredOn(model -> !model.getMetadata().getName().equals(winner))
                  .allSatisfy(
                      loser ->
                          assertThat(acceptedMessage(loser))
                              .contains("InferenceModel " + pool.namespace() + "/" + winner + ";"));
            });
    pool.becomeReady();
    pool.awaitModel(winner, "Ready", "True/Ready");
    pool.awaitEventsSent();
    operator.close();

    operator = new OperatorUnderTest(cluster, pool, true);
    operator.awaitReconciled("InferencePool/pool", 1);
    assertThat(operator.writes()).isEmpty();
    assertThat(accepted()).isEqualTo(expected);
  }

  private List<InferenceModel> models() {
    return cluster
        .admin()
        .resources(InferenceModel.class)
        .inNamespace(pool.namespace())
        .list()
        .getItems();
  }

  private Map<String, String> accepted() {
    return models().stream()
        .collect(
            Collectors.toMap(
                model -> model.getMetadata().getName(),
                model ->
                    model.getStatus() == null
                        ? ""
                        : PoolFixture.brief(model.getStatus().conditions())
                            .getOrDefault("Accepted", "")));
  }

  private static String acceptedMessage(InferenceModel model) {
    return model.getStatus() == null
        ? ""
        : model.getStatus().conditions().stream()
            .filter(condition -> condition.getType().equals("Accepted"))
            .map(Condition::getMessage)
            .findFirst()
            .orElse("");
  }
}
