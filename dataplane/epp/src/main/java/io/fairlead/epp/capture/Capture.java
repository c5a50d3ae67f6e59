package io.fairlead.epp.capture;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.HealthChange;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.PoolListener;
import io.fairlead.core.Probe;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.external.Advice;
import io.fairlead.core.prefix.HashSalt;
import io.fairlead.core.scheduling.CompiledConfig;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes down all that one pool's core is told, with numbers and times, so that it can be told the
 * same again. Its methods are called on the pool's loop, never wait, and hand lines to a thread of
 * its own; what comes too fast for the disk is dropped and counted.
 *
 * <p>Requests are written when they are over: until then they are kept, as many as are in flight.
 */
public final class Capture implements AutoCloseable {

  /** Memory for lines that wait to be written. */
  private static final long QUEUE_BYTES = 32 << 20;

  /** Ticks in one line: some seconds of them. */
  private static final int TICKS_PER_LINE = 64;

  private final CaptureConfig config;
  private final HashSalt salt;
  private final long origin;
  private final LineQueue queue;
  private final CaptureWriter writer;
  private final Set<String> headers;
  private final Set<CapturedRequest> open = new LinkedHashSet<>();
  private Map<String, EndpointSpec> endpoints = Map.of();
  private long seq;

  /** When the core was told of the event under way, as times are written. */
  private long at;

  /** Ticks that are not handed over yet. */
  private @Nullable EventRun ticks;

  /** What the core was told and is not written down. */
  private final Set<Untold> untold = EnumSet.noneOf(Untold.class);

  private boolean sealed;

  Capture(CaptureConfig config, HashSalt salt, long origin, LineQueue queue, CaptureWriter writer) {
    this.config = config;
    this.salt = salt;
    this.origin = origin;
    this.queue = queue;
    this.writer = writer;
    headers = Set.copyOf(config.headers());
  }

  /**
   * Begins a capture: its first files are there when this returns.
   *
   * @param limits of the core that is captured
   * @param clock of the core: monotonic nanoseconds
   * @param wall what the files are named after
   * @throws IllegalArgumentException if its folder can't be written or its salt can't be read
   */
  public static Capture open(
      CaptureConfig config, PoolLimits limits, LongSupplier clock, InstantSource wall) {
    HashSalt salt = SaltSource.salt(config.saltFile());
    LineQueue queue = new LineQueue(QUEUE_BYTES);
    long origin = clock.getAsLong();
    CaptureFolder folder = new CaptureFolder(config, wall.instant());
    Header header = new Header(wall.instant(), origin, config, limits);
    CaptureWriter writer = CaptureWriter.start(queue, folder, header, clock);
    return new Capture(config, salt, origin, queue, writer);
  }

  /** What prompts have to be hashed with for the core to see what is written. Any thread. */
  public HashSalt salt() {
    return salt;
  }

  /** A config is in force. */
  public void configured(long now, CompiledConfig compiled) {
    if (!sealed) {
      queue.offer(new Line.Config(nextSeq(), told(now), compiled.source()));
    }
  }

  /** The core is about to be given these endpoints. */
  public void endpoints(long now, List<EndpointSpec> specs) {
    if (!sealed) {
      endpoints = HashMap.newHashMap(specs.size());
      specs.forEach(spec -> endpoints.put(spec.name(), spec));
      queue.offer(new Line.Endpoints(nextSeq(), told(now), List.copyOf(specs)));
    }
  }

  /** So many pickers share the pool. */
  public void replicas(long now, int count) {
    if (!sealed) {
      queue.offer(new Line.Replicas(nextSeq(), told(now), count));
    }
  }

  /**
   * The core is about to be told of a scrape; one of an endpoint that has left is of no effect and
   * left out.
   */
  public void scraped(long now, EndpointSpec endpoint, long begunAt, EndpointMetrics metrics) {
    EndpointSpec current = endpoints.get(endpoint.name());
    if (!sealed && current != null && isSameLife(current, endpoint)) {
      queue.offer(
          new Line.Scrape(nextSeq(), told(now), endpoint.name(), sinceStart(begunAt), metrics));
    }
  }

  /** The core is about to be told that a scrape failed. */
  public void unreachable(long now, EndpointSpec endpoint, long begunAt, Failure failure) {
    EndpointSpec current = endpoints.get(endpoint.name());
    if (!sealed && current != null && isSameLife(current, endpoint)) {
      queue.offer(
          new Line.Unreachable(
              nextSeq(), told(now), endpoint.name(), sinceStart(begunAt), failure));
    }
  }

  /** The core is about to be told that time has passed. */
  public void tick(long now) {
    if (sealed) {
      return;
    }
    EventRun run = ticks;
    if (run == null) {
      ticks = new EventRun(nextSeq(), told(now));
      return;
    }
    run.add(nextSeq(), told(now));
    if (run.size() >= TICKS_PER_LINE) {
      queue.offer(new Line.Ticks(run));
      ticks = null;
    }
  }

  /**
   * The core is about to be told what came of a probe.
   *
   * @param failure null if it was answered
   */
  public void probed(long now, long probe, @Nullable Failure failure) {
    if (!sealed) {
      queue.offer(new Line.Probed(nextSeq(), told(now), probe, failure));
    }
  }

  /** The core is about to reject all that wait. */
  public void refusedWaiting(long now) {
    if (!sealed) {
      queue.offer(new Line.RefusedWaiting(nextSeq(), told(now)));
    }
  }

  /**
   * The core is about to be told something that is not written down. That is noted the first time:
   * no replay of what comes after it has to come out the same.
   */
  public void untold(long now, Untold what) {
    if (!sealed && untold.add(what)) {
      queue.offer(new Line.NotTold(nextSeq(), told(now), what));
    }
  }

  /** What to give to the core in place of what it would have got: the same, watched. */
  public PoolListener watched(PoolListener given) {
    return new PoolListener() {
      @Override
      public boolean probe(Probe probe) {
        boolean asked = given.probe(probe);
        if (!asked && !sealed) {
          queue.offer(new Line.Unasked(nextSeq(), at, probe.id()));
        }
        return asked;
      }

      @Override
      public void healthChanged(HealthChange change) {
        given.healthChanged(change);
      }
    };
  }

  private static boolean isSameLife(EndpointSpec one, EndpointSpec other) {
    return one.incarnation().equals(other.incarnation())
        && one.address().equals(other.address())
        && one.port() == other.port();
  }

  /**
   * A request is about to arrive.
   *
   * @param advice where an external scheduler wants it; null where none has said
   * @return null when it is not captured
   */
  public @Nullable CapturedRequest arrive(long now, RequestFacts facts, @Nullable Advice advice) {
    if (sealed || !sampled(facts.seed())) {
      return null;
    }
    if (facts.tokens() != null) {
      untold(now, Untold.TOKENS);
    }
    CapturedRequest request =
        new CapturedRequest(this, now, facts, advice, new ReadHeaders(facts.headers(), headers));
    open.add(request);
    return request;
  }

  /** Mixed first: the seed's own bits decide where the request goes. */
  private boolean sampled(long seed) {
    long mixed = HashIds.mix(seed);
    return (mixed >>> 11) * 0x1p-53 < config.share();
  }

  /** Nothing more is taken in; requests that are not over are written as they are. */
  public void seal() {
    sealed = true;
    open.forEach(CapturedRequest::leaveOpen);
    open.forEach(queue::offer);
    open.clear();
    EventRun last = ticks;
    if (last != null) {
      queue.offer(new Line.Ticks(last));
      ticks = null;
    }
  }

  /** Counts of lines. Any thread. */
  public CaptureCounters counters() {
    return writer.counters();
  }

  /** Writes what was handed over and closes the files. Blocks; after {@link #seal}. */
  @Override
  public void close() {
    writer.close();
  }

  long nextSeq() {
    return ++seq;
  }

  /** Number of the event that was taken in last. */
  long lastSeq() {
    return seq;
  }

  /** When the event under way was told. */
  long at() {
    return at;
  }

  /** When that is, as times are written, of an event that is told now. */
  long told(long now) {
    at = sinceStart(now);
    return at;
  }

  private long sinceStart(long time) {
    return time - origin;
  }

  void finished(CapturedRequest request) {
    if (open.remove(request)) {
      queue.offer(request);
    }
  }
}
