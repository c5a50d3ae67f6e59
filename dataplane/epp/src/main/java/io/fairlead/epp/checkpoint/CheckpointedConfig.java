package io.fairlead.epp.checkpoint;

import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.epp.config.ConfigOffer;
import io.fairlead.epp.config.ConfigReaders;
import io.fairlead.epp.config.ConfigSource;
import java.nio.file.Path;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A source of configs, and what a checkpoint has of it for as long as it does not answer: an answer
 * that nothing is there is one, too.
 */
public final class CheckpointedConfig implements ConfigSource {

  private static final Logger LOG = LoggerFactory.getLogger(CheckpointedConfig.class);

  private final ConfigSource source;
  private final CheckpointUse use;
  private final Path path;
  private final long patienceMillis;
  private final ScheduledExecutorService control;

  /** Confined to the control thread. */
  private boolean answered;

  /** What stands in; null while nothing has to. Confined to the control thread. */
  private @Nullable ConfigOffer standIn;

  /**
   * A source that is not watched yet.
   *
   * @param path where the checkpoint lies, for messages
   * @param patienceMillis how long the source gets to answer
   * @param control the thread on which offers are handled
   */
  public CheckpointedConfig(
      ConfigSource source,
      CheckpointUse use,
      Path path,
      long patienceMillis,
      ScheduledExecutorService control) {
    this.source = source;
    this.use = use;
    this.path = path;
    this.patienceMillis = patienceMillis;
    this.control = control;
  }

  /** All offers come on the control thread, so that an older one can't follow a newer one. */
  @Override
  public void start(Consumer<ConfigOffer> sink) {
    source.start(offer -> control.execute(() -> answer(offer, sink)));
    Checkpoint checkpoint = use.checkpoint();
    if (checkpoint != null) {
      var _ =
          control.schedule(() -> standIn(checkpoint, sink), patienceMillis, TimeUnit.MILLISECONDS);
    }
  }

  @Override
  public ConfigOffer read() {
    return source.read();
  }

  @Override
  public void close() {
    source.close();
  }

  private void answer(ConfigOffer offer, Consumer<ConfigOffer> sink) {
    answered = true;
    if (standIn != null && standIn.contentHash().equals(offer.contentHash())) {
      use.applied(offer.origin()); // as it says the same, it isn't applied again
    }
    sink.accept(offer);
  }

  private void standIn(Checkpoint checkpoint, Consumer<ConfigOffer> sink) {
    if (answered) {
      return;
    }
    LOG.warn(
        "the source of the config has not answered within {} ms: running the one of {}, kept at {}",
        patienceMillis,
        path,
        checkpoint.savedAt());
    ConfigOffer kept =
        ConfigReaders.document(path.toString(), ConfigDocument.write(checkpoint.config()));
    standIn = kept;
    use.standIn(kept.origin());
    sink.accept(kept);
  }
}
