package io.fairlead.epp.config;

import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** A pool that is no resource: pods with some labels, scheduled as another source says. */
public final class SelectedPodsSource implements ConfigSource {

  private final ConfigSource scheduling;
  private final PoolConfig pool;

  /**
   * A source that is not watched yet.
   *
   * @param scheduling of whose offers only the scheduling counts; closed with this
   */
  public SelectedPodsSource(
      ConfigSource scheduling,
      String namespace,
      String name,
      Map<String, String> labels,
      List<Integer> ports) {
    this.scheduling = scheduling;
    pool =
        new PoolConfig(namespace, name, labels, ports, "http", List.of(), SchedulerConfig.DEFAULT);
  }

  @Override
  public void start(Consumer<ConfigOffer> sink) {
    scheduling.start(offer -> sink.accept(offer.scheduling(pool)));
  }

  @Override
  public ConfigOffer read() {
    return scheduling.read().scheduling(pool);
  }

  @Override
  public void close() {
    scheduling.close();
  }
}
