package io.fairlead.epp.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.epp.config.ConfigOffer;
import io.fairlead.epp.config.ConfigReaders;
import io.fairlead.epp.config.ConfigSource;
import io.fairlead.epp.datalayer.EndpointSet;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CheckpointedConfigTest {

  private static final Path PATH = Path.of("/var/lib/checkpoint.json");
  private static final String MAP = "ConfigMap ns/pool-epp";

  private final PoolConfig kept = config(8000);
  private final CheckpointUse use =
      new CheckpointUse(
          new Checkpoint(
              Instant.parse("2026-03-01T10:00:00Z"),
              kept,
              new EndpointSet(List.of(), 0, Map.of()),
              1));
  private final EmbeddedChannel control = new EmbeddedChannel();
  private final Source source = new Source();
  private final List<ConfigOffer> offered = new ArrayList<>();

  private static PoolConfig config(int port) {
    return new PoolConfig(
        "ns", "pool", Map.of(), List.of(port), "http", List.of(), SchedulerConfig.DEFAULT);
  }

  @BeforeEach
  void standIn() {
    control.freezeTime();
    new CheckpointedConfig(source, use, PATH, 500, control.eventLoop()).start(offered::add);
    assertThat(use.config()).isFalse();
    control.advanceTimeBy(500, TimeUnit.MILLISECONDS);
    control.runScheduledPendingTasks();
    assertThat(offered).hasSize(1);
    use.applied(offered.getFirst().origin());
    assertThat(use.config()).isTrue();
  }

  /** What can't be run changes nothing of what is in force. */
  @Test
  void theCheckpointIsInUseUntilSomethingElseIsInForce() {
    answer(new ConfigOffer.Unreadable(MAP, "hash", "it is empty"));
    assertThat(offered).hasSize(2);
    assertThat(use.config()).isTrue();
    answer(document(config(8001)));
    assertThat(use.config()).as("it is about to be applied").isTrue();
    use.applied(MAP);
    assertThat(use.config()).isFalse();
  }

  @Test
  void theSameDocumentIsInForceAlready() {
    answer(document(kept));
    assertThat(use.config()).isFalse();
  }

  private static ConfigOffer document(PoolConfig config) {
    return ConfigReaders.document(MAP, ConfigDocument.write(config));
  }

  private void answer(ConfigOffer offer) {
    Objects.requireNonNull(source.sink).accept(offer);
    control.runPendingTasks();
  }

  private static final class Source implements ConfigSource {
    private @Nullable Consumer<ConfigOffer> sink;

    @Override
    public void start(Consumer<ConfigOffer> to) {
      sink = to;
    }

    @Override
    public ConfigOffer read() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
      sink = null;
    }
  }
}
