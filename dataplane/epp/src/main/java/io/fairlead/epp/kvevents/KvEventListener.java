package io.fairlead.epp.kvevents;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.TokenizerSource;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.TargetModel;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Listens to engines while and as the config says so. Used by one thread; what it tells of itself
 * may be asked by any.
 */
public final class KvEventListener implements AutoCloseable {

  private static final KvEventReader.State NOBODY = new KvEventReader.State(0, 0, 0, 0);

  private final int mostBlocks;
  private final LongSupplier clock;
  private final KvEventReader.Sink sink;
  private final KvEventCounts counts = new KvEventCounts();
  private List<EndpointSpec> endpoints = List.of();
  private KvEventReader.@Nullable Settings settings;
  private volatile @Nullable KvEventReader reader;

  /**
   * A listener that listens to nobody yet.
   *
   * @param mostBytes most memory for what engines hold
   * @param clock monotonic nanoseconds
   */
  public KvEventListener(long mostBytes, LongSupplier clock, KvEventReader.Sink sink) {
    mostBlocks = KvEventReader.blocks(mostBytes);
    this.clock = clock;
    this.sink = sink;
  }

  /** This config is in force. */
  public void configured(CompiledConfig config) {
    boolean compares =
        config.settings(TokenizerSource.class).stream().anyMatch(TokenizerSource::isThere);
    KvEventReader.Settings wanted =
        config.kvEvents() == null
            ? null
            : KvEventReader.Settings.of(config.kvEvents(), compares, mostBlocks, clock);
    if (wanted == null || !wanted.equals(settings)) {
      close();
      if (wanted != null) {
        KvEventReader started = new KvEventReader(wanted, counts, sink);
        started.targetPorts(config.source().targetPorts());
        started.endpoints(endpoints);
        reader = started;
      }
      settings = wanted;
    }
    KvEventReader now = reader;
    if (now != null) {
      now.models(models(config));
      now.targetPorts(config.source().targetPorts());
    }
  }

  private static Set<String> models(CompiledConfig config) {
    Set<String> models = new HashSet<>();
    for (ModelConfig model : config.source().models()) {
      models.add(model.name());
      for (TargetModel target : model.targets()) {
        models.add(target.name());
      }
    }
    for (TokenizerSource tokenizer : config.settings(TokenizerSource.class)) {
      if (tokenizer.isThere()) {
        models.add(tokenizer.model());
        models.addAll(tokenizer.adapters());
      }
    }
    return models;
  }

  /** The pool has these endpoints. */
  public void endpoints(List<EndpointSpec> all) {
    endpoints = List.copyOf(all);
    KvEventReader now = reader;
    if (now != null) {
      now.endpoints(endpoints);
    }
  }

  /** What became of events. */
  public KvEventCounts counts() {
    return counts;
  }

  /** How many endpoints tell of their caches. */
  public KvEventReader.State state() {
    KvEventReader now = reader;
    return now == null ? NOBODY : now.state();
  }

  /** Listens to nobody any more. */
  @Override
  public void close() {
    KvEventReader before = reader;
    reader = null;
    settings = null;
    if (before != null) {
      before.close();
    }
  }
}
