package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.OperatorProgram;
import io.fairlead.operator.testing.PoolFixture;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** How the operator's process ends, seen from outside. */
@ExtendWith(KubeApi.class)
class ExitIT {
  @TempDir private Path folder;

  @Test
  void sigtermEndsItWithZeroAndTheLeaseGiven(KubeApi.Running server) {
    Installed cluster = Installed.on(server);
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("exit"));
    cluster.letLead(pool.namespace());
    pool.createPool();
    try (OperatorProgram program =
        start(server, pool, "--watch-namespaces", pool.namespace(), "--adopt-grace-seconds", "0")) {
      await()
          .atMost(OperatorProgram.STARTS)
          .untilAsserted(
              () ->
                  assertThat(pool.poolConditions())
                      .as(program.log())
                      .containsEntry("Accepted", "True/Accepted"));
      program.terminate();
      assertThat(program.code()).as(program.log()).isZero();
      assertThat(program.log())
          .as("that the cluster lacks kinds that it need not have is no warning")
          .doesNotContain("will retry");
      assertThat(program.log())
          .as("nothing is logged before it is known how")
          .doesNotContain("DEBUG");
    }
    Lease lease = pool.need(Lease.class, "fairlead-operator");
    assertThat(lease.getSpec().getHolderIdentity()).as("given back").isEmpty();
  }

  @Test
  void badUsageEndsItWithTwo(KubeApi.Running server) {
    PoolFixture pool = new PoolFixture(server.client(), "default");
    try (OperatorProgram program = start(server, pool, "--no-such-option")) {
      assertThat(program.code()).as(program.log()).isEqualTo(2);
    }
  }

  @Test
  void whatCannotStartEndsItWithOne(KubeApi.Running server) throws IOException {
    PoolFixture pool = new PoolFixture(server.client(), "default");
    try (ServerSocket taken = new ServerSocket(0);
        OperatorProgram program =
            start(server, pool, "--port", String.valueOf(taken.getLocalPort()))) {
      assertThat(program.code()).as(program.log()).isEqualTo(1);
    }
  }

  private OperatorProgram start(KubeApi.Running server, PoolFixture pool, String... arguments) {
    return OperatorProgram.start(
        "operator", server.kubeConfig(), pool.namespace(), folder, arguments);
  }
}
