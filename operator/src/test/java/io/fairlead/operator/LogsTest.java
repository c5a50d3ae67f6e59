package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
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
      String text = "listSyncAndWatch failed for {}, will retry";
      reflector.warn(text, "llm-d.ai/v1alpha2/namespaces/a/inferenceobjectives");
      reflector.warn(text, "v1/namespaces/a/pods");
    } finally {
      System.setOut(before);
    }
    assertThat(written.toString(StandardCharsets.UTF_8))
        .contains("namespaces/a/pods")
        .doesNotContain("inferenceobjectives");
  }
}
