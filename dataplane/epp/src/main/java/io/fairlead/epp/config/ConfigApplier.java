package io.fairlead.epp.config;

import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.epp.datalayer.EndpointSet;
import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.status.PickerStatus;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings offered configs into force, one after the other. A document that can't be run is refused
 * whole: the last good config stays, and the reason is logged, counted and reported once per
 * content. What the source tells of the pool apart from the scheduling counts nevertheless, under
 * the one in force. A picker that starts and can't run the newest runs the one that the source
 * keeps as the last good one.
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

  /** What the status has to tell of. */
  private @Nullable ConfigOffer newest;

  /** Contents of which it is known, since the newest was offered, that they can't be run. */
  private final Set<String> refused = new HashSet<>();

  private @Nullable CompiledConfig running;

  /** What that was made of. */
  private ConfigOffer.@Nullable Document inForce;

  /** Content of what waits for its endpoints. */
  private @Nullable String awaiting;

  /** Whether the pool's loop has one that it has not answered yet: what comes next waits. */
  private boolean applying;

  /** What others do when a config changes; called on the control thread. */
  public interface Listener {

    /**
     * Finds the endpoints of a config that is to replace another; a later call takes the place of
     * one that is not answered.
     *
     * @param found to be called once, on the control thread: with null when the endpoints stay
     */
    void follow(PoolConfig config, Consumer<@Nullable EndpointSet> found);

    /** About to be applied: from now on its models may show up in requests. */
    void applying(PoolConfig config);

    /** What came into force before its endpoints were known has these. */
    void found(EndpointSet endpoints);

    /**
     * In force.
     *
     * @param endpoints that came into force with it; null when they stay
     */
    void applied(
        ConfigOffer.Document document, CompiledConfig config, @Nullable EndpointSet endpoints);

    /** Could not be applied: what was in force before still is. */
    void notApplied();

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
    if (isNewest(offer)) {
      return;
    }
    newest = offer;
    refused.clear();
    take(offer);
  }

  private void take(ConfigOffer offer) {
    switch (offer) {
      case ConfigOffer.Unreadable unreadable -> refuse(offer, compiler.problems(unreadable));
      case ConfigOffer.Document document -> {
        switch (compiler.compile(document, running)) {
          case DocumentCompiler.Result.Refused no -> refuse(document, no.message());
          case DocumentCompiler.Result.Usable usable -> apply(document, usable);
        }
      }
    }
  }

  /** New models must not meet old endpoints, so both come into force together. */
  private void apply(ConfigOffer.Document document, DocumentCompiler.Result.Usable compiled) {
    if (applying) {
      return; // It is taken again at the end of what is being applied.
    }
    if (running == null) {
      // There is nothing that it could be mixed with.
      configure(document, compiled, document.endpoints(), false);
      return;
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
    }
  }

  private void configure(
      ConfigOffer.Document document,
      DocumentCompiler.Result.Usable compiled,
      @Nullable EndpointSet endpoints,
      boolean followed) {
    applying = true;
    try {
      listener.applying(document.config());
      pool.configure(compiled.config(), endpoints == null ? null : endpoints.ready())
          .addListener(
              done -> {
                Throwable failure = done.cause();
                control.execute(
                    () -> {
                      if (failure == null) {
                        applied(document, compiled, endpoints, followed);
                      } else {
                        notApplied(document, failure);
                      }
                    });
              });
    } catch (RuntimeException | Error e) {
      notApplied(document, e);
    }
  }

  /** Its endpoints are followed no more, and those of what is in force still. */
  private void notApplied(ConfigOffer.Document document, Throwable failure) {
    applying = false;
    LOG.error("{}: could not be applied", document.origin(), failure);
    listener.notApplied();
    if (inForce != null) {
      follow(inForce);
    }
    refuse(document, document.origin() + ": could not be applied: " + failure);
    lookAtNewest(document);
  }

  private void follow(ConfigOffer.Document document) {
    try {
      listener.follow(
          document.config(),
          found -> {
            if (found != null) {
              listener.found(found);
            }
          });
    } catch (RuntimeException | Error e) {
      LOG.error("{}: its endpoints can't be followed", document.origin(), e);
    }
  }

  private void applied(
      ConfigOffer.Document document,
      DocumentCompiler.Result.Usable compiled,
      @Nullable EndpointSet endpoints,
      boolean followed) {
    applying = false;
    running = compiled.config();
    inForce = document;
    PoolConfig config = document.config();
    boolean another = !document.configHash().equals(status.current().configHash());
    boolean mended = isNewest(document) && status.current().refused() != null;
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
    } else if (mended) {
      LOG.info(
          "what was refused is good again: running config {} of pool {}/{}, as before",
          document.configHash(),
          config.namespace(),
          config.name());
    }
    listener.applied(document, compiled.config(), endpoints);
    if (!followed) {
      follow(document);
    }
    lookAtNewest(document);
  }

  /** What was offered while another was being applied is still to be taken. */
  private void lookAtNewest(ConfigOffer.Document settled) {
    if (newest == null || isNewest(settled)) {
      return;
    }
    if (refused.contains(newest.contentHash())) {
      standIn(newest);
    } else {
      take(newest);
    }
  }

  private void refuse(ConfigOffer offer, String message) {
    refused.add(offer.contentHash());
    LOG.warn("config refused, {}: {}", instead(offer), message);
    if (isNewest(offer)) {
      status.configRefused(offer.configHash(), message);
    }
    listener.refused(offer, message);
    if (isNewest(offer)) {
      standIn(offer);
    }
  }

  /** Brings into force what there is in the place of one that can't be run. */
  private void standIn(ConfigOffer offer) {
    ConfigOffer other = running == null ? offer.lastGood() : underOldScheduling(offer);
    if (other != null && !applying && !refused.contains(other.contentHash())) {
      take(other);
    }
  }

  /** Null when that is no other than what is in force. */
  private ConfigOffer.@Nullable Document underOldScheduling(ConfigOffer offer) {
    PoolPart part = offer.part();
    ConfigOffer.Document now = inForce;
    if (part == null || now == null) {
      return null;
    }
    ConfigOffer.Document other = part.scheduledAs(now, offer.contentHash() + "-part");
    boolean same =
        other.configHash().equals(now.configHash())
            && Objects.equals(other.endpoints(), now.endpoints());
    return same ? null : other;
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
    return newest != null && offer.contentHash().equals(newest.contentHash());
  }
}
