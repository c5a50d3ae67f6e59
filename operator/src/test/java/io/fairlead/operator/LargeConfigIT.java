package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.Picker;
import io.fairlead.operator.testing.PoolFixture;
import java.time.Duration;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Configs that a ConfigMap holds compressed only, or not at all: operator and picker are real. */
@ExtendWith(KubeApi.class)
@Makes(Reason.CONFIG_TOO_LARGE)
class LargeConfigIT {
  /** As many targets as a model can have, with names as long as they can be. */
  private static final int TARGETS = 10;

  private static final int NAME = 253;

  private static Installed cluster;

  private PoolFixture pool;

  @BeforeAll
  static void install(KubeApi.Running server) {
    cluster = Installed.on(server);
  }

  @BeforeEach
  void createPool() {
    pool = new PoolFixture(cluster.admin(), cluster.namespace("large"));
    pool.createPool();
  }

  @Test
  void twoMebibytesOfModelsAreRun() {
    String alike = "a".repeat(NAME);
    createModels(810, () -> alike);
    try (OperatorUnderTest _ = new OperatorUnderTest(cluster, pool, true)) {
      awaitReady();
      try (Picker picker = new Picker(cluster, pool)) {
        eventually(
            () -> assertThat(pool.poolConditions()).containsEntry("Programmed", "True/Programmed"));
        assertThat(picker.report().configHash()).isEqualTo(pool.configHash());
        assertThat(pool.config().length()).isGreaterThan(2 << 20);
        ConfigMap map = pool.need(ConfigMap.class, PoolFixture.PICKER);
        assertThat(map.getData()).isNullOrEmpty();
        assertThat(map.getBinaryData()).containsOnlyKeys("config.yaml.gz");
        eventually(
            () ->
                assertThat(pool.modelConditions("m809"))
                    .containsEntry("Programmed", "True/Programmed"));
      }
    }
  }

  @Test
  void moreThanAConfigMapHoldsIsToldAndWhatWasInForceStays() {
    pool.createModel("chat", "chat", 90);
    try (OperatorUnderTest _ = new OperatorUnderTest(cluster, pool, true)) {
      awaitReady();
    }
    try (Picker picker = new Picker(cluster, pool)) {
      try (OperatorUnderTest _ = new OperatorUnderTest(cluster, pool, true)) {
        pool.awaitPool("Programmed", "True/Programmed");
        pool.awaitModel("chat", "Programmed", "True/Programmed");
      }
      ConfigHash good = pool.configHash();
      // Letters at random can hardly be compressed.
      Random random = new Random(1);
      createModels(700, () -> letters(random));
      try (OperatorUnderTest _ = new OperatorUnderTest(cluster, pool, true)) {
        eventually(
            () ->
                assertThat(pool.poolConditions())
                    .containsEntry("Programmed", "False/ConfigTooLarge")
                    .containsEntry("Ready", "False/ConfigTooLarge"));
        assertThat(pool.poolMessage("Programmed"))
            .contains(
                "ConfigMap " + pool.namespace() + "/pool-epp",
                "spec.targetModels",
                "the config that was in force stays");
        eventually(
            () ->
                assertThat(pool.modelConditions("m699"))
                    .containsEntry("Programmed", "False/ConfigTooLarge"));
        assertThat(pool.modelConditions("chat")).containsEntry("Programmed", "True/Programmed");
        assertThat(pool.configHash()).isEqualTo(good);
        assertThat(picker.report().configHash()).isEqualTo(good);

        cluster
            .admin()
            .resources(InferenceModel.class)
            .inNamespace(pool.namespace())
            .withLabel("example.test/half", "0")
            .delete();
        // A config of some of the models that are deleted may be in force for a moment.
        eventually(
            () -> {
              assertThat(pool.poolConditions()).containsEntry("Programmed", "True/Programmed");
              assertThat(picker.report().configHash())
                  .isEqualTo(pool.configHash())
                  .isNotEqualTo(good);
            });
      }
    }
  }

  private void awaitReady() {
    eventually(
        () -> assertThat(pool.poolConditions()).containsEntry("Ready", "False/RolloutInProgress"));
    pool.becomeAvailable();
  }

  /** Half a thousand statuses are written meanwhile. */
  private static void eventually(ThrowingRunnable holds) {
    await().atMost(Duration.ofMinutes(2)).untilAsserted(holds);
  }

  private void createModels(int count, Supplier<String> target) {
    for (int i = 0; i < count; i++) {
      pool.create(
          """
          apiVersion: inference.networking.x-k8s.io/v1alpha2
          kind: InferenceModel
          metadata: {name: m%d, labels: {example.test/half: "%d"}}
          spec:
            modelName: m%d
            poolRef: {group: inference.networking.k8s.io, name: pool}
            targetModels: [%s]
          """
              .formatted(
                  i,
                  i % 2,
                  i,
                  IntStream.range(0, TARGETS)
                      .mapToObj(
                          number ->
                              "{name: %s, weight: 1}".formatted(number + target.get().substring(1)))
                      .collect(Collectors.joining(", "))));
    }
  }

  private static String letters(Random random) {
    return random
        .ints(NAME, 'a', 'z' + 1)
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }
}
