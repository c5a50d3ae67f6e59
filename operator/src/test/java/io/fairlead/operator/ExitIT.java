package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** How the operator's process ends, seen from outside. */
@ExtendWith(KubeApi.class)
class ExitIT {
  @TempDir private Path folder;

  @Test
  void sigtermEndsItWithZeroAndTheLeaseGiven(KubeApi.Running server) throws Exception {
    Installed cluster = Installed.on(server);
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("exit"));
    pool.createPool();
    Process process = start(server, pool, "--watch-namespaces", pool.namespace(), "--port", "0");
    try {
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () ->
                  assertThat(pool.poolConditions())
                      .as(log())
                      .containsEntry("Accepted", "True/Accepted"));
      process.destroy();
      assertThat(code(process)).isZero();
    } finally {
      process.destroyForcibly();
    }
    Lease lease = pool.need(Lease.class, "fairlead-operator");
    assertThat(lease.getSpec().getLeaseDurationSeconds()).as("given back").isOne();
  }

  @Test
  void badUsageEndsItWithTwo(KubeApi.Running server) throws Exception {
    PoolFixture pool = new PoolFixture(server.client(), "default");
    assertThat(code(start(server, pool, "--no-such-option"))).isEqualTo(2);
  }

  @Test
  void whatCannotStartEndsItWithOne(KubeApi.Running server) throws Exception {
    PoolFixture pool = new PoolFixture(server.client(), "default");
    assertThat(code(start(server, pool, "--port", "99999"))).isEqualTo(1);
  }

  private Process start(KubeApi.Running server, PoolFixture pool, String... arguments)
      throws IOException {
    Path config = Files.writeString(folder.resolve("kubeconfig"), server.kubeConfig());
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                FairleadOperator.class.getName()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.redirectOutput(folder.resolve("log").toFile());
    builder.environment().put("KUBECONFIG", config.toString());
    builder.environment().put("POD_NAMESPACE", pool.namespace());
    return builder.start();
  }

  private int code(Process process) throws IOException, InterruptedException {
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).as(log()).isTrue();
    return process.exitValue();
  }

  private String log() throws IOException {
    return Files.readString(folder.resolve("log"));
  }
}
