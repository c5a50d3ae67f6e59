package io.fairlead.stub.server;

import io.fairlead.stub.engine.Engine;
import io.fairlead.stub.engine.EngineListener;
import io.fairlead.stub.engine.EngineProfile;
import io.fairlead.stub.engine.EngineRequest;
import io.fairlead.stub.engine.Imperfection;
import io.netty.channel.EventLoop;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Drives an engine by the wall clock, on one event loop, the only thread that touches it. A wake-up
 * that comes late costs nothing: the engine's steps follow each other in its own time.
 */
final class EngineDriver implements EngineListener {

  /** Steps an instant engine takes before others on the loop get their turn. */
  private static final int STEPS_PER_TURN = 256;

  private final EventLoop loop;
  private final double timeScale;
  private final @Nullable KvEventPublisher publisher;
  private final @Nullable KvEventLog log;
  private final BooleanSupplier losesEvents;
  private final Runnable afterTurn;
  private final EngineProfile profile;
  private final Imperfection imperfection;
  private final long noiseSeed;
  private Engine engine;
  private final int maxModelLen;
  private final LoraSeries adapters;
  private final Map<Long, Choice> choices = new HashMap<>();
  private final Map<Long, EngineRequest> held = new LinkedHashMap<>();
  private ServingTimes times;
  private long nextId;
  private long virtualBase;
  private long wallBase;
  private boolean stalled;
  private double slowedBy = 1;
  private @Nullable ScheduledFuture<?> timer;
  private long timerAt = Engine.IDLE;

  /** A completion in the engine: the names of its choices there, which follow each other. */
  record Submitted(long first, int count) {}

  /** A choice in the engine, and where its tokens go. */
  private record Choice(Reply reply, int index, ServingTimes.Sequence times) {}

  /**
   * @param publisher of what happens to the cache; null for none
   * @param losesEvents whether the next batch gets lost on its way
   */
  EngineDriver(
      ModelServerConfig config,
      EventLoop loop,
      LoraSeries adapters,
      @Nullable KvEventPublisher publisher,
      BooleanSupplier losesEvents,
      Runnable afterTurn) {
    KvEvents events = config.kvEvents();
    this.publisher = publisher;
    this.losesEvents = losesEvents;
    log = events == null ? null : new KvEventLog(events.form(), config.profile().blockTokens());
    this.loop = loop;
    this.timeScale = config.timeScale();
    this.afterTurn = afterTurn;
    this.adapters = adapters;
    maxModelLen = config.maxModelLen();
    times = new ServingTimes(maxModelLen);
    profile =
        config.maxAdapters() == 0
            ? config.profile()
            : config.profile().withAdapterSlots(config.maxAdapters());
    imperfection = config.imperfection();
    noiseSeed = config.name().hashCode();
    engine = newEngine();
    wallBase = System.nanoTime();
  }

  private Engine newEngine() {
    return new Engine(profile, imperfection, noiseSeed, this);
  }

  Engine engine() {
    return engine;
  }

  ServingTimes times() {
    return times;
  }

  /** Begins a completion; the reply hears of it until it ends or is cancelled. */
  Submitted submit(CompletionRequest request, Reply reply) {
    var submitted = new Submitted(nextId, request.choices().size());
    ServingTimes.Prompt prompt = times.prompt(request.n());
    for (int i = 0; i < submitted.count; i++) {
      if (i > 0 && i % request.n() == 0) {
        prompt = times.prompt(request.n());
      }
      submit(request, i, prompt, reply);
    }
    if (!stalled) {
      arm();
      afterTurn.run();
    }
    return submitted;
  }

  private void submit(CompletionRequest request, int index, ServingTimes.Prompt of, Reply reply) {
    CompletionRequest.Choice choice = request.choices().get(index);
    long id = nextId++;
    int prompt = choice.promptTokens();
    int output = request.outputTokens();
    choices.put(id, new Choice(reply, index, of.sequence(prompt, output, System.nanoTime())));
    EngineRequest asked =
        new EngineRequest(id, choice.blocks(), prompt, output).withAdapter(request.adapter());
    if (log != null) {
      asked = asked.withTokens(choice.tokens());
    }
    if (stalled) {
      held.put(id, asked);
    } else {
      engine.submit(now(), asked);
    }
  }

  void cancel(Submitted submitted) {
    for (long id = submitted.first; id < submitted.first + submitted.count; id++) {
      Choice left = choices.remove(id);
      if (left != null) {
        left.times.aborted();
      }
      if (held.remove(id) == null) {
        engine.cancel(now(), id);
      }
    }
    arm();
  }

  /**
   * Loads an adapter into the engine.
   *
   * @return wall nanoseconds that it takes; 0 also when no slot is free, and the adapter is loaded
   *     when a request comes
   */
  long loadAdapter(String adapter) {
    long before = engine.adapterLoads();
    engine.loadAdapter(now(), adapter);
    arm();
    long loads = engine.adapterLoads() - before;
    return (long) (loads * profile.adapterLoadMillis() * 1e6 * scale());
  }

  void unloadAdapter(String adapter) {
    engine.unloadAdapter(now(), adapter);
  }

  void resetCache() {
    engine.resetCache(now());
    publish();
  }

  /** A new engine in the place of the old one; whose requests it had hears nothing more. */
  void restart() {
    choices.clear();
    held.clear();
    publish();
    if (publisher != null) {
      publisher.restart();
    }
    times = new ServingTimes(maxModelLen);
    engine = newEngine();
    arm();
    afterTurn.run();
  }

  void stall(boolean on) {
    if (on == stalled) {
      return;
    }
    if (on) {
      rebase();
      stalled = true;
    } else {
      wallBase = System.nanoTime();
      stalled = false;
      held.values().forEach(each -> engine.submit(now(), each));
      held.clear();
    }
    arm();
    afterTurn.run();
  }

  /** From now on everything takes so many times as long as the profile says. */
  void slow(double factor) {
    if (factor == slowedBy) {
      return;
    }
    if (!stalled) {
      rebase();
    }
    slowedBy = factor;
    // The next event is the same, but it comes at another time.
    timerAt = Engine.IDLE;
    arm();
    afterTurn.run();
  }

  /** Engine time is counted from here on, at whatever pace it goes. */
  private void rebase() {
    long now = now();
    engine.advance(now);
    virtualBase = now;
    wallBase = System.nanoTime();
  }

  /** Wall seconds per engine second. */
  private double scale() {
    return timeScale * slowedBy;
  }

  /**
   * Engine time now. It stands still while stalled, and in an instant engine runs only from step to
   * step.
   */
  private long now() {
    if (stalled || timeScale == 0) {
      return virtualBase;
    }
    return virtualBase + (long) ((System.nanoTime() - wallBase) / scale());
  }

  /** The wall's time, as {@link System#nanoTime} tells it, of a time of the engine. */
  private long wall(long time) {
    return timeScale == 0 ? System.nanoTime() : wallBase + (long) ((time - virtualBase) * scale());
  }

  /** Tells what has happened to the cache since the last time. */
  private void publish() {
    if (log != null && publisher != null) {
      byte[] batch = log.take();
      if (batch != null) {
        publisher.publish(batch, losesEvents.getAsBoolean());
      }
    }
  }

  private void arm() {
    publish();
    long next = stalled ? Engine.IDLE : engine.nextEventNanos();
    if (next == timerAt) {
      return;
    }
    if (timer != null) {
      timer.cancel(false);
      timer = null;
    }
    timerAt = next;
    if (next != Engine.IDLE) {
      long delay = timeScale == 0 ? 0 : Math.max(0, (long) ((next - now()) * scale()));
      timer = loop.schedule(this::turn, delay, TimeUnit.NANOSECONDS);
    }
  }

  private void turn() {
    timer = null;
    timerAt = Engine.IDLE;
    if (timeScale == 0) {
      for (int i = 0; i < STEPS_PER_TURN && engine.nextEventNanos() != Engine.IDLE; i++) {
        virtualBase = engine.nextEventNanos();
        engine.advance(virtualBase);
      }
    } else {
      engine.advance(now());
    }
    arm();
    afterTurn.run();
  }

  @Override
  public boolean everyToken() {
    return true;
  }

  @Override
  public boolean everyBlock() {
    return log != null;
  }

  @Override
  public void stored(EngineRequest request, int from, int to) {
    if (log != null) {
      log.stored(request, from, to);
    }
  }

  @Override
  public void removed(long identity) {
    if (log != null) {
      log.removed(identity);
    }
  }

  @Override
  public void cleared() {
    if (log != null) {
      log.cleared();
    }
  }

  @Override
  public void admitted(long id, long time) {
    Choice choice = choices.get(id);
    if (choice != null) {
      choice.times.admitted(wall(time));
    }
  }

  @Override
  public void preempted(long id, long time) {
    Choice choice = choices.get(id);
    if (choice != null) {
      choice.times.preempted();
    }
  }

  @Override
  public void stepped(int tokens, long time) {
    times.stepped(tokens);
    adapters.running(engine.published().runningAdapters(), System.currentTimeMillis() / 1000.0);
  }

  @Override
  public void firstToken(long id, int cachedTokens, long time) {
    Choice choice = choices.get(id);
    if (choice != null) {
      choice.times.firstToken(cachedTokens, wall(time));
      choice.reply.first(choice.index, cachedTokens);
    }
  }

  @Override
  public void token(long id, int n, long time) {
    Choice choice = choices.get(id);
    if (choice != null) {
      choice.times.token(wall(time));
      choice.reply.token(choice.index, n);
    }
  }

  @Override
  public void finished(long id, long time) {
    Choice choice = choices.remove(id);
    if (choice != null) {
      choice.times.finished();
      choice.reply.end(choice.index);
    }
  }
}
