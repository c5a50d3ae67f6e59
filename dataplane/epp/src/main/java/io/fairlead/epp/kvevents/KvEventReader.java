package io.fairlead.epp.kvevents;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.prefix.CacheChange;
import io.fairlead.core.prefix.EngineCache;
import io.fairlead.core.scheduling.KvEventsSource;
import java.util.Collection;
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
import java.util.stream.Collectors;
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

  /** From a failure to the next try. */
  private static final long AGAIN_NANOS = 1_000_000_000;

  private final Settings settings;
  private final Sink sink;
  private final KvEventCounts counts;
  private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private final Thread thread;
  private volatile boolean closed;
  private volatile State state = new State(0, 0, 0, 0);

  /** On the thread only. */
  private final Map<String, KvEventFeed> feeds = new HashMap<>();

  private Set<String> models = Set.of();

  /** Endpoints that are to be listened to. */
  private List<EndpointSpec> listed = List.of();

  private List<Integer> targetPorts = List.of();

  private BlockRoom room;
  private ReplayTurns turns = new ReplayTurns();

  /** Learns again what there was no room for; one at a time, as each takes what room there is. */
  private @Nullable KvEventFeed learning;

  /** Whether an endpoint that is listed is not listened to, and since when. */
  private boolean missing;

  private long missingSince;
  private long failures;

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
   * @param noRoom endpoints of which nothing is kept, since there is no room for it
   * @param silent endpoints that have told nothing
   */
  public record State(int whole, int partial, int noRoom, int silent) {

    private static State of(Collection<KvEventFeed> feeds, int listed) {
      int whole = 0;
      int partial = 0;
      int noRoom = 0;
      for (KvEventFeed feed : feeds) {
        if (feed.isAside()) {
          noRoom++;
        } else if (feed.isWhole()) {
          whole++;
        } else if (feed.tells()) {
          partial++;
        }
      }
      return new State(whole, partial, noRoom, listed - whole - partial - noRoom);
    }
  }

  /** Starts; listens to nobody yet. */
  public KvEventReader(Settings settings, KvEventCounts counts, Sink sink) {
    this.settings = settings;
    this.counts = counts;
    this.sink = sink;
    room = new BlockRoom(settings.mostBlocks());
    thread = Thread.ofPlatform().daemon().name("fairlead-kv-events").start(this::run);
  }

  /** Listens to these from now on, and to no others. */
  public void endpoints(List<EndpointSpec> endpoints) {
    List<EndpointSpec> all = List.copyOf(endpoints);
    tasks.add(() -> replace(all));
  }

  /**
   * The ports of the pool, each an engine of every pod: an endpoint's place among them says where
   * its engine publishes, whichever of them its pod serves.
   */
  public void targetPorts(List<Integer> ports) {
    List<Integer> all = List.copyOf(ports);
    tasks.add(
        () -> {
          if (!all.equals(targetPorts)) {
            targetPorts = all;
            replace(listed);
          }
        });
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
    while (!closed) {
      try (ZContext own = new ZContext()) {
        context = own;
        own.setLinger(0);
        // Four for each endpoint; the usual 1,024 would end at some 250 of them.
        own.getContext().setMaxSockets(MOST_SOCKETS);
        poller = own.createPoller(16);
        replace(listed);
        while (!closed) {
          turn();
        }
      } catch (RuntimeException | Error e) {
        failed("KV events are not read for a moment", e);
      }
      forgetAll();
      long begun = System.nanoTime();
      while (!closed && System.nanoTime() - begun < AGAIN_NANOS) {
        LockSupport.parkNanos(this, AGAIN_NANOS);
      }
    }
  }

  /** Its sockets are closed. */
  private void forgetAll() {
    context = null;
    poller = null;
    learning = null;
    List<EndpointSpec> known = feeds.values().stream().map(KvEventFeed::endpoint).toList();
    feeds.clear();
    turns = new ReplayTurns();
    room = new BlockRoom(settings.mostBlocks());
    state = new State(0, 0, 0, listed.size());
    try {
      known.forEach(endpoint -> tell(endpoint, CacheChange.ofLoss()));
    } catch (RuntimeException | Error e) {
      failed("what engines have told could not be forgotten", e);
    }
  }

  /** Logged ever more rarely: what fails once a second would fill any disk. */
  private void failed(String what, Throwable why) {
    failures++;
    counts.count(EventResult.FAILED);
    if (Long.bitCount(failures) == 1) {
      LOG.error("{}; {} failures so far", what, failures, why);
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
    if (missing && now - missingSince >= AGAIN_NANOS) {
      replace(listed);
    }
    for (KvEventFeed feed : List.copyOf(feeds.values())) {
      try {
        read(feed, now);
      } catch (RuntimeException | Error e) {
        giveUp(feed, e);
      }
    }
    for (KvEventFeed next = turns.next(); next != null; next = turns.next()) {
      try {
        next.turn();
      } catch (RuntimeException | Error e) {
        giveUp(next, e);
      }
    }
    learnAgain(now);
    tellOfRoom();
    state = State.of(feeds.values(), listed.size());
  }

  private void giveUp(KvEventFeed feed, Throwable why) {
    failed("the KV events of endpoint " + feed.endpoint().name() + " are not read now", why);
    feeds.remove(feed.endpoint().name());
    close(feed);
    missing();
  }

  private void read(KvEventFeed feed, long now) {
    CacheChange change = feed.read(now);
    if (change != null) {
      AtomicBoolean refused = feed.refused();
      tell(
          feed.endpoint(),
          change,
          () -> {
            if (refused.compareAndSet(false, true)) {
              counts.count(EventResult.NO_ROOM);
              tasks.add(() -> setAside(feed, refused));
            }
          });
    }
    if (feed.takeLoss()) {
      tell(feed.endpoint(), CacheChange.ofLoss());
    }
  }

  /** The core has no room for more than what is known now. */
  private void setAside(KvEventFeed feed, AtomicBoolean refused) {
    boolean current = feed.equals(feeds.get(feed.endpoint().name()));
    if (current && !feed.isAside() && feed.refused().equals(refused)) {
      feed.setAside(0, room.kept());
    }
  }

  private void learnAgain(long now) {
    if (!turns.isFree() || (learning != null && learning.isReplaying())) {
      return;
    }
    learning = null;
    for (KvEventFeed feed : feeds.values()) {
      if (feed.mayLearn(now)) {
        feed.learn();
        learning = feed;
        return;
      }
    }
  }

  private void tellOfRoom() {
    boolean before = state.noRoom() > 0;
    boolean now = feeds.values().stream().anyMatch(KvEventFeed::isAside);
    if (now && !before) {
      LOG.warn(
          "there is no room for what all engines hold: of some it is guessed, until there is; more"
              + " of the heap would help");
    } else if (before && !now) {
      LOG.info("there is room again for what all engines hold");
    }
  }

  private void missing() {
    missing = true;
    missingSince = settings.clock().getAsLong();
  }

  private void tell(EndpointSpec endpoint, CacheChange change) {
    tell(endpoint, change, () -> {});
  }

  /**
   * @param refused run where there was no room for a piece of it; any thread
   */
  private void tell(EndpointSpec endpoint, CacheChange change, Runnable refused) {
    for (CacheChange piece : change.pieces(MOST_KEYS)) {
      tellPiece(
          endpoint,
          piece,
          fits -> {
            waiting.decrementAndGet();
            if (!fits) {
              refused.run();
            }
          });
    }
  }

  private void tellPiece(EndpointSpec endpoint, CacheChange piece, Done done) {
    while (waiting.get() >= MOST_WAITING && !closed) {
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    waiting.incrementAndGet();
    boolean handed = false;
    try {
      sink.cacheChanged(endpoint, settings.grain(), piece, done);
      handed = true;
    } finally {
      if (!handed) {
        waiting.decrementAndGet();
      }
    }
  }

  private void replace(List<EndpointSpec> all) {
    listed = all;
    missing = false;
    Map<String, EndpointSpec> wanted = HashMap.newHashMap(all.size());
    all.forEach(endpoint -> wanted.put(endpoint.name(), endpoint));
    Map<String, Integer> ranks = ranks(all);
    for (Iterator<KvEventFeed> each = feeds.values().iterator(); each.hasNext(); ) {
      KvEventFeed feed = each.next();
      EndpointSpec now = wanted.get(feed.endpoint().name());
      if (now == null
          || !isSame(feed.endpoint(), now)
          || feed.port() != settings.port() + ranks.getOrDefault(now.name(), 0)) {
        each.remove();
        close(feed);
      }
    }
    for (EndpointSpec endpoint : all) {
      if (!feeds.containsKey(endpoint.name())) {
        try {
          open(endpoint, ranks.getOrDefault(endpoint.name(), 0));
        } catch (RuntimeException e) {
          // Of this one alone nothing is known: its address may be none that ZeroMQ takes.
          failed("the KV events of endpoint " + endpoint.name() + " can't be read", e);
          missing();
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
            room,
            turns,
            counts);
    feeds.put(endpoint.name(), feed);
    poller.register(feed.subscriber(), ZMQ.Poller.POLLIN);
  }

  private void close(KvEventFeed feed) {
    if (poller != null) {
      poller.unregister(feed.subscriber());
    }
    if (feed.equals(learning)) {
      learning = null; // nobody answers it any more, and the next one's turn has come
    }
    feed.close();
    tell(feed.endpoint(), CacheChange.ofLoss());
  }

  /**
   * Which engine of its address each is: the place of its port among the pool's, or among the ports
   * that the address has, where these are not the pool's.
   */
  private Map<String, Integer> ranks(List<EndpointSpec> all) {
    Map<String, List<EndpointSpec>> byAddress =
        all.stream().collect(Collectors.groupingBy(EndpointSpec::address));
    Map<String, Integer> ranks = HashMap.newHashMap(all.size());
    for (List<EndpointSpec> there : byAddress.values()) {
      List<Integer> ports = there.stream().map(EndpointSpec::port).sorted().toList();
      List<Integer> counted = targetPorts.containsAll(ports) ? targetPorts : ports;
      there.forEach(endpoint -> ranks.put(endpoint.name(), counted.indexOf(endpoint.port())));
    }
    return ranks;
  }

  private static boolean isSame(EndpointSpec one, EndpointSpec other) {
    return one.incarnation().equals(other.incarnation())
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
    LockSupport.unpark(thread);
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
