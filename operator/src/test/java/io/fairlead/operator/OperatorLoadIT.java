package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Kubelets;
import io.fairlead.operator.testing.OperatorProgram;
import io.fairlead.operator.testing.PoolFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * What many pools and models cost: {@code ./hack/load operator} runs it, and fails where a bound is
 * missed. No part of a plain run, whose machine does other things at the same time.
 */
@EnabledIfSystemProperty(named = "fairlead.operator.load.out", matches = ".+")
class OperatorLoadIT {
  private static final int POOLS = Integer.getInteger("fairlead.operator.load.pools", 300);
  private static final int MODELS = Integer.getInteger("fairlead.operator.load.models", 1000);
  private static final int CLIENTS = Integer.getInteger("fairlead.operator.load.clients", 8);
  private static final int EDITS = Integer.getInteger("fairlead.operator.load.edits", 200);
  private static final int QUIET = Integer.getInteger("fairlead.operator.load.quiet", 600);
  private static final String OUT = System.getProperty("fairlead.operator.load.out", "");
  private static final List<String> JAVA =
      Arrays.stream(System.getProperty("fairlead.operator.load.java", "").split(" "))
          .filter(option -> !option.isBlank())
          .toList();
  private static final int NAMESPACES = 10;
  private static final int STARTS = 5;
  private static final String LOOKS = "operator_sdk_reconciliations_started_total";
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  @TempDir private Path folder;
  private final List<PoolFixture> namespaces = new ArrayList<>();
  private final Map<String, Map<String, Object>> figures = new LinkedHashMap<>();
  private final List<String> notes = new ArrayList<>();

  @Test
  void manyPoolsAndModelsCostLittle() throws IOException {
    try (KubeApi.Running server = KubeApi.Running.start()) {
      Installed cluster = Installed.on(server);
      KubernetesClient admin = cluster.admin();
      for (int i = 0; i < Math.min(POOLS, NAMESPACES); i++) {
        namespaces.add(new PoolFixture(admin, cluster.namespace("load")));
      }
      try (Told told = Told.by(admin);
          OperatorProgram operator = start("loaded", server)) {
        operator.awaitRunning(PATIENCE);
        AuditLog.Mark empty = server.audit().mark();
        double started = operator.cpuSeconds();
        double others = apiServerCpuSeconds(operator);
        long begun = System.nanoTime();
        apply();
        long applied = System.nanoTime();
        told.await("Accepted");
        figure("convergence after the last apply, s", seconds(applied), 5);
        figure("the same after the first apply, s", seconds(begun), Double.NaN);
        figure("CPU time of the operator in it, s", operator.cpuSeconds() - started, Double.NaN);
        figure(
            "CPU time of the API server and etcd in it, s",
            apiServerCpuSeconds(operator) - others,
            Double.NaN);
        figure("looks at pools until then", operator.metric(LOOKS), Double.NaN);
        calls("until then", server.audit(), empty);
        try (Kubelets kubelets = new Kubelets(admin)) {
          long first = System.nanoTime();
          told.await("Ready");
          figure("all ready after the first pod, s", seconds(first), Double.NaN);
          settle(server.audit());
          figure("CPU time of the operator until settled, s", operator.cpuSeconds(), Double.NaN);
          figure("looks at pools until settled", operator.metric(LOOKS), Double.NaN);
          calls("until settled", server.audit(), empty);
          quiet(server.audit());
          edits(server, kubelets);
          figure("resident memory, MiB", operator.status("VmRSS") / 1024.0, 256);
          figure("most resident memory, MiB", operator.status("VmHWM") / 1024.0, Double.NaN);
          operator.terminate();
          assertThat(operator.code()).as(operator.log()).isZero();
          restarts(server);
        }
      }
    }
    System.out.print(table());
    new ObjectMapper().writerWithDefaultPrettyPrinter().writeValue(Path.of(OUT).toFile(), figures);
    List<String> missed =
        figures.entrySet().stream()
            .filter(figure -> Boolean.FALSE.equals(figure.getValue().get("held")))
            .map(Map.Entry::getKey)
            .toList();
    assertThat(missed).as("missed bounds").isEmpty();
  }

  /** Several, since one alone says more of the machine at that moment. */
  private void restarts(KubeApi.Running server) throws IOException {
    double[] took = new double[STARTS];
    double[] computed = new double[STARTS];
    double[] resident = new double[STARTS];
    AuditLog.Mark ended = server.audit().mark();
    for (int i = 0; i < STARTS; i++) {
      long restarted = System.nanoTime();
      try (OperatorProgram next = start("next-" + i, server)) {
        next.awaitRunning(PATIENCE);
        took[i] = seconds(restarted);
        computed[i] = next.cpuSeconds();
        settle(server.audit());
        resident[i] = next.status("VmHWM") / 1024.0;
        next.terminate();
        assertThat(next.code()).as(next.log()).isZero();
      }
    }
    figure("start until all is watched, s, median of " + STARTS, percentile(took, 0.5), 3);
    figure("CPU time of a start, s", percentile(computed, 0.5), Double.NaN);
    figure("writes after restarts", (double) writes(server.audit(), ended), 0);
    figure(
        "most resident memory after a restart, MiB",
        Arrays.stream(resident).max().orElseThrow(),
        256);
  }

  private OperatorProgram start(String name, KubeApi.Running server) throws IOException {
    List<String> options =
        Files.readAllLines(Path.of("../hack/operator.options")).stream()
            .filter(line -> !line.startsWith("#"))
            .toList();
    List<String> asInItsPod = new ArrayList<>(options);
    asInItsPod.add("-XX:MaxRAM=512m");
    asInItsPod.addAll(JAVA);
    return OperatorProgram.start(
        asInItsPod,
        name,
        server.kubeConfig(),
        Installed.NAMESPACE,
        folder,
        "--adopt-grace-seconds",
        "0");
  }

  /** Of all that this process has started but the operator: it runs on the same machine. */
  private static double apiServerCpuSeconds(OperatorProgram operator) {
    return ProcessHandle.current()
            .descendants()
            .filter(process -> process.pid() != operator.pid())
            .flatMap(process -> process.info().totalCpuDuration().stream())
            .mapToLong(Duration::toMillis)
            .sum()
        / 1000.0;
  }

  private PoolFixture of(int pool) {
    return namespaces.get(pool % namespaces.size());
  }

  /** As several do at the same time who {@code kubectl apply} a folder each. */
  private void apply() {
    each(POOLS, i -> of(i).createPool("pool-" + i, "pool-" + i + "-picker"));
    each(
        MODELS,
        i -> of(i % POOLS).createModel("model-" + i, "model-" + i, 90, "pool-" + i % POOLS));
  }

  /** Not in the common pool, in which the client's answers arrive. */
  private static void each(int count, IntConsumer task) {
    try (ExecutorService several = Executors.newFixedThreadPool(CLIENTS)) {
      List<CompletableFuture<Void>> all =
          IntStream.range(0, count)
              .mapToObj(i -> CompletableFuture.runAsync(() -> task.accept(i), several))
              .toList();
      all.forEach(CompletableFuture::join);
    }
  }

  /**
   * Every model and pool as it is now. They are watched: to list them all again and again would
   * take more of the machine than the operator does.
   */
  private record Told(
      SharedIndexInformer<InferenceModel> models, SharedIndexInformer<InferencePool> pools)
      implements AutoCloseable {
    static Told by(KubernetesClient client) {
      return new Told(
          client.resources(InferenceModel.class).inAnyNamespace().inform(),
          client.resources(InferencePool.class).inAnyNamespace().inform());
    }

    /** Waits until the condition is True of every model and every pool. */
    void await(String type) {
      Awaitility.await()
          .atMost(PATIENCE)
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(20))
          .until(() -> all(type));
    }

    private boolean all(String type) {
      List<InferenceModel> now = models.getStore().list();
      List<InferencePool> served = pools.getStore().list();
      return now.size() == MODELS
          && served.size() == POOLS
          && now.stream()
              .allMatch(
                  model -> model.getStatus() != null && is(model.getStatus().conditions(), type))
          && served.stream()
              .allMatch(
                  pool ->
                      pool.getStatus() != null
                          && pool.getStatus().parents().stream()
                              .anyMatch(p -> is(p.conditions(), type)));
    }

    @Override
    public void close() {
      models.stop();
      pools.stop();
    }
  }

  private static boolean is(List<Condition> conditions, String type) {
    return conditions.stream()
        .anyMatch(c -> c.getType().equals(type) && c.getStatus().equals("True"));
  }

  private void quiet(AuditLog audit) {
    AuditLog.Mark settled = audit.mark();
    long end = System.nanoTime() + Duration.ofSeconds(QUIET).toNanos();
    await()
        .atMost(Duration.ofSeconds(QUIET + 30))
        .pollInterval(Duration.ofSeconds(1))
        .until(() -> System.nanoTime() > end);
    figure("writes in %d s of nothing".formatted(QUIET), (double) writes(audit, settled), 0);
  }

  /** One after the other, each of a model at random. */
  private void edits(KubeApi.Running server, Kubelets kubelets) {
    Random random = new Random(1);
    double[] pickers = new double[EDITS];
    double[] told = new double[EDITS];
    long asked = 0;
    List<AuditLog.Request> most = List.of();
    for (int i = 0; i < EDITS; i++) {
      int number = random.nextInt(MODELS);
      PoolFixture namespace = of(number % POOLS);
      String picker = "pool-" + number % POOLS + "-epp";
      ConfigHash before = namespace.configHash(picker);
      AuditLog.Mark mark = server.audit().mark();
      long begun = System.nanoTime();
      InferenceModel edited =
          server
              .client()
              .resource(namespace.need(InferenceModel.class, "model-" + number))
              .patch(
                  PatchContext.of(PatchType.JSON_MERGE),
                  "{\"spec\":{\"targetModels\":[{\"name\":\"t\",\"weight\":%d}]}}"
                      .formatted(i + 1));
      long sent = System.nanoTime();
      await()
          .atMost(Duration.ofSeconds(30))
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(5))
          .until(() -> current(namespace, edited));
      told[i] = (System.nanoTime() - sent) / 1e9;
      ConfigHash after = namespace.configHash(picker);
      assertThat(after).isNotEqualTo(before);
      pickers[i] =
          (Objects.requireNonNull(kubelets.had(namespace.namespace(), picker, after)) - begun)
              / 1e9;
      List<AuditLog.Request> calls =
          operator(server.audit(), mark).stream()
              .filter(request -> !OperatorUnderTest.looksForAKind(request))
              .toList();
      if (calls.size() > asked) {
        asked = calls.size();
        most = calls;
      }
    }
    figure("an edit is with the picker, p99, s", percentile(pickers, 0.99), 0.3);
    figure("an edit is with the picker, p50, s", percentile(pickers, 0.5), Double.NaN);
    figure("an edit is told in its status, p99, s", percentile(told, 0.99), 1);
    figure("an edit is told in its status, p50, s", percentile(told, 0.5), Double.NaN);
    figure("calls of the API server for an edit, most", (double) asked, 5);
    notes.add("The edit with most calls: " + kinds(most));
  }

  private static boolean current(PoolFixture namespace, InferenceModel edited) {
    InferenceModel now = namespace.need(InferenceModel.class, edited.getMetadata().getName());
    return now.getStatus() != null
        && is(now.getStatus().conditions(), "Ready")
        && now.getStatus().conditions().stream()
            .allMatch(c -> c.getObservedGeneration().equals(edited.getMetadata().getGeneration()));
  }

  /** Until three seconds have passed without a write: what was put off is made up for by then. */
  private static void settle(AuditLog audit) {
    AuditLog.Mark[] since = {audit.mark()};
    await()
        .atMost(PATIENCE)
        .pollDelay(Duration.ofSeconds(3))
        .pollInterval(Duration.ofSeconds(3))
        .until(
            () -> {
              boolean quiet = writes(audit, since[0]) == 0;
              since[0] = audit.mark();
              return quiet;
            });
  }

  private void calls(String when, AuditLog audit, AuditLog.Mark since) {
    List<AuditLog.Request> calls = operator(audit, since);
    figure("calls of the API server " + when, (double) calls.size(), Double.NaN);
    notes.add("Calls %s: %s".formatted(when, kinds(calls)));
  }

  /** How many of which kind, most first. */
  private static String kinds(List<AuditLog.Request> calls) {
    return calls.stream()
        .collect(
            Collectors.groupingBy(
                call -> call.verb() + " " + call.resource() + " " + call.code(),
                Collectors.counting()))
        .entrySet()
        .stream()
        .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
        .map(kind -> kind.getValue() + " " + kind.getKey())
        .collect(Collectors.joining(", "));
  }

  private static long writes(AuditLog audit, AuditLog.Mark since) {
    return operator(audit, since).stream().filter(AuditLog.Request::writes).count();
  }

  private static List<AuditLog.Request> operator(AuditLog audit, AuditLog.Mark since) {
    return audit.since(since).stream()
        .filter(request -> request.user().equals(Installed.OPERATOR))
        .filter(request -> !request.resource().equals("leases"))
        .toList();
  }

  private static double seconds(long since) {
    return (System.nanoTime() - since) / 1e9;
  }

  private static double percentile(double[] values, double share) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[(int) Math.ceil(share * sorted.length) - 1];
  }

  /**
   * @param bound NaN where there is none
   */
  private void figure(String name, double value, double bound) {
    Map<String, Object> figure = new LinkedHashMap<>();
    figure.put("value", value);
    if (!Double.isNaN(bound)) {
      figure.put("bound", bound);
      figure.put("held", value <= bound);
    }
    figures.put(name, figure);
  }

  private String table() {
    StringBuilder table =
        new StringBuilder(
            "%d pools, %d models, %d edits%n| | measured | at most | |%n|---|---|---|---|%n"
                .formatted(POOLS, MODELS, EDITS));
    figures.forEach(
        (name, figure) ->
            table.append(
                "| %s | %.2f | %s | %s |%n"
                    .formatted(
                        name,
                        (Double) figure.get("value"),
                        figure.getOrDefault("bound", ""),
                        Boolean.FALSE.equals(figure.get("held")) ? "missed" : "")));
    notes.forEach(note -> table.append(note).append('\n'));
    return table.toString();
  }
}
