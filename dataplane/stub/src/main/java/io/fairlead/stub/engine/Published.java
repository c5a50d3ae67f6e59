package io.fairlead.stub.engine;

import java.util.List;

/**
 * The numbers as of the end of the last step. Kept in fields, since most are never read: a step
 * must not allocate, and a page is read once in many steps.
 */
final class Published {

  private int running;
  private int waiting;
  private int deferred;
  private int usedBlocks;
  private long promptTokens;
  private long cachedTokens;
  private long transferredTokens;
  private long outputTokens;
  private long preemptions;
  private List<String> adapters = List.of();
  private long adaptersAsOf = -1;

  /** A step has ended, or the engine is as new. */
  void update(Scheduler scheduler) {
    running = scheduler.running();
    waiting = scheduler.admission.leftWaiting();
    deferred = scheduler.admission.deferred();
    usedBlocks = scheduler.pool.held();
    Totals totals = scheduler.totals;
    promptTokens = totals.promptTokens;
    cachedTokens = totals.cachedTokens;
    transferredTokens = totals.transferredTokens;
    outputTokens = totals.outputTokens;
    preemptions = totals.preemptions;
    if (adaptersAsOf != scheduler.slots.changes()) {
      adaptersAsOf = scheduler.slots.changes();
      adapters = scheduler.slots.names(adapter -> adapter.running);
    }
  }

  int waiting() {
    return waiting;
  }

  SchedulerStats stats() {
    return new SchedulerStats(
        running,
        waiting,
        deferred,
        usedBlocks,
        promptTokens,
        cachedTokens,
        transferredTokens,
        outputTokens,
        preemptions,
        adapters);
  }
}
