package io.fairlead.stub.engine;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A continuously batching engine with a block cache and LoRA adapters, in virtual time. It works in
 * steps that follow each other without a gap while there is work. A step has a budget of tokens:
 * running decodes take one each, then running prefills take what they still need, then waiting
 * requests are admitted first come, first served, while budget, seats and free blocks for the whole
 * prompt last. A request's token is out when its step ends.
 *
 * <p>A request whose adapter is not loaded has it loaded by the step that admits it, and that step
 * takes so much longer for everyone in it: vLLM's worker loads adapters on the way into the forward
 * pass, not beside it. Requests whose adapter finds no slot, since running requests use all of
 * them, are passed over by others whose adapter has one.
 *
 * <p>Deterministic: the same calls yield the same effects. One caller at a time; time is in
 * nanoseconds, starts anywhere from 0 and never goes back.
 */
public final class Engine {

  /** What {@link #nextEventNanos} says when nothing will happen without a new request. */
  public static final long IDLE = Long.MAX_VALUE;

  private static final double NANOS_PER_MILLI = 1e6;

  private final EngineProfile profile;
  private final EngineListener listener;
  private final Scheduler scheduler;
  private final Published published = new Published();
  private final Outbox outbox = new Outbox();
  private final boolean everyToken;
  private final boolean api;
  private final Map<Long, Sequence> sequences = new HashMap<>();
  private long now;
  private long stepBegan;
  private long stepEnd = IDLE;
  private long busy;

  /** An engine that takes exactly as long as its profile says. */
  public Engine(EngineProfile profile, EngineListener listener) {
    this(profile, Imperfection.NONE, 0, listener);
  }

  /**
   * An engine that does not quite keep to its profile.
   *
   * @param seed of the noise of its steps
   */
  public Engine(
      EngineProfile profile, Imperfection imperfection, long seed, EngineListener listener) {
    this.profile = profile;
    this.listener = listener;
    api = profile.apiMillis() > 0 || profile.apiMillisPerToken() > 0;
    everyToken = listener.everyToken();
    scheduler =
        new Scheduler(
            profile,
            imperfection,
            seed,
            everyToken,
            listener.everyBlock() ? listener : null,
            new Told());
  }

  /** What this engine is. */
  public EngineProfile profile() {
    return profile;
  }

  /**
   * Whether a request of this size can ever be served: its prompt and output together must fit into
   * the KV cache.
   */
  public boolean fits(int promptTokens, int outputTokens) {
    return (long) promptTokens + outputTokens <= (long) profile.blocks() * profile.blockTokens();
  }

  /** A request of the base model arrives; see {@link EngineRequest} for what the numbers are. */
  public void submit(long now, long id, long[] blocks, int promptTokens, int outputTokens) {
    submit(now, new EngineRequest(id, blocks, promptTokens, outputTokens));
  }

  /**
   * A request arrives.
   *
   * @throws IllegalArgumentException if the id is in use, the request does not {@link #fits fit},
   *     or asks for an adapter of an engine without slots for any
   */
  public void submit(long now, EngineRequest request) {
    if (!fits(request.promptTokens(), request.outputTokens())) {
      throw new IllegalArgumentException(
          "promptTokens: %d + outputTokens: %d do not fit into %d blocks of %d tokens"
              .formatted(
                  request.promptTokens(),
                  request.outputTokens(),
                  profile.blocks(),
                  profile.blockTokens()));
    }
    if (!request.adapter().isEmpty()) {
      needSlots(request.adapter());
    }
    advance(now);
    if (sequences.containsKey(request.id())) {
      throw new IllegalArgumentException("id: " + request.id() + " is already in the engine");
    }
    var sequence = new Sequence(request, scheduler.slots.awaited(request.adapter()));
    sequences.put(request.id(), sequence);
    scheduler.admission.add(sequence);
    startStepIfIdle();
  }

  /**
   * The client of a request went away. Nothing more is told about it; blocks that the step under
   * way works on are free when the step ends.
   *
   * @return whether the request was still in the engine after time moved on to {@code now}
   */
  public boolean cancel(long now, long id) {
    advance(now);
    Sequence sequence = sequences.remove(id);
    if (sequence == null) {
      return false;
    }
    sequence.cancelled = true;
    scheduler.cancel(sequence);
    return true;
  }

  /** Time moves on to {@code now}: every step that ends until then ends, each at its own time. */
  public void advance(long now) {
    if (now < this.now) {
      throw new IllegalArgumentException("now: " + now + " is before " + this.now);
    }
    for (long next = nextEventNanos(); next <= now && next != IDLE; next = nextEventNanos()) {
      this.now = next;
      if (outbox.nextNanos() == next) {
        deliver(outbox.nextSequence(), outbox.nextToken());
        outbox.removeNext();
      } else {
        busy += stepEnd - stepBegan;
        scheduler.end();
        published.update(scheduler);
        listener.stepped(scheduler.stepTokens(), now);
        startStep();
      }
    }
    this.now = now;
  }

  /**
   * When something happens next if no request comes: the end of the step under way or the arrival
   * of a token at its client, or {@link #IDLE}.
   */
  public long nextEventNanos() {
    return Math.min(stepEnd, outbox.nextNanos());
  }

  /**
   * Loads an adapter before a request asks for it; the next step takes so much longer.
   *
   * @return whether it is loaded now; not so when every slot is in use by a running request
   */
  public boolean loadAdapter(long now, String adapter) {
    needSlots(adapter);
    advance(now);
    boolean loaded = scheduler.slots.preload(adapter);
    startStepIfIdle();
    return loaded;
  }

  /**
   * Frees an adapter's slot.
   *
   * @return whether it has none now; it keeps it while a request of it runs
   */
  public boolean unloadAdapter(long now, String adapter) {
    advance(now);
    return scheduler.slots.unload(adapter);
  }

  /** Forgets what every block holds. Requests keep the blocks that they hold. */
  public void resetCache(long now) {
    advance(now);
    scheduler.pool.forget();
  }

  /**
   * The engine dies and is there again at once, as new: nothing more is told of any request, and
   * nothing is cached or loaded. Only the totals go on.
   */
  public void restart(long now) {
    advance(now);
    if (stepEnd != IDLE) {
      busy += now - stepBegan;
      stepEnd = IDLE;
    }
    scheduler.clear();
    outbox.clear();
    sequences.clear();
    published.update(scheduler);
  }

  /**
   * What its metrics page says: the numbers as of the end of its last step, not those of this
   * moment, which the other accessors tell.
   */
  public SchedulerStats published() {
    return published.stats();
  }

  /** {@link SchedulerStats#waiting} of what is {@link #published}. */
  public int publishedWaiting() {
    return published.waiting();
  }

  /** Leading tokens of a prompt that the block cache holds now: whole blocks. */
  public int heldTokens(long[] blocks, int promptTokens) {
    int most = Math.min(blocks.length, (promptTokens - 1) / profile.blockTokens());
    int held = 0;
    while (held < most && scheduler.pool.lookup(blocks[held]) != BlockPool.ABSENT) {
      held++;
    }
    return held * profile.blockTokens();
  }

  /** Requests admitted and not yet finished. */
  public int running() {
    return scheduler.running();
  }

  /** Requests not yet admitted, or preempted. */
  public int waiting() {
    return scheduler.admission.waiting();
  }

  /** Blocks that running requests hold. */
  public int usedBlocks() {
    return scheduler.pool.held();
  }

  /** Blocks that there are. */
  public int blocks() {
    return scheduler.pool.size();
  }

  /** Share of blocks that running requests hold, 0 to 1. */
  public double kvUsage() {
    return (double) usedBlocks() / blocks();
  }

  /** Prompt tokens of all requests admitted so far. */
  public long promptTokens() {
    return scheduler.totals.promptTokens;
  }

  /** Those of {@link #promptTokens} that the block cache held. */
  public long cachedTokens() {
    return scheduler.totals.cachedTokens;
  }

  /** Those of {@link #promptTokens} that were not cached, but came with the request. */
  public long transferredTokens() {
    return scheduler.totals.transferredTokens;
  }

  /** Tokens computed so far, those of a preempted request again. */
  public long computedTokens() {
    return scheduler.totals.computedTokens;
  }

  /** Tokens put out so far. */
  public long outputTokens() {
    return scheduler.totals.outputTokens;
  }

  /** How often a request lost its blocks to an older one. */
  public long preemptions() {
    return scheduler.totals.preemptions;
  }

  /** How often an adapter was loaded. */
  public long adapterLoads() {
    return scheduler.slots.loads();
  }

  /** Adapters that hold a slot. */
  public List<String> residentAdapters() {
    return scheduler.slots.resident();
  }

  /** Adapters that admitted requests use, by name. */
  public List<String> runningAdapters() {
    return profile.adapterSlots() == 0
        ? List.of()
        : scheduler.slots.names(adapter -> adapter.running);
  }

  /** Time so far in which a step ran. */
  public long busyNanos() {
    return stepEnd == IDLE ? busy : busy + now - stepBegan;
  }

  Scheduler scheduler() {
    return scheduler;
  }

  private void needSlots(String adapter) {
    if (profile.adapterSlots() == 0) {
      throw new IllegalArgumentException(
          "adapter: \"%s\" is asked for, but profile %s has no adapterSlots"
              .formatted(adapter, profile.name()));
    }
  }

  private void startStepIfIdle() {
    if (stepEnd == IDLE) {
      startStep();
    }
  }

  private void startStep() {
    stepBegan = now;
    long duration = scheduler.begin();
    stepEnd = duration == 0 ? IDLE : now + duration;
  }

  private void send(Sequence sequence, int n) {
    if (api) {
      double millis = profile.apiMillis() + n * profile.apiMillisPerToken();
      outbox.add(now + Math.round(millis * NANOS_PER_MILLI), sequence, n);
    } else {
      deliver(sequence, n);
    }
  }

  private final class Told implements Scheduler.Events {

    @Override
    public void out(Sequence sequence, int n) {
      send(sequence, n);
    }

    @Override
    public void admitted(Sequence sequence) {
      listener.admitted(sequence.id, now);
    }

    @Override
    public void preempted(Sequence sequence) {
      listener.preempted(sequence.id, now);
    }
  }

  private void deliver(Sequence sequence, int n) {
    if (sequence.cancelled) {
      return;
    }
    if (n == 1) {
      listener.firstToken(sequence.id, sequence.cachedTokens, now);
    } else if (everyToken) {
      listener.token(sequence.id, n, now);
    }
    if (n == sequence.outputTokens) {
      sequences.remove(sequence.id);
      listener.finished(sequence.id, now);
    }
  }
}
