package io.fairlead.stub.server;

import io.fairlead.stub.engine.Engine;
import io.fairlead.stub.engine.EngineListener;
import io.fairlead.stub.engine.EngineProfile;
import io.fairlead.stub.engine.EngineRequest;
import io.netty.channel.EventLoop;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
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
  private final Runnable afterTurn;
  private final EngineProfile profile;
  private Engine engine;
  private final Map<Long, Reply> replies = new HashMap<>();
  private final Map<Long, CompletionRequest> held = new LinkedHashMap<>();
  private long nextId;
  private long virtualBase;
  private long wallBase;
  private boolean stalled;
  private double slowedBy = 1;
  private @Nullable ScheduledFuture<?> timer;
  private long timerAt = Engine.IDLE;

  EngineDriver(ModelServerConfig config, EventLoop loop, Runnable afterTurn) {
    this.loop = loop;
    this.timeScale = config.timeScale();
    this.afterTurn = afterTurn;
    profile =
        config.maxAdapters() == 0
            ? config.profile()
            : config.profile().withAdapterSlots(config.maxAdapters());
    engine = new Engine(profile, this);
    wallBase = System.nanoTime();
  }

  Engine engine() {
    return engine;
  }

  /** Begins a completion; the reply hears of it until it ends or is cancelled. */
  long submit(CompletionRequest request, Reply reply) {
    long id = nextId++;
    replies.put(id, reply);
    if (stalled) {
      held.put(id, request);
    } else {
      submitToEngine(id, request);
      arm();
      afterTurn.run();
    }
    return id;
  }

  void cancel(long id) {
    replies.remove(id);
    if (held.remove(id) == null) {
      engine.cancel(now(), id);
      arm();
    }
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
  }

  /** A new engine in the place of the old one; whose requests it had hears nothing more. */
  void restart() {
    replies.clear();
    held.clear();
    engine = new Engine(profile, this);
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
      held.forEach(this::submitToEngine);
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

  private void submitToEngine(long id, CompletionRequest request) {
    engine.submit(
        now(),
        new EngineRequest(id, request.blocks(), request.promptTokens(), request.outputTokens())
            .withAdapter(request.adapter()));
  }

  private void arm() {
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
  public void firstToken(long id, int cachedTokens, long time) {
    Reply reply = replies.get(id);
    if (reply != null) {
      reply.first(cachedTokens);
    }
  }

  @Override
  public boolean everyToken() {
    return true;
  }

  @Override
  public void token(long id, int n, long time) {
    Reply reply = replies.get(id);
    if (reply != null) {
      reply.token(n);
    }
  }

  @Override
  public void finished(long id, long time) {
    Reply reply = replies.remove(id);
    if (reply != null) {
      reply.end("length");
    }
  }
}
