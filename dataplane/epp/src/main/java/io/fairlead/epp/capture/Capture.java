package io.fairlead.epp.capture;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.prefix.HashSalt;
import io.fairlead.core.scheduling.CompiledConfig;
import java.time.InstantSource;
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

  private final CaptureConfig config;
  private final HashSalt salt;
  private final long origin;
  private final LineQueue queue;
  private final CaptureWriter writer;
  private final Set<String> headers;
  private final Set<CapturedRequest> open = new LinkedHashSet<>();
  private Map<String, EndpointSpec> endpoints = Map.of();
  private long seq;
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
      queue.offer(new Line.Config(nextSeq(), sinceStart(now), compiled.source()));
    }
  }

  /** Endpoints are in force. */
  public void endpoints(long now, List<EndpointSpec> specs) {
    if (!sealed) {
      endpoints = HashMap.newHashMap(specs.size());
      specs.forEach(spec -> endpoints.put(spec.name(), spec));
      queue.offer(new Line.Endpoints(nextSeq(), sinceStart(now), List.copyOf(specs)));
    }
  }

  /**
   * The core is told of a scrape; one of an endpoint that has left is of no effect and left out.
   */
  public void scraped(long now, EndpointSpec endpoint, long begunAt, EndpointMetrics metrics) {
    EndpointSpec current = endpoints.get(endpoint.name());
    if (!sealed && current != null && isSameLife(current, endpoint)) {
      queue.offer(
          new Line.Scrape(
              nextSeq(), sinceStart(now), endpoint.name(), sinceStart(begunAt), metrics));
    }
  }

  private static boolean isSameLife(EndpointSpec one, EndpointSpec other) {
    return one.incarnation().equals(other.incarnation())
        && one.address().equals(other.address())
        && one.port() == other.port();
  }

  /**
   * A request is about to arrive.
   *
   * @return null when it is not captured
   */
  public @Nullable CapturedRequest arrive(long now, RequestFacts facts) {
    if (sealed || !sampled(facts.seed())) {
      return null;
    }
    CapturedRequest request =
        new CapturedRequest(this, now, facts, new ReadHeaders(facts.headers(), headers));
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

  long sinceStart(long now) {
    return now - origin;
  }

  void finished(CapturedRequest request) {
    if (open.remove(request)) {
      queue.offer(request);
    }
  }
}
