package io.fairlead.epp.config;

import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.epp.datalayer.EndpointSet;
import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.status.PickerStatus;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings offered configs into force, one after the other. What can't be run is refused whole: the
 * last good config stays, and the reason is logged, counted and reported once per content. A picker
 * that starts and can't run the newest runs the one that the source keeps as the last good one.
 *
 * <p>Confined to the control thread.
 */
public final class ConfigApplier {

  private static final Logger LOG = LoggerFactory.getLogger(ConfigApplier.class);

  private final DocumentCompiler compiler;
  private final PoolLoop pool;
  private final PickerStatus status;
  private final Executor control;
  private final Listener listener;

  /** Content of the newest offer: what the status has to tell of. */
  private @Nullable String seen;

  private @Nullable CompiledConfig running;

  /** Content of what waits for its endpoints. */
  private @Nullable String awaiting;

  /** What others do when a config changes; called on the control thread. */
  public interface Listener {

    /**
     * Finds the endpoints of a config that is to replace another; a later call takes the place of
     * one that is not answered.
     *
     * @param found to be called once, on the control thread: with null when the endpoints stay
     */
    void follow(PoolConfig config, Consumer<@Nullable EndpointSet> found);

    /**
     * About to be applied: from now on its models may show up in requests.
     *
     * @param endpoints that come into force with it; null when they stay
     */
    void applying(PoolConfig config, @Nullable EndpointSet endpoints);

    /** What came into force before its endpoints were known has these. */
    void found(EndpointSet endpoints);

    /** In force. */
    void applied(ConfigOffer.Document document, CompiledConfig config);

    /** Refused. */
    void refused(ConfigOffer offer, String message);
  }

  /** An applier for one pool, confined to {@code control}. */
  public ConfigApplier(
      DocumentCompiler compiler,
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
    ConfigOffer lastGood = offer.lastGood();
    if (!take(offer) && running == null && lastGood != null) {
      take(lastGood);
    }
  }

  /** Whether it can be run. */
  private boolean take(ConfigOffer offer) {
    return switch (offer) {
      case ConfigOffer.Unreadable unreadable -> refuse(offer, unreadable.message());
      case ConfigOffer.Document document ->
          switch (compiler.compile(document, running)) {
            case DocumentCompiler.Result.Refused refused -> refuse(document, refused.message());
            case DocumentCompiler.Result.Usable usable -> apply(document, usable);
          };
    };
  }

  /** New models must not meet old endpoints, so both come into force together. */
  private boolean apply(ConfigOffer.Document document, DocumentCompiler.Result.Usable compiled) {
    if (running == null) {
      // There is nothing that it could be mixed with.
      return configure(document, compiled, document.endpoints(), false);
    }
    try {
      awaiting = document.contentHash();
      listener.follow(
          document.config(),
          found -> {
            if (document.contentHash().equals(awaiting)) {
              awaiting = null;
              configure(document, compiled, found == null ? document.endpoints() : found, true);
            }
          });
    } catch (RuntimeException | Error e) {
      awaiting = null;
      notApplied(document, e);
      return false;
    }
    return true;
  }

  private boolean configure(
      ConfigOffer.Document document,
      DocumentCompiler.Result.Usable compiled,
      @Nullable EndpointSet endpoints,
      boolean followed) {
    try {
      listener.applying(document.config(), endpoints);
      pool.configure(compiled.config(), endpoints == null ? null : endpoints.ready())
          .addListener(
              done -> {
                Throwable failure = done.cause();
                control.execute(
                    () -> {
                      if (failure == null) {
                        applied(document, compiled, followed);
                      } else {
                        notApplied(document, failure);
                      }
                    });
              });
    } catch (RuntimeException | Error e) {
      notApplied(document, e);
      return false;
    }
    return true;
  }

  private void notApplied(ConfigOffer.Document document, Throwable failure) {
    LOG.error("{}: could not be applied", document.origin(), failure);
    refuse(document, document.origin() + ": could not be applied: " + failure);
  }

  private void applied(
      ConfigOffer.Document document, DocumentCompiler.Result.Usable compiled, boolean followed) {
    running = compiled.config();
    PoolConfig config = document.config();
    boolean another = !document.configHash().equals(status.current().configHash());
    status.configApplied(
        config.namespace() + "/" + config.name(), document.configHash(), isNewest(document));
    if (another) {
      LOG.info(
          "running config {} of pool {}/{} from {}: {} models",
          document.configHash(),
          config.namespace(),
          config.name(),
          document.origin(),
          config.models().size());
      compiled.warnings().forEach(warning -> LOG.warn("config: {}", warning));
    }
    listener.applied(document, compiled.config());
    if (!followed && awaiting == null) {
      listener.follow(
          config,
          found -> {
            if (found != null) {
              listener.found(found);
            }
          });
    }
  }

  private boolean refuse(ConfigOffer offer, String message) {
    LOG.warn("config refused, {}: {}", instead(offer), message);
    if (isNewest(offer)) {
      status.configRefused(offer.configHash(), message);
    }
    listener.refused(offer, message);
    return false;
  }

  private String instead(ConfigOffer offer) {
    if (running != null) {
      return "the last good one stays";
    }
    return offer.lastGood() == null
        ? "and there is no good one to run"
        : "the last good one is tried";
  }

  /** Applying takes a while: something newer may have been seen since. */
  private boolean isNewest(ConfigOffer offer) {
    return offer.contentHash().equals(seen);
  }
}
