package io.fairlead.epp.checkpoint;

import io.fairlead.crds.config.PoolConfig;
import io.fairlead.epp.datalayer.EndpointSet;
import io.fairlead.epp.datalayer.EndpointSource;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A source of endpoints, and what a checkpoint has of them until it answers for the first time.
 * Confined to the control thread.
 */
public final class CheckpointedEndpoints implements EndpointSource {

  private static final Logger LOG = LoggerFactory.getLogger(CheckpointedEndpoints.class);

  private final EndpointSource source;
  private final CheckpointUse use;
  private final long patienceMillis;
  private final ScheduledExecutorService control;
  private Consumer<EndpointSet> sink = set -> {};

  /** Whether the source has found endpoints, of any pool. */
  private boolean answered;

  /** Number of the newest call of {@link #follow}. */
  private long followed;

  /** Whether what that call was answered is in force. */
  private boolean taken;

  /** What the source answered when the checkpoint had stood in, and that was not taken yet. */
  private @Nullable EndpointSet late;

  /**
   * A source that is not watched yet.
   *
   * @param patienceMillis how long the source gets to find the endpoints of a pool
   */
  public CheckpointedEndpoints(
      EndpointSource source,
      CheckpointUse use,
      long patienceMillis,
      ScheduledExecutorService control) {
    this.source = source;
    this.use = use;
    this.patienceMillis = patienceMillis;
    this.control = control;
  }

  @Override
  public void start(Consumer<EndpointSet> sink) {
    this.sink = sink;
    source.start(sink);
  }

  @Override
  public void follow(PoolConfig pool, Consumer<@Nullable EndpointSet> found) {
    long call = ++followed;
    taken = false;
    late = null;
    Once once = new Once(found);
    source.follow(
        pool,
        set -> {
          answered = true;
          use.endpoints(false);
          if (!once.give(set) && set != null) {
            late = set;
            tellLate();
          }
        });
    Checkpoint checkpoint = use.checkpoint();
    if (checkpoint == null || answered || !checkpoint.isOf(pool)) {
      return;
    }
    var _ =
        control.schedule(
            () -> {
              if (!answered && call == followed) {
                standIn(checkpoint, once);
              }
            },
            patienceMillis,
            TimeUnit.MILLISECONDS);
  }

  @Override
  public void taken() {
    taken = true;
    source.taken();
    tellLate();
  }

  private void tellLate() {
    EndpointSet set = late;
    if (taken && set != null) {
      late = null;
      source.taken();
      sink.accept(set);
    }
  }

  @Override
  public void close() {
    source.close();
  }

  private void standIn(Checkpoint checkpoint, Once once) {
    if (use.endpoints()) {
      once.give(null); // They are in force already.
      return;
    }
    LOG.warn(
        "nobody has told of endpoints within {} ms: using those {} kept at {}",
        patienceMillis,
        checkpoint.endpoints().ready().size(),
        checkpoint.savedAt());
    use.endpoints(true);
    once.give(checkpoint.endpoints());
  }

  /** Passes one answer on. */
  private static final class Once {
    private @Nullable Consumer<@Nullable EndpointSet> found;

    Once(Consumer<@Nullable EndpointSet> found) {
      this.found = found;
    }

    /** Whether this was the first. */
    boolean give(@Nullable EndpointSet set) {
      Consumer<@Nullable EndpointSet> waiting = found;
      if (waiting == null) {
        return false;
      }
      found = null;
      waiting.accept(set);
      return true;
    }
  }
}
