package io.fairlead.epp.kvevents;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Route;
import io.fairlead.core.prefix.CacheChange;
import io.fairlead.core.prefix.CacheEvent;
import io.fairlead.core.prefix.EngineCache;
import io.fairlead.epp.kvevents.KvEventReader.Settings;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZEvent;
import org.zeromq.ZMQ;
import org.zeromq.ZMonitor;

/**
 * The KV cache events of one endpoint: the sockets to its engine, and how far its messages have
 * been read. On the reader's thread only.
 */
final class KvEventFeed implements EventSequence.Effects {

  /** Longest message: the tokens of some ten times the longest prompts. */
  private static final int MOST_BYTES = 16 << 20;

  /** Messages that ZeroMQ keeps while this thread is busy: then the engine drops some. */
  private static final int HIGH_WATER = 1_000;

  /**
   * Messages of a replay that ZeroMQ keeps while this thread is busy. What does not fit there and
   * on the way, the engine drops: that shows as a gap, and is asked for again.
   */
  private static final int REPLAY_HIGH_WATER = 256;

  private static final int RECONNECT_MILLIS = 100;
  private static final int MOST_RECONNECT_MILLIS = 5_000;
  private static final int HEARTBEAT_MILLIS = 5_000;
  private static final int HEARTBEAT_TIMEOUT_MILLIS = 15_000;

  /**
   * A connection that has not agreed on a protocol by then is made anew. JeroMQ 0.6 forgets to
   * watch some fresh connections, some in a hundred on a busy machine, and would notice after 30 s
   * only (zeromq/jeromq#1022).
   */
  private static final int HANDSHAKE_MILLIS = 1_000;

  /**
   * ZeroMQ is told anew to connect where it has not for so long: it makes no connection anew that
   * ended with what is no message to it, and tells nobody that it has given up.
   */
  private static final long CONNECT_AGAIN_NANOS = 10_000_000_000L;

  /** Messages that are taken in before another endpoint's turn. */
  private static final int MOST_AT_ONCE = 128;

  /** An engine that has not begun to replay by then does not answer. */
  private static final long REPLAY_NANOS = 5_000_000_000L;

  /** One that has begun, and says nothing more for so long, has dropped the rest. */
  private static final long REST_NANOS = 1_000_000_000L;

  /** Before what there was no room for is learned again: a part of all that may be kept. */
  private static final int LEAST_PART = 64;

  /** Before what takes nearly all of the room is learned again, which may not fit even alone. */
  private static final long PAUSE_NANOS = 60_000_000_000L;

  /** The same after many tries. */
  private static final long MOST_PAUSE_NANOS = 60 * PAUSE_NANOS;

  private final EndpointSpec endpoint;
  private final int port;
  private final int replayPort;
  private final Settings settings;
  private final Predicate<String> served;
  private final BlockRoom room;
  private final ReplayTurns turns;
  private final KvEventCounts counts;
  private final ZContext context;
  private final ZMQ.Socket subscriber;
  private final ZMQ.Socket monitor;
  private final EventSequence sequence;
  private final EngineCache cache;
  private boolean connected;

  /** Topic of the last message that counts; null where none has come. */
  private byte @Nullable [] ownTopic;

  /**
   * Topic of the last message that doesn't count; null where none has come. As it may be among what
   * would be replayed, without its topic, nothing of that counts.
   */
  private byte @Nullable [] foreignTopic;

  /** Whether something of what is known was replayed. */
  private boolean knowsReplayed;

  /** Since when it is not connected, or was last told to connect. */
  private long apartSince;

  private ZMQ.@Nullable Socket replay;
  private long replayHeardAt;
  private boolean replayedAny;

  /** What is to be told to the core; null while that is nothing. */
  private @Nullable CacheChange change;

  /** Whether the core was told last that nothing is there that it does not know. */
  private boolean toldWhole;

  private boolean fits = true;

  /** Blocks that were counted as kept. */
  private int counted;

  /** Whether there was no room for what its engine holds: nothing is kept of it. */
  private boolean aside;

  /** Whether the core has yet to be told so. */
  private boolean lost;

  /** Learns again once no more than so many blocks are kept of all engines. */
  private int againBelow;

  /** And once so much time has passed since it was set aside. */
  private long pause;

  private long asideAt;

  /** Whether the core has said that it has no room, of what was told since this was made. */
  private AtomicBoolean refused = new AtomicBoolean();

  /**
   * @param port where its engine publishes
   * @param replayPort where it replays; 0 for nowhere
   * @param served whether a model is one of the pool's
   * @param room for what is kept of all engines together
   * @param turns of all engines
   */
  KvEventFeed(
      ZContext context,
      EndpointSpec endpoint,
      int port,
      int replayPort,
      Settings settings,
      Predicate<String> served,
      BlockRoom room,
      ReplayTurns turns,
      KvEventCounts counts) {
    this.context = context;
    this.endpoint = endpoint;
    this.port = port;
    this.replayPort = replayPort;
    this.settings = settings;
    this.served = served;
    this.room = room;
    this.turns = turns;
    this.counts = counts;
    cache = new EngineCache(settings.grain(), settings.mostBlocks());
    sequence = new EventSequence(replayPort > 0, this);
    subscriber = context.createSocket(SocketType.SUB);
    try {
      monitor = context.createSocket(SocketType.PAIR);
    } catch (RuntimeException e) {
      subscriber.close(); // nobody else can
      throw e;
    }
    try {
      open();
    } catch (RuntimeException e) {
      close(); // nobody else can
      throw e;
    }
  }

  private void open() {
    subscriber.setMaxMsgSize(MOST_BYTES);
    subscriber.setRcvHWM(HIGH_WATER);
    subscriber.setReconnectIVL(RECONNECT_MILLIS);
    subscriber.setReconnectIVLMax(MOST_RECONNECT_MILLIS);
    subscriber.setHeartbeatIvl(HEARTBEAT_MILLIS);
    subscriber.setHeartbeatTimeout(HEARTBEAT_TIMEOUT_MILLIS);
    subscriber.setHandshakeIvl(HANDSHAKE_MILLIS);
    subscriber.setIPv6(true);
    String watch = "inproc://" + System.identityHashCode(this) + "-" + endpoint.name();
    subscriber.monitor(watch, ZMQ.EVENT_CONNECTED | ZMQ.EVENT_DISCONNECTED);
    monitor.connect(watch);
    subscriber.subscribe(ZMQ.SUBSCRIPTION_ALL); // also those that say that a replay is foreign
    subscriber.connect(address(port));
    apartSince = settings.clock().getAsLong();
  }

  private String address(int port) {
    return "tcp://" + Route.destination(endpoint.address(), port);
  }

  EndpointSpec endpoint() {
    return endpoint;
  }

  /** Where its engine publishes. */
  int port() {
    return port;
  }

  /** Whether the core has been told all that the engine holds. */
  boolean isWhole() {
    return sequence.isWhole();
  }

  /** Whether nothing is kept of it, for want of room. */
  boolean isAside() {
    return aside;
  }

  /** Whether its engine is being asked for what it told before. */
  boolean isReplaying() {
    return sequence.isReplaying();
  }

  /** It may ask its engine for what that told before. */
  void turn() {
    sequence.turn();
    if (!sequence.isReplaying()) {
      turns.leave(this); // it knows by now
    }
  }

  /** Whether the core is to be told that nothing is known; once each time. */
  boolean takeLoss() {
    boolean was = lost;
    lost = false;
    return was;
  }

  /** To be set when the core has no room for something that is told from here on. */
  AtomicBoolean refused() {
    return refused;
  }

  /** Whether the engine has told anything. */
  boolean tells() {
    return sequence.tells();
  }

  ZMQ.Socket subscriber() {
    return subscriber;
  }

  /** Reads what is there; returns what the core is to be told, or null. */
  @Nullable CacheChange read(long now) {
    connection(now);
    for (int i = 0; i < MOST_AT_ONCE; i++) {
      byte[] topic = subscriber.recv(ZMQ.DONTWAIT);
      if (topic == null) {
        break;
      }
      message(topic);
    }
    readReplay(now);
    if (!sequence.isReplaying()) {
      turns.ended(this);
    }
    boolean whole = sequence.isWhole();
    if (change == null && whole != toldWhole && !aside) {
      cache.unchanged(change());
    }
    CacheChange made = change;
    change = null;
    if (made == null) {
      return null;
    }
    toldWhole = whole;
    return made.whole(whole);
  }

  /**
   * There is no room for what its engine holds: it is forgotten, and nothing is kept of it until
   * there is room for that and a quarter more, lest it be forgotten again at once. Where there is
   * never so much, it is tried ever more rarely: a try costs all that the engine has ever told.
   *
   * @param more blocks that there was no room for
   * @param most blocks that there is room for, of all engines
   */
  void setAside(int more, int most) {
    long needs = cache.size() + (long) more;
    long ample = Math.max(needs * 5 / 4, 1 + room.most() / LEAST_PART);
    if (ample <= most) {
      againBelow = (int) (most - ample);
      pause = 0;
    } else {
      againBelow = (int) Math.max(0, most - needs);
      pause = Math.clamp(2 * pause, PAUSE_NANOS, MOST_PAUSE_NANOS);
    }
    asideAt = settings.clock().getAsLong();
    aside = true;
    lost = true;
    toldWhole = false;
    endReplay();
    turns.leave(this);
    sequence.setAside();
    if (change != null) {
      cache.clear(change);
    } else {
      cache.clear(new CacheChange()); // the core is told of the loss
    }
    count();
  }

  /** Whether there is room again for what its engine holds. */
  boolean mayLearn(long now) {
    return aside && room.kept() <= againBelow && now - asideAt >= pause;
  }

  /** Keeps what its engine tells again, and asks for what it told before. */
  void learn() {
    keepAgain();
    sequence.relearn();
  }

  private void keepAgain() {
    aside = false;
    lost = false; // what is told next begins anew
    refused = new AtomicBoolean();
  }

  /** Counts what is kept of it. */
  private void count() {
    room.changed(cache.size() - counted);
    counted = cache.size();
  }

  private void connection(long now) {
    for (ZEvent event = ZEvent.recv(monitor, ZMQ.DONTWAIT);
        event != null;
        event = ZEvent.recv(monitor, ZMQ.DONTWAIT)) {
      connected = event.getEvent() != ZMonitor.Event.DISCONNECTED;
      if (!connected) {
        apartSince = now;
        ownTopic = null;
        foreignTopic = null;
        startOver();
      } else {
        sequence.connected();
      }
    }
    if (!connected && now - apartSince >= CONNECT_AGAIN_NANOS) {
      apartSince = now;
      subscriber.disconnect(address(port));
      subscriber.connect(address(port));
    }
  }

  private void startOver() {
    knowsReplayed = false;
    endReplay();
    turns.leave(this);
    sequence.startOver();
  }

  private void message(byte[] topic) {
    byte[] number = subscriber.hasReceiveMore() ? subscriber.recv() : new byte[0];
    byte[] payload = subscriber.hasReceiveMore() ? subscriber.recv() : new byte[0];
    boolean longer = false;
    while (subscriber.hasReceiveMore()) {
      subscriber.recv();
      longer = true;
    }
    boolean isNumber = number.length == Long.BYTES && ByteBuffer.wrap(number).getLong() >= 0;
    if (isForeign(topic)) {
      counts.count(EventResult.FOREIGN_MODEL);
      foreign(topic);
      if (isNumber) {
        sequence.passOver(ByteBuffer.wrap(number).getLong());
      }
      return;
    }
    ownTopic = topic;
    if (Arrays.equals(foreignTopic, topic)) {
      foreignTopic = null; // its model is served by now
    }
    if (longer || !isNumber) {
      counts.count(EventResult.MALFORMED);
      return;
    }
    sequence.came(ByteBuffer.wrap(number).getLong(), decoded(payload));
  }

  private void foreign(byte[] topic) {
    boolean none = ownTopic == null || Arrays.equals(ownTopic, topic);
    if (none || knowsReplayed || sequence.isReplaying()) {
      startOver();
    }
    if (none) {
      ownTopic = null;
    }
    foreignTopic = topic;
  }

  /**
   * A topic may be {@code kv@POD@MODEL}: upstream asks for that. What is replayed comes without: it
   * is as foreign as all that came live.
   */
  private boolean isForeign(byte[] topic) {
    String text = new String(topic, StandardCharsets.UTF_8);
    if (!text.startsWith(settings.topicFilter())) {
      return true;
    }
    int pod = text.indexOf('@');
    int model = pod < 0 ? -1 : text.indexOf('@', pod + 1);
    return model >= 0 && !served.test(text.substring(model + 1));
  }

  private @Nullable EventBatch decoded(byte[] payload) {
    try {
      return EventDecoder.decode(payload);
    } catch (MalformedEventsException e) {
      counts.count(EventResult.MALFORMED);
      return null;
    }
  }

  @Override
  public boolean replay(long from) {
    if (foreignTopic != null || !turns.take(this)) {
      return false;
    }
    endReplay();
    replay = context.createSocket(SocketType.DEALER);
    replay.setMaxMsgSize(MOST_BYTES);
    replay.setRcvHWM(REPLAY_HIGH_WATER);
    replay.setLinger(0);
    replay.setHandshakeIvl(HANDSHAKE_MILLIS);
    replay.setIPv6(true);
    replay.connect(address(replayPort));
    replay.sendMore(new byte[0]);
    replay.send(ByteBuffer.allocate(Long.BYTES).putLong(from).array());
    replayHeardAt = settings.clock().getAsLong();
    replayedAny = false;
    return true;
  }

  private void readReplay(long now) {
    for (int i = 0; i < MOST_AT_ONCE && replay != null; i++) {
      byte[] delimiter = replay.recv(ZMQ.DONTWAIT);
      if (delimiter == null) {
        if (now - replayHeardAt > (replayedAny ? REST_NANOS : REPLAY_NANOS)) {
          endReplay();
          sequence.replayFellSilent();
        }
        return;
      }
      replayHeardAt = now;
      byte[] number = replay.hasReceiveMore() ? replay.recv() : new byte[0];
      byte[] payload = replay.hasReceiveMore() ? replay.recv() : new byte[0];
      while (replay.hasReceiveMore()) {
        replay.recv();
      }
      if (number.length != Long.BYTES) {
        counts.count(EventResult.MALFORMED);
        continue;
      }
      long which = ByteBuffer.wrap(number).getLong();
      if (which < 0) {
        endReplay();
        if (replayedAny) {
          sequence.replayEnded();
        } else {
          sequence.nothingToReplay();
        }
      } else {
        replayedAny = true;
        knowsReplayed = true;
        sequence.replayed(which, decoded(payload));
      }
    }
  }

  private void endReplay() {
    if (replay != null) {
      replay.close();
      replay = null;
    }
  }

  private CacheChange change() {
    CacheChange into = change;
    if (into == null) {
      into = new CacheChange();
      change = into;
    }
    return into;
  }

  @Override
  public void apply(EventBatch batch) {
    counts.count(EventResult.APPLIED);
    counts.count(EventResult.IGNORED, batch.ignored());
    for (CacheEvent event : batch.events()) {
      if (aside && event instanceof CacheEvent.Cleared) {
        keepAgain();
        pause = 0;
        sequence.cleared();
      }
      if (!aside) {
        apply(event);
      }
    }
  }

  private void apply(CacheEvent event) {
    if (event instanceof CacheEvent.Stored stored) {
      fits(stored.blockTokens());
      int more = stored.blocks().length;
      if (!room.has(more)) {
        counts.count(EventResult.NO_ROOM);
        setAside(more, room.most());
        return;
      }
    }
    cache.apply(event, change());
    count();
  }

  private void fits(int blockTokens) {
    boolean now = EngineCache.fits(blockTokens, settings.grain());
    if (fits && !now) {
      counts.count(EventResult.BLOCK_SIZE);
    }
    fits = now;
  }

  @Override
  public void emptied() {
    keepAgain();
    pause = 0;
    cache.apply(new CacheEvent.Cleared(), change());
    count();
  }

  @Override
  public void forgotten() {
    if (!aside) {
      cache.clear(change());
      count();
    }
  }

  @Override
  public void count(EventResult result) {
    counts.count(result);
  }

  void close() {
    room.changed(-counted);
    counted = 0;
    endReplay();
    turns.leave(this);
    monitor.close();
    subscriber.close();
  }
}
