package io.fairlead.epp.kvevents;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.prefix.CacheChange;
import io.fairlead.core.prefix.EngineCache;
import io.fairlead.core.scheduling.KvEventsSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Listens to the engines of all endpoints, on one thread of its own, and hands what they tell of
 * their caches to the pool's loop. While that is behind, it reads no further: ZeroMQ and then the
 * engines keep some, and what they drop shows as a gap.
 *
 * <p>All methods may be called from any thread.
 */
public final class KvEventReader implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(KvEventReader.class);

  private static final long POLL_MILLIS = 10;

  /** Changes that the pool's loop has not come to. */
  private static final int MOST_WAITING = 1_024;

  /** Keys of a change that the pool's loop takes in at once: some tenths of a millisecond. */
  private static final int MOST_KEYS = 1_024;

  private static final int MOST_SOCKETS = 1 << 16;

  /** Bytes of the heap for a block that an engine holds, here and as it is told on. */
  private static final int BYTES_PER_BLOCK = 2 * EngineCache.BYTES_PER_BLOCK;

  private static final long PAUSE_NANOS = 500_000;

  private final Settings settings;
  private final Sink sink;
  private final KvEventCounts counts;
  private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private final Thread thread;
  private volatile boolean closed;
  private volatile State state = new State(0, 0, 0);

  /** On the thread only. */
  private final Map<String, KvEventFeed> feeds = new HashMap<>();

  private Set<String> models = Set.of();

  /** Endpoints that are to be listened to. */
  private int listed;

  /** Blocks of all engines, as of the turn before. */
  private int blocks;

  /** Made on the thread, which alone may use its sockets. */
  private @Nullable ZContext context;

  private ZMQ.@Nullable Poller poller;

  /**
   * What is read, and how.
   *
   * @param grain tokens between two keys of a prompt; 0 where nobody can compare prompts, and
   *     blocks are only counted
   * @param topicFilter how topics begin that count
   * @param port of the first endpoint of an address
   * @param replayPort likewise; 0 for nowhere
   * @param mostBlocks blocks that are kept of all engines at most
   * @param clock monotonic nanoseconds
   */
  public record Settings(
      int grain, String topicFilter, int port, int replayPort, int mostBlocks, LongSupplier clock) {

    /**
     * What a config says.
     *
     * @param compares whether a tokenizer makes prompts comparable
     */
    public static Settings of(
        KvEventsSource source, boolean compares, int mostBlocks, LongSupplier clock) {
      return new Settings(
          compares ? source.grain() : 0,
          source.topicFilter(),
          source.port(),
          source.replayPort(),
          mostBlocks,
          clock);
    }
  }

  /** Takes in what engines tell. */
  @FunctionalInterface
  public interface Sink {

    /**
     * Called on the reader's thread.
     *
     * @param done to be run once it is taken in, with whether there was room
     */
    void cacheChanged(EndpointSpec endpoint, int grain, CacheChange change, Done done);
  }

  /** Told of the end of a hand-over; any thread. */
  @FunctionalInterface
  public interface Done {

    void taken(boolean room);
  }

  /**
   * How it does.
   *
   * @param whole endpoints of which all that their engines hold is known
   * @param partial endpoints of which some of it is
   * @param silent endpoints that have told nothing
   */
  public record State(int whole, int partial, int silent) {}

  /** Starts; listens to nobody yet. */
  public KvEventReader(Settings settings, KvEventCounts counts, Sink sink) {
    this.settings = settings;
    this.counts = counts;
    this.sink = sink;
    thread = Thread.ofPlatform().daemon().name("fairlead-kv-events").start(this::run);
  }

  /** Listens to these from now on, and to no others. */
  public void endpoints(List<EndpointSpec> endpoints) {
    List<EndpointSpec> all = List.copyOf(endpoints);
    tasks.add(() -> replace(all));
  }

  /** The models that the pool serves: messages whose topics name others are not taken in. */
  public void models(Set<String> served) {
    Set<String> all = Set.copyOf(served);
    tasks.add(() -> models = all);
  }

  /** How it does now. */
  public State state() {
    return state;
  }

  private void run() {
    try (ZContext own = new ZContext()) {
      context = own;
      own.setLinger(0);
      // Four for each endpoint; the usual 1,024 would end at some 250 of them.
      own.getContext().setMaxSockets(MOST_SOCKETS);
      poller = own.createPoller(16);
      while (!closed) {
        turn();
      }
    } catch (RuntimeException | Error e) {
      LOG.error("KV events are not read any more", e);
      state = new State(0, 0, listed);
    } finally {
      feeds.values().forEach(feed -> tell(feed.endpoint(), CacheChange.ofLoss()));
    }
  }

  private void turn() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
    if (poller != null) {
      poller.poll(POLL_MILLIS);
    }
    long now = settings.clock().getAsLong();
    int whole = 0;
    int partial = 0;
    int all = 0;
    for (Iterator<KvEventFeed> each = feeds.values().iterator(); each.hasNext(); ) {
      KvEventFeed feed = each.next();
      try {
        CacheChange change = feed.read(now);
        if (change != null) {
          tell(feed.endpoint(), change);
        }
      } catch (RuntimeException e) {
        LOG.error("the KV events of endpoint {} are not read any more", feed.endpoint().name(), e);
        each.remove();
        close(feed);
        continue;
      }
      all += feed.blocks();
      if (feed.isWhole()) {
        whole++;
      } else if (feed.tells()) {
        partial++;
      }
    }
    blocks = all;
    state = new State(whole, partial, listed - whole - partial);
  }

  /** Whether there was room is counted once of each change, in however many pieces it goes. */
  private void tell(EndpointSpec endpoint, CacheChange change) {
    AtomicBoolean counted = new AtomicBoolean();
    for (CacheChange piece : change.pieces(MOST_KEYS)) {
      tellPiece(
          endpoint,
          piece,
          room -> {
            waiting.decrementAndGet();
            if (!room && counted.compareAndSet(false, true)) {
              counts.count(EventResult.NO_ROOM);
            }
          });
    }
  }

  private void tellPiece(EndpointSpec endpoint, CacheChange piece, Done done) {
    while (waiting.get() >= MOST_WAITING && !closed) {
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    waiting.incrementAndGet();
    sink.cacheChanged(endpoint, settings.grain(), piece, done);
  }

  private void replace(List<EndpointSpec> all) {
    listed = all.size();
    Map<String, EndpointSpec> wanted = HashMap.newHashMap(all.size());
    all.forEach(endpoint -> wanted.put(endpoint.name(), endpoint));
    for (Iterator<KvEventFeed> each = feeds.values().iterator(); each.hasNext(); ) {
      KvEventFeed feed = each.next();
      if (!isSame(feed.endpoint(), wanted.get(feed.endpoint().name()))) {
        each.remove();
        close(feed);
      }
    }
    Map<String, Integer> ranks = ranks(all);
    for (EndpointSpec endpoint : all) {
      if (!feeds.containsKey(endpoint.name())) {
        try {
          open(endpoint, ranks.getOrDefault(endpoint.name(), 0));
        } catch (RuntimeException e) {
          // Of this one alone nothing is known: its address may be none that ZeroMQ takes.
          LOG.error("the KV events of endpoint {} can't be read", endpoint.name(), e);
        }
      }
    }
  }

  private void open(EndpointSpec endpoint, int rank) {
    if (context == null || poller == null) {
      return;
    }
    int replay = settings.replayPort();
    KvEventFeed feed =
        new KvEventFeed(
            context,
            endpoint,
            settings.port() + rank,
            replay == 0 ? 0 : replay + rank,
            settings,
            model -> models.isEmpty() || models.contains(model),
            () -> blocks >= settings.mostBlocks(),
            counts);
    feeds.put(endpoint.name(), feed);
    poller.register(feed.subscriber(), ZMQ.Poller.POLLIN);
  }

  private void close(KvEventFeed feed) {
    if (poller != null) {
      poller.unregister(feed.subscriber());
    }
    feed.close();
    tell(feed.endpoint(), CacheChange.ofLoss());
  }

  /** The how-manieth of its address each is, by ports: so ranks of one pod count their ports. */
  private static Map<String, Integer> ranks(List<EndpointSpec> all) {
    Map<String, Integer> next = new HashMap<>();
    Map<String, Integer> ranks = new HashMap<>();
    all.stream()
        .sorted(Comparator.comparingInt(EndpointSpec::port))
        .forEach(
            endpoint ->
                ranks.put(endpoint.name(), next.merge(endpoint.address(), 1, Integer::sum) - 1));
    return ranks;
  }

  private static boolean isSame(EndpointSpec one, @Nullable EndpointSpec other) {
    return other != null
        && one.incarnation().equals(other.incarnation())
        && one.address().equals(other.address())
        && one.port() == other.port();
  }

  /** How many blocks may be kept in so much memory. */
  static int blocks(long bytes) {
    return Math.clamp(bytes / BYTES_PER_BLOCK, 1, Integer.MAX_VALUE);
  }

  /** Stops, and waits for the thread's end. */
  @Override
  public void close() {
    closed = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
