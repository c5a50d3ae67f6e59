package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

class LogsTest {

  @Test
  void aKindThatTheClusterNeedNotHaveIsNoWarning() {
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    PrintStream before = System.out;
    System.setOut(new PrintStream(written, true, StandardCharsets.UTF_8));
    try {
      Logs.configure(Logs.Format.PLAIN);
      Logger reflector =
          LoggerFactory.getLogger("io.fabric8.kubernetes.client.informers.impl.cache.Reflector");
      // As the client has it.
      String text = "{} failed for {}, will retry";
      Exception why = new IllegalStateException("404");
      for (String kind :
          List.of(
              "llm-d.ai/v1alpha2/namespaces/a/inferenceobjectives",
              "monitoring.coreos.com/v1/podmonitors",
              "inference.networking.x-k8s.io/v1alpha2/namespaces/a/inferencepools",
              "inference.networking.k8s.io/v1/namespaces/a/inferencepools",
              "v1/namespaces/a/pods")) {
        reflector.warn(text, "listSyncAndWatch", kind, why);
      }
    } finally {
      System.setOut(before);
    }
    assertThat(written.toString(StandardCharsets.UTF_8))
        .contains("namespaces/a/pods", "inference.networking.k8s.io/v1/namespaces/a/inferencepools")
        .doesNotContain("inferenceobjectives", "podmonitors", "x-k8s.io");
  }
}
