package io.fairlead.operator;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.v1alpha2.InferenceModel;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/**
 * {@code train}: serves pools on an API server of its own, and ends. A JVM that is told to write
 * down what it loaded and learned ({@code -XX:AOTCacheOutput}) has something to write down then.
 */
@Command(
    name = "train",
    hidden = true,
    description = "Serves pools of its own for a while and ends: a run to make an AOT cache of.")
final class TrainCommand implements Callable<Integer> {
  /**
   * So long may pass until the first edit is told, whatever time was asked for: on a machine that
   * is busy the pools alone may take longer to make than all of it.
   */
  private static final Duration FIRST_TAKES = Duration.ofMinutes(3);

  private static final String NAMESPACE = "training";
  private static final int POOLS = 10;
  private static final long LOOK_NANOS = Duration.ofMillis(2).toNanos();

  @ParentCommand private FairleadOperator operator = new FairleadOperator();

  @Option(names = "--for-seconds", description = "How long.", defaultValue = "10")
  private int seconds = 10;

  @Option(
      names = "--keys",
      description = "PKCS #12 file with a key, password \"training\", to train TLS too.")
  private @Nullable Path keys;

  /**
   * @throws IllegalStateException when no model's edit came into force, however long: such a run
   *     has taught nothing
   */
  @Override
  public Integer call() throws IOException, GeneralSecurityException {
    try (TrainingApi api = new TrainingApi(keys, "training")) {
      Config config =
          new ConfigBuilder(Config.empty())
              .withMasterUrl(api.url())
              .withTrustCerts(true)
              .withNamespace(NAMESPACE)
              .build();
      CompletableFuture<Integer> end = new CompletableFuture<>();
      // A thread that ends with it: the operator has the end of the process wait for its own.
      try (ExecutorService thread = Executors.newSingleThreadExecutor();
          KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build()) {
        CompletableFuture<Integer> served =
            CompletableFuture.supplyAsync(() -> operator.serve(config, end), thread);
        int edits;
        try {
          edits = work(client, end);
        } finally {
          end.complete(0);
        }
        int code = served.join();
        if (code == 0 && edits == 0) {
          throw new IllegalStateException(
              "nothing was served in %d s".formatted(FIRST_TAKES.toSeconds()));
        }
        return code;
      }
    }
  }

  /**
   * @return how many edits were told of
   */
  private int work(KubernetesClient client, CompletableFuture<Integer> end) {
    long begun = System.nanoTime();
    long time = Duration.ofSeconds(seconds).toNanos();
    long first = Math.max(time, FIRST_TAKES.toNanos());
    for (int i = 0; i < POOLS; i++) {
      create(client, i);
    }
    int edits = 0;
    while ((edits == 0 || System.nanoTime() - begun < time) && !end.isDone()) {
      InferenceModel edited =
          client
              .resources(InferenceModel.class)
              .inNamespace(NAMESPACE)
              .withName("model-" + edits % POOLS)
              .patch(
                  PatchContext.of(PatchType.JSON_MERGE),
                  "{\"spec\":{\"targetModels\":[{\"name\":\"a\",\"weight\":%d}]}}"
                      .formatted(1 + edits));
      while (!told(client, edited)) {
        if (System.nanoTime() - begun > (edits == 0 ? first : time) || end.isDone()) {
          return edits;
        }
        LockSupport.parkNanos(LOOK_NANOS);
      }
      edits++;
    }
    return edits;
  }

  private static boolean told(KubernetesClient client, InferenceModel edited) {
    InferenceModel now = client.resource(edited).get();
    return now.getStatus() != null
        && now.getStatus().conditions().stream()
            .anyMatch(
                condition ->
                    edited.getMetadata().getGeneration().equals(condition.getObservedGeneration()));
  }

  private static void create(KubernetesClient client, int number) {
    client
        .resource(
            """
            apiVersion: inference.networking.k8s.io/v1
            kind: InferencePool
            metadata: {name: pool-%d, namespace: %s}
            spec:
              selector: {matchLabels: {app: vllm}}
              targetPorts: [{number: 8000}]
              endpointPickerRef: {name: pool-%d-picker, port: {number: 9002}}
            """
                .formatted(number, NAMESPACE, number))
        .create();
    client
        .resource(
            """
            apiVersion: inference.networking.x-k8s.io/v1alpha2
            kind: InferenceModel
            metadata: {name: model-%d, namespace: %s}
            spec:
              modelName: model-%d
              criticality: Critical
              poolRef: {group: inference.networking.k8s.io, name: pool-%d}
              targetModels: [{name: a, weight: 1}]
            """
                .formatted(number, NAMESPACE, number, number))
        .create();
    client
        .resource(
            """
            apiVersion: fairlead.io/v1alpha1
            kind: EndpointPicker
            metadata: {name: picker-%d, namespace: %s}
            spec: {poolRef: {name: pool-%d}}
            """
                .formatted(number, NAMESPACE, number))
        .create();
  }
}
