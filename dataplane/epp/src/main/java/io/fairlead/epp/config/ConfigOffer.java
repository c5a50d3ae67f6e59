package io.fairlead.epp.config;

import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.epp.datalayer.EndpointSet;
import org.jspecify.annotations.Nullable;

/** One state of a config source: something to run, or the reason why it can't be read. */
public sealed interface ConfigOffer {

  /** Where it came from, for messages: a file, a folder, a ConfigMap. */
  String origin();

  /** Changes with every byte of the source: tells a new state from one seen before. */
  String contentHash();

  /** Which config it is: what is reported as running or refused. Null when nobody said. */
  @Nullable ConfigHash configHash();

  /**
   * What the source keeps beside it, known to have run: for a picker that starts and can't run
   * this. Null when it keeps none.
   */
  @Nullable ConfigOffer lastGood();

  /** The same, beside what is known to have run. */
  ConfigOffer withLastGood(ConfigOffer offer);

  /**
   * What counts of it also where the rest can't be run. Null when it is run whole or not at all.
   */
  @Nullable PoolPart part();

  /** Its scheduling, for this pool: the pool counts also where that can't be run. */
  ConfigOffer scheduling(PoolConfig pool);

  /** The same, with endpoints that count also where the rest can't be run. */
  ConfigOffer withEndpoints(EndpointSet set);

  /**
   * A document that could be read.
   *
   * @param config what to run
   * @param endpoints endpoints that came with it, null when they come from elsewhere
   * @param scheduling where its scheduling part stands
   */
  record Document(
      String origin,
      String contentHash,
      PoolConfig config,
      ConfigHash configHash,
      @Nullable EndpointSet endpoints,
      SchedulingPlace scheduling,
      @Nullable ConfigOffer lastGood,
      @Nullable PoolPart part)
      implements ConfigOffer {

    @Override
    public Document scheduling(PoolConfig pool) {
      PoolConfig scheduled = pool.scheduledAs(config);
      ConfigHash hash = ConfigDocument.hash(scheduled);
      return new Document(
          origin,
          contentHash + "-" + hash.hex(),
          scheduled,
          hash,
          null,
          scheduling,
          lastGood,
          new PoolPart(pool, null));
    }

    @Override
    public Document withLastGood(ConfigOffer offer) {
      return new Document(
          origin, contentHash, config, configHash, endpoints, scheduling, offer, part);
    }

    /** The same, all of which but its scheduling counts also where that can't be run. */
    Document inParts() {
      return new Document(
          origin,
          contentHash,
          config,
          configHash,
          endpoints,
          scheduling,
          lastGood,
          new PoolPart(config, null));
    }

    @Override
    public Document withEndpoints(EndpointSet set) {
      return new Document(
          origin,
          contentHash,
          config,
          configHash,
          set,
          scheduling,
          lastGood,
          new PoolPart(null, set));
    }
  }

  /**
   * A state that can't be read.
   *
   * @param configHash which config is meant to be there, as far as its source says
   * @param message file, field path and reason of every problem
   * @param rest what of it could be read, to look for what is wrong in that; null for nothing
   */
  record Unreadable(
      String origin,
      String contentHash,
      @Nullable ConfigHash configHash,
      String message,
      @Nullable ConfigOffer lastGood,
      @Nullable PoolPart part,
      @Nullable Rest rest)
      implements ConfigOffer {

    /**
     * A part of a document.
     *
     * @param pluginsAlone whether it lacks all other sections, so that what plugins need of those
     *     is no problem of theirs
     */
    record Rest(Document document, boolean pluginsAlone) {}

    /** Of a source that does not say which config is meant to be there. */
    public Unreadable(String origin, String contentHash, String message) {
      this(origin, contentHash, null, message, null, null, null);
    }

    /** The same, with what of it could be read. */
    Unreadable with(@Nullable Rest read) {
      return new Unreadable(origin, contentHash, configHash, message, lastGood, part, read);
    }

    @Override
    public Unreadable withLastGood(ConfigOffer offer) {
      return new Unreadable(origin, contentHash, configHash, message, offer, part, rest);
    }

    @Override
    public Unreadable scheduling(PoolConfig pool) {
      return new Unreadable(
          origin,
          contentHash + "-" + ConfigDocument.hash(pool).hex(),
          configHash,
          message,
          lastGood,
          new PoolPart(pool, null),
          rest);
    }

    @Override
    public Unreadable withEndpoints(EndpointSet set) {
      return new Unreadable(
          origin, contentHash, configHash, message, lastGood, new PoolPart(null, set), rest);
    }

    /** The same, and why another thing that belongs to it can't be read either. */
    Unreadable and(Unreadable other) {
      return new Unreadable(
          origin + ", " + other.origin,
          contentHash + "-" + other.contentHash,
          message + "\n" + other.message);
    }

    /** The same, of a source that says which config is meant to be there. */
    Unreadable of(@Nullable ConfigHash hash) {
      return new Unreadable(origin, contentHash, hash, message, lastGood, part, rest);
    }
  }
}
