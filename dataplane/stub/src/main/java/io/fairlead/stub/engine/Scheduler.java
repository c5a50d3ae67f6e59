package io.fairlead.stub.engine;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a step does, by vLLM's rules: tokens for those that decode, then for running prefills, then
 * admissions. When a decode finds no free block, the newest running request gives all of its blocks
 * back and returns to the head of the queue, to be computed again; nobody is admitted in such a
 * step.
 *
 * <p>The cost of a step is that of what changes in it, not that of what runs: see {@link Batch}.
 */
final class Scheduler {

  private final EngineProfile profile;
  private final boolean everyToken;
  private final Events events;
  private final @Nullable EngineListener blocks;
  private final Batch batch;
  private final StepPlan plan;
  final BlockPool pool;
  final AdapterSlots slots;
  final Admission admission;
  final Totals totals = new Totals();
  private long step;
  private int stepTokens;

  /** Who is told. */
  interface Events {
    /**
     * Token {@code n} of a sequence is computed; of those between the first and the last only told
     * where every token is asked for.
     */
    void out(Sequence sequence, int n);

    /** A sequence has joined the batch for the first time. */
    void admitted(Sequence sequence);

    /** A sequence was set back. */
    void preempted(Sequence sequence);
  }

  /**
   * @param blocks told of blocks that come and go; null for nobody
   */
  Scheduler(
      EngineProfile profile,
      Imperfection imperfection,
      long seed,
      boolean everyToken,
      @Nullable EngineListener blocks,
      Events events) {
    this.profile = profile;
    this.everyToken = everyToken;
    this.events = events;
    this.blocks = blocks;
    batch = new Batch(profile.blockTokens());
    plan = new StepPlan(profile, imperfection, seed);
    pool = new BlockPool(profile.blocks(), blocks);
    slots = new AdapterSlots(profile.adapterSlots());
    admission = new Admission(profile, pool, slots);
  }

  /** How long the step takes that begins now, 0 if there is nothing to do. */
  long begin() {
    step++;
    admission.begin(step);
    long preemptedBefore = totals.preemptions;
    giveBlocks();
    nameBlocks();
    plan.begin(batch.decoding(), batch.context(step));
    List<Sequence> prefills = batch.prefills();
    for (int i = 0; i < prefills.size(); i++) {
      prefill(prefills.get(i));
    }
    if (totals.preemptions == preemptedBefore) {
      admit();
    }
    plan.loadAdapters(slots.takeLoads());
    return plan.isEmpty() ? 0 : plan.durationNanos();
  }

  void end() {
    totals.computedTokens += plan.tokens();
    releaseCancelled();
    endDecodes();
    endPrefills();
  }

  void cancel(Sequence sequence) {
    switch (sequence.stage) {
      case WAITING -> admission.cancel(sequence);
      case PREFILL, DECODE -> batch.cancel(sequence);
      case OVER -> {}
    }
  }

  /** Drops every request, and all that is cached or loaded. */
  void clear() {
    for (Sequence sequence : batch.cancelled()) {
      sequence.release(pool);
    }
    batch.cancelled().clear();
    while (batch.size() > 0) {
      batch.takeNewest(step).release(pool);
    }
    admission.clear();
    slots.clear();
    pool.forget();
  }

  /** What the last step has put out; see {@link EngineListener#stepped}. */
  int stepTokens() {
    return stepTokens;
  }

  int running() {
    return batch.size();
  }

  long tableEntries() {
    return entries(batch.decodes()) + entries(batch.prefills()) + entries(batch.cancelled());
  }

  private static long entries(List<Sequence> sequences) {
    return sequences.stream().mapToLong(Sequence::blockCount).sum();
  }

  private void giveBlocks() {
    List<Sequence> beginning = batch.beginningBlock(step);
    // A preemption takes out the newest, and so only ever what is still to come of this list.
    for (int i = 0; i < beginning.size(); i++) {
      Sequence sequence = beginning.get(i);
      while (pool.free() == 0 && sequence.stage == Sequence.Stage.DECODE) {
        preempt();
      }
      if (sequence.stage == Sequence.Stage.DECODE) {
        sequence.allocate(pool);
      }
    }
  }

  private void nameBlocks() {
    List<Sequence> filling = batch.fillingBlock(step);
    for (int i = 0; i < filling.size(); i++) {
      Sequence sequence = filling.get(i);
      sequence.identifyFull(pool, sequence.tokensAt(step), profile.blockTokens(), blocks);
    }
  }

  private void preempt() {
    Sequence sequence = batch.takeNewest(step);
    sequence.release(pool);
    slots.awaitedAgain(sequence.adapter);
    admission.putBack(sequence);
    totals.preemptions++;
    events.preempted(sequence);
  }

  private void prefill(Sequence sequence) {
    int chunk = Math.min(sequence.tokens() - sequence.computed, plan.budget());
    sequence.chunk = chunk;
    sequence.identifyFull(pool, sequence.computed + chunk, profile.blockTokens(), blocks);
    plan.prefill(sequence.computed, chunk);
  }

  private void admit() {
    while (plan.budget() > 0 && batch.size() < profile.maxSequences()) {
      Sequence sequence = admission.next();
      if (sequence == null) {
        return;
      }
      if (sequence.cachedTokens < 0) {
        firstAdmission(sequence);
      }
      batch.admit(sequence);
      prefill(sequence);
    }
  }

  private void firstAdmission(Sequence sequence) {
    sequence.cachedTokens = sequence.computed;
    totals.promptTokens += sequence.promptTokens;
    totals.cachedTokens += sequence.cachedTokens;
    int there = Math.min(sequence.transferredTokens, sequence.promptTokens - 1);
    if (there > sequence.computed) {
      totals.transferredTokens += there - sequence.computed;
      sequence.computed = there;
    }
    sequence.givenTokens = sequence.computed;
    events.admitted(sequence);
  }

  private void releaseCancelled() {
    List<Sequence> cancelled = batch.cancelled();
    for (int i = 0; i < cancelled.size(); i++) {
      leave(cancelled.get(i));
    }
    cancelled.clear();
  }

  private void endDecodes() {
    stepTokens = batch.decoding();
    totals.outputTokens += batch.decoding();
    if (everyToken) {
      List<Sequence> decodes = batch.decodes();
      for (int i = 0; i < decodes.size(); i++) {
        Sequence sequence = decodes.get(i);
        if (sequence.lastStep > step) {
          events.out(sequence, sequence.tokensAt(step) - sequence.promptTokens + 1);
        }
      }
    }
    while (batch.anyEnds(step)) {
      Sequence sequence = batch.takeEnding();
      leave(sequence);
      events.out(sequence, sequence.outputTokens);
    }
  }

  private void endPrefills() {
    List<Sequence> prefills = batch.prefills();
    for (int i = 0; i < prefills.size(); i++) {
      Sequence sequence = prefills.get(i);
      sequence.computed += sequence.chunk;
      sequence.chunk = 0;
    }
    while (!prefills.isEmpty()) {
      Sequence sequence = prefills.getFirst();
      if (sequence.computed < sequence.tokens()) {
        return;
      }
      totals.outputTokens++;
      int n = ++sequence.generated;
      stepTokens += n == 1 ? 1 + sequence.promptTokens - sequence.givenTokens : 1;
      if (n < sequence.outputTokens) {
        batch.decodeFirst(step);
      } else {
        batch.endFirst();
        leave(sequence);
      }
      if (everyToken || n == 1 || n == sequence.outputTokens) {
        events.out(sequence, n);
      }
    }
  }

  private void leave(Sequence sequence) {
    sequence.release(pool);
    slots.ended(sequence.adapter);
  }
}
