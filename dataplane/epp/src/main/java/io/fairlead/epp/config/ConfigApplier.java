package io.fairlead.epp.config;

import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.core.scheduling.InvalidConfigException;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.status.PickerStatus;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings offered configs into force, one after the other. What can't be run is refused whole: the
 * last good config stays, and the reason is logged, counted and reported once per content.
 *
 * <p>Confined to the control thread.
 */
public final class ConfigApplier {

  private static final Logger LOG = LoggerFactory.getLogger(ConfigApplier.class);

  private final ConfigCompiler compiler;
  private final PoolLoop pool;
  private final PickerStatus status;
  private final Executor control;
  private final Listener listener;

  private @Nullable String seen;
  private @Nullable String running;

  /** What others do when a config changes; called on the control thread. */
  public interface Listener {

    /** About to be applied: from now on its models may show up in requests. */
    void applying(PoolConfig config);

    /** In force. */
    void applied(ConfigOffer.Document document);

    /** Refused. */
    void refused(ConfigOffer offer, String message);
  }

  /** An applier for one pool, confined to {@code control}. */
  public ConfigApplier(
      ConfigCompiler compiler,
      PoolLoop pool,
      PickerStatus status,
      Executor control,
      Listener listener) {
    this.compiler = compiler;
    this.pool = pool;
    this.status = status;
    this.control = control;
    this.listener = listener;
  }

  /** Looks at one state of the source; the same state twice in a row is looked at once. */
  public void offer(ConfigOffer offer) {
    if (offer.contentHash().equals(seen)) {
      return;
    }
    seen = offer.contentHash();
    switch (offer) {
      case ConfigOffer.Unreadable unreadable -> refuse(offer, unreadable.message());
      case ConfigOffer.Document document -> compile(document);
    }
  }

  private void compile(ConfigOffer.Document document) {
    CompiledConfig compiled;
    try {
      compiled = compiler.compile(document.config());
    } catch (InvalidConfigException e) {
      refuse(document, describe(document.origin(), e));
      return;
    }
    listener.applying(document.config());
    pool.configure(compiled)
        .addListener(
            done -> {
              Throwable failure = done.cause();
              control.execute(
                  () -> {
                    if (failure == null) {
                      applied(document);
                    } else {
                      refuse(document, document.origin() + ": could not be applied: " + failure);
                    }
                  });
            });
  }

  private void applied(ConfigOffer.Document document) {
    PoolConfig config = document.config();
    boolean sameDocument = document.configHash().equals(running);
    running = document.configHash();
    if (sameDocument) {
      status.configRestored();
    } else {
      status.configApplied(config.namespace() + "/" + config.name(), document.configHash());
      LOG.info(
          "running config {} of pool {}/{} from {}: {} models",
          document.configHash(),
          config.namespace(),
          config.name(),
          document.origin(),
          config.models().size());
    }
    listener.applied(document);
  }

  private void refuse(ConfigOffer offer, String message) {
    LOG.warn("config refused, the last good one stays: {}", message);
    status.configRefused(offer.contentHash(), message);
    listener.refused(offer, message);
  }

  /** One line per problem, each with origin, field path and reason. */
  public static String describe(String origin, InvalidConfigException e) {
    return e.problems().stream()
        .map(problem -> origin + ": " + problem)
        .collect(Collectors.joining("\n"));
  }
}
