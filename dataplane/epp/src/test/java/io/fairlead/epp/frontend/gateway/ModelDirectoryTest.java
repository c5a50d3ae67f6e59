package io.fairlead.epp.frontend.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.epp.openai.ModelList;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ModelDirectoryTest {

  private final EmbeddedChannel loop = new EmbeddedChannel();
  private List<ModelConfig> configured = List.of(model("m"));
  private final ModelDirectory directory =
      new ModelDirectory(loop.eventLoop(), NioSocketChannel.class, null, () -> configured);

  private static ModelConfig model(String name) {
    return new ModelConfig(name, Criticality.STANDARD, List.of());
  }

  private ModelList read() {
    List<ModelList> told = new ArrayList<>();
    directory.read(told::add);
    loop.runPendingTasks();
    return told.getFirst();
  }

  /** Anybody may ask as often as they like. */
  @Test
  void theListIsPutTogetherAndWrittenOnceUntilItChanges() {
    ModelList first = read();
    assertThat(new String(first.json(), UTF_8)).contains("\"id\":\"m\"");
    assertThat(first.json()).isSameAs(first.json());
    configured = List.copyOf(configured);
    assertThat(read()).isSameAs(first);
    configured = List.of(model("m"), model("other"));
    ModelList second = read();
    assertThat(new String(second.json(), UTF_8)).contains("\"id\":\"other\"");
    directory.retain(List.of());
    assertThat(read()).as("an endpoint that is gone serves nothing").isNotSameAs(second);
  }
}
