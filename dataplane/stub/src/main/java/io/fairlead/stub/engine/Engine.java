package io.fairlead.stub.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A continuously batching engine with a block cache, in virtual time. It works in steps that follow
 * each other without a gap while there is work. A step has a budget of tokens: running decodes take
 * one each, then running prefills take what they still need, then waiting requests are admitted
 * first come, first served, while budget, seats and free blocks for the whole prompt last. A
 * request's token is out when its step ends. When a decode finds no free block, the newest running
 * request gives all of its blocks back and returns to the head of the queue, to be computed again.
 *
 * <p>Deterministic: the same calls yield the same effects. One caller at a time; time is in
 * nanoseconds, starts anywhere from 0 and never goes back.
 */
public final class Engine {

  /** What {@link #nextEventNanos} says when nothing will happen without a new request. */
  public static final long IDLE = Long.MAX_VALUE;

  private final EngineProfile profile;
  private final EngineListener listener;
  private final BlockPool pool;
  private final Map<Long, Sequence> sequences = new HashMap<>();
  private final ArrayDeque<Sequence> waiting = new ArrayDeque<>();
  private final List<Sequence> running = new ArrayList<>();
  private long now;
  private long stepEnd = IDLE;
  private long promptTokens;
  private long cachedTokens;
  private long outputTokens;
  private long preemptions;

  public Engine(EngineProfile profile, EngineListener listener) {
    this.profile = profile;
    this.listener = listener;
    pool = new BlockPool(profile.blocks());
  }

  /**
   * Whether a request of this size can ever be served: its prompt and output together must fit into
   * the KV cache.
   */
  public boolean fits(int promptTokens, int outputTokens) {
    return (long) promptTokens + outputTokens <= (long) profile.blocks() * profile.blockTokens();
  }

  /**
   * A request arrives.
   *
   * @param id the caller's name for it, unused by any request still in the engine
   * @param blocks identities of its full blocks from the first token on, each standing for all
   *     content up to its end; may go on into the output, and may end early: blocks without
   *     identity are never shared. Not copied.
   * @param promptTokens 1 or more
   * @param outputTokens 1 or more
   * @throws IllegalArgumentException if a size is out of range, the id is in use or the request
   *     does not {@link #fits fit}
   */
  public void submit(long now, long id, long[] blocks, int promptTokens, int outputTokens) {
    if (promptTokens < 1 || outputTokens < 1) {
      throw new IllegalArgumentException(
          "promptTokens: " + promptTokens + ", outputTokens: " + outputTokens + ": not both >= 1");
    }
    if (!fits(promptTokens, outputTokens)) {
      throw new IllegalArgumentException(
          "promptTokens: %d + outputTokens: %d do not fit into %d blocks of %d tokens"
              .formatted(promptTokens, outputTokens, profile.blocks(), profile.blockTokens()));
    }
    advance(now);
    Sequence sequence = new Sequence(id, blocks, promptTokens, outputTokens);
    if (sequences.putIfAbsent(id, sequence) != null) {
      throw new IllegalArgumentException("id: " + id + " is already in the engine");
    }
    waiting.addLast(sequence);
    if (stepEnd == IDLE) {
      startStep();
    }
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
    waiting.remove(sequence);
    return true;
  }

  /** Time moves on to {@code now}: every step that ends until then ends, each at its own time. */
  public void advance(long now) {
    if (now < this.now) {
      throw new IllegalArgumentException("now: " + now + " is before " + this.now);
    }
    while (stepEnd <= now) {
      this.now = stepEnd;
      endStep();
      startStep();
    }
    this.now = now;
  }

  /**
   * When something happens next if no request comes: the end of the step under way, or {@link
   * #IDLE}.
   */
  public long nextEventNanos() {
    return stepEnd;
  }

  /** Requests admitted and not yet finished. */
  public int running() {
    return running.size();
  }

  /** Requests not yet admitted, or preempted. */
  public int waiting() {
    return waiting.size();
  }

  /** Blocks that running requests hold. */
  public int usedBlocks() {
    return pool.held();
  }

  /** Blocks that there are. */
  public int blocks() {
    return pool.size();
  }

  /** Share of blocks that running requests hold, 0 to 1. */
  public double kvUsage() {
    return (double) pool.held() / pool.size();
  }

  /** Prompt tokens of all requests admitted so far. */
  public long promptTokens() {
    return promptTokens;
  }

  /** Those of {@link #promptTokens} that the block cache held. */
  public long cachedTokens() {
    return cachedTokens;
  }

  /** Tokens put out so far. */
  public long outputTokens() {
    return outputTokens;
  }

  /** How often a request lost its blocks to an older one. */
  public long preemptions() {
    return preemptions;
  }

  BlockPool pool() {
    return pool;
  }

  /** References that the running requests' block tables hold, counted from their side. */
  long tableEntries() {
    return running.stream().mapToLong(Sequence::blockCount).sum();
  }

  private void startStep() {
    StepPlan plan = new StepPlan(profile);
    long preemptedBefore = preemptions;
    scheduleDecodes(plan);
    for (int i = 0; i < running.size(); i++) {
      Sequence sequence = running.get(i);
      if (!sequence.decoding()) {
        schedulePrefill(sequence, plan);
      }
    }
    if (preemptions == preemptedBefore) {
      admit(plan);
    }
    stepEnd = plan.isEmpty() ? IDLE : now + plan.durationNanos();
  }

  private void scheduleDecodes(StepPlan plan) {
    for (int i = 0; i < running.size(); i++) {
      Sequence sequence = running.get(i);
      if (!sequence.decoding() || plan.budget() == 0) {
        continue;
      }
      int needed = blocksFor(sequence.tokens());
      while (sequence.blockCount() < needed && pool.free() == 0 && running.size() > i) {
        preempt(running.removeLast());
      }
      if (running.size() > i) {
        sequence.allocateUpTo(pool, needed);
        sequence.chunk = 1;
        sequence.identifyFull(pool, profile.blockTokens());
        plan.decode(sequence.tokens());
      }
    }
  }

  private void schedulePrefill(Sequence sequence, StepPlan plan) {
    sequence.chunk = Math.min(sequence.tokens() - sequence.computed, plan.budget());
    sequence.identifyFull(pool, profile.blockTokens());
    plan.prefill(sequence.computed, sequence.chunk);
  }

  private void admit(StepPlan plan) {
    while (!waiting.isEmpty() && plan.budget() > 0 && running.size() < profile.maxSequences()) {
      Sequence sequence = waiting.getFirst();
      int needed = blocksFor(sequence.tokens());
      int cached = sequence.cachedBlocks(pool, profile.blockTokens());
      if (pool.free() - sequence.unreferenced(pool, cached) < needed - cached) {
        return;
      }
      waiting.removeFirst();
      running.add(sequence);
      sequence.shareCached(pool, cached, profile.blockTokens());
      sequence.allocateUpTo(pool, needed);
      if (sequence.cachedTokens < 0) {
        sequence.cachedTokens = sequence.computed;
        promptTokens += sequence.promptTokens;
        cachedTokens += sequence.cachedTokens;
      }
      schedulePrefill(sequence, plan);
    }
  }

  private void preempt(Sequence sequence) {
    sequence.release(pool);
    waiting.addFirst(sequence);
    preemptions++;
  }

  private void endStep() {
    int kept = 0;
    for (int i = 0; i < running.size(); i++) {
      Sequence sequence = running.get(i);
      if (sequence.cancelled || endsWith(sequence)) {
        sequence.release(pool);
      } else {
        running.set(kept++, sequence);
      }
    }
    running.subList(kept, running.size()).clear();
  }

  /** Books the step's work for one sequence and tells its token; whether that was the last one. */
  private boolean endsWith(Sequence sequence) {
    int chunk = sequence.chunk;
    sequence.computed += chunk;
    sequence.chunk = 0;
    if (chunk == 0 || sequence.computed < sequence.tokens()) {
      return false;
    }
    sequence.generated++;
    outputTokens++;
    if (sequence.generated == 1) {
      listener.firstToken(sequence.id, sequence.cachedTokens, now);
    } else {
      listener.token(sequence.id, sequence.generated, now);
    }
    if (sequence.generated < sequence.outputTokens) {
      return false;
    }
    sequences.remove(sequence.id);
    listener.finished(sequence.id, now);
    return true;
  }

  private int blocksFor(int tokens) {
    return Math.ceilDiv(tokens, profile.blockTokens());
  }
}
