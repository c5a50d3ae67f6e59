package io.fairlead.epp.shadow;

import com.sun.management.OperatingSystemMXBean;
import io.fairlead.core.Learned;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.scheduling.CompiledShadow;
import io.fairlead.core.shadow.ShadowSnapshot;
import io.fairlead.epp.external.ExternalReport;
import io.fairlead.epp.external.SchedulerLoop;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One shadow and the thread that it runs on. What it is told waits in a mailbox, which the thread
 * empties some dozens of times a second: waking it for every request would cost more than its
 * decision. Requests are left out while many events wait, and while the shadow takes more than its
 * part of a busy process's CPU time; what is told of one that was let in never is.
 *
 * <p>A shadow whose plugin throws, that is at one event for seconds, or whose thread can't be
 * started, is switched off for good: its mailbox is dropped, its line to an external scheduler is
 * closed, and nothing more is told to it. That is done from the pool's loop, as a thread that hangs
 * never comes to it.
 */
final class ShadowThread implements AutoCloseable {

  private static final String STAYS =
      ", and its thread still is; only the picker's restart ends that, and until then no edit of the"
          + " shadow tries it again";

  private static final Logger LOG = LoggerFactory.getLogger(ShadowThread.class);

  /** Events that may wait before requests are left out: some tenths of a second of them. */
  static final int MOST_WAITING = 4_096;

  /** What the prompts among them may take: those of the longest are of megabytes. */
  static final long MOST_WAITING_BYTES = 16 << 20;

  /** Room beyond that for what must not be lost: the ends of requests that it knows. */
  private static final int CAPACITY = 1 << 16;

  private static final long NAP_NANOS = 25_000_000;
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long WRITES_DOWN_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long HANGS_NANOS = TimeUnit.SECONDS.toNanos(5);

  /**
   * Time without a look for longer does not count: whatever stopped the pool's loop, such as a
   * pause of the process or the machine, may have stopped the shadow.
   */
  private static final long LATE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final String name;
  private final Mailbox<Consumer<AskingShadow>> mailbox = new Mailbox<>(CAPACITY);

  /** What comes from the external scheduler, if the shadow asks one: some messages at most. */
  private final Queue<Runnable> came = new ConcurrentLinkedQueue<>();

  private final Timers timers = new Timers();
  private final LongSupplier clock;
  private final AskingShadow shadow;
  private final Thread thread;
  private volatile boolean closed;

  /** Nothing that comes is run any more. */
  private volatile boolean over;

  private volatile @Nullable String off;

  /** Whether it is off for being at one event for so long. */
  private volatile boolean hangs;

  private volatile boolean infersCaches;

  /** What is not to be used again once it is off. */
  private volatile @Nullable CompiledShadow runs;

  private volatile ShadowSnapshot told = ShadowSnapshot.EMPTY;

  /** What its plugins have learned, and when that was written down. */
  private volatile List<Learned> learned = List.of();

  private long learnedAt;

  /** When the event under way began; 0 between events. */
  private volatile long busySince;

  /** The event under way at the last look, by its beginning, and how long it was seen so. */
  private long watched;

  private long watchedNanos;
  private long checkedAt;

  private final CpuShare cpu = new CpuShare();

  /** Of the last look at what it costs; the pool's loop only. */
  private long lookedAt;

  private long ownBefore;
  private long allBefore;

  private final AtomicLong leftOut = new AtomicLong();
  private final AtomicLong cpuSeen = new AtomicLong();

  /** Of requests that wait to be asked about. */
  private final AtomicLong waitingBytes = new AtomicLong();

  /**
   * A shadow without config and endpoints.
   *
   * @param clock monotonic nanoseconds, never 0
   */
  ShadowThread(String name, PoolLimits limits, LongSupplier clock) {
    this(
        name,
        limits,
        clock,
        Thread.ofPlatform().daemon().name("fairlead-shadow-" + name).factory());
  }

  /**
   * A shadow without config and endpoints.
   *
   * @param threads makes the one that it runs on
   */
  ShadowThread(String name, PoolLimits limits, LongSupplier clock, ThreadFactory threads) {
    this.name = name;
    this.clock = clock;
    shadow = new AskingShadow(name, limits, new Loop(), clock);
    thread = threads.newThread(this::run);
    try {
      thread.start();
    } catch (OutOfMemoryError e) { // the process has as many threads as it may have
      giveUp("its thread can't be started: " + e.getMessage());
    }
  }

  String name() {
    return name;
  }

  /** Why it runs no more; null while it does. */
  @Nullable String off() {
    String why = off;
    return why != null && isStuck() ? why + STAYS : why;
  }

  /**
   * Whether its thread is at an event that may never end, and that nothing but the end of the
   * process ends. Any thread.
   */
  boolean isStuck() {
    return hangs && thread.isAlive();
  }

  /**
   * It runs this from now on; one that is off shares nothing of it with who comes after. The pool's
   * loop only.
   *
   * @param countsAnew whether what was counted before is of no use then
   */
  void runs(CompiledShadow compiled, boolean countsAnew) {
    runs = compiled;
    boolean asksForEvents = compiled.config().kvEvents() != null;
    if (asksForEvents && !infersCaches) {
      LOG.info(
          "shadow {} infers what caches hold from its own choices: the KV events that its"
              + " scheduling asks for tell what the real choices have left there",
          name);
    }
    infersCaches = asksForEvents;
    if (off != null) {
      compiled.spoil();
    }
    if (countsAnew) {
      leftOut.set(0);
    }
  }

  /** See {@link ShadowReport#infersCaches}. */
  boolean infersCaches() {
    return infersCaches;
  }

  /** How its external scheduler does; null where it asks none. */
  @Nullable ExternalReport external() {
    return off == null ? shadow.external() : null;
  }

  /** How it has done, as of some milliseconds ago. */
  ShadowSnapshot told() {
    return told;
  }

  /**
   * What its plugins have learned, as of some seconds ago: its thread may be at something else, or
   * gone. Nothing of one that is off.
   */
  List<Learned> learned() {
    return off == null ? learned : List.of();
  }

  /** Requests that it was not asked about, since it did not keep up. */
  long leftOut() {
    return leftOut.get();
  }

  /**
   * CPU time of its thread in nanoseconds, of one that has ended as far as it was seen; 0 where
   * that can't be told.
   */
  long cpuNanos() {
    long now = ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.threadId());
    return cpuSeen.accumulateAndGet(now, Math::max);
  }

  /** Tells it something that must not be lost. The pool's loop only. */
  void tell(Consumer<AskingShadow> event) {
    if (off == null && !closed && !mailbox.add(event)) {
      giveUp("more events wait for it than there is room for");
    }
  }

  /**
   * Tells it something that it can do without while it is busy. The pool's loop only.
   *
   * @return whether it will hear of it
   */
  boolean offer(Consumer<AskingShadow> event) {
    if (off != null || closed || mailbox.size() >= MOST_WAITING) {
      return false;
    }
    tell(event);
    return true;
  }

  /**
   * A request was sent: it is asked what it would have done, or the request is left out.
   *
   * @param bytes that what is told of the request takes while it waits
   */
  boolean ask(long bytes, Consumer<AskingShadow> event) {
    boolean room = waitingBytes.get() == 0 || waitingBytes.get() + bytes <= MOST_WAITING_BYTES;
    boolean asked =
        cpu.next()
            && room
            && offer(
                shadow -> {
                  waitingBytes.addAndGet(-bytes);
                  event.accept(shadow);
                });
    if (asked) {
      waitingBytes.addAndGet(bytes);
    } else if (off == null) {
      leftOut.incrementAndGet();
    }
    return asked;
  }

  /**
   * To be called now and then on the pool's loop: an event that takes seconds never ends, and what
   * the shadow costs is looked at.
   */
  void check() {
    long now = clock.getAsLong();
    long since = busySince;
    if (since == watched) {
      watchedNanos += now - checkedAt <= LATE_NANOS ? now - checkedAt : 0;
    } else {
      watched = since;
      watchedNanos = 0;
    }
    checkedAt = now;
    if (off == null && since != 0 && watchedNanos > HANGS_NANOS) {
      hangs = true;
      giveUp("it has been at one event for more than 5 s");
    }
    if (now - lookedAt >= LOOK_NANOS) {
      long own = cpuNanos();
      long all = processNanos();
      if (lookedAt != 0) {
        cpu.passed(now - lookedAt, own - ownBefore, all - allBefore);
      }
      lookedAt = now;
      ownBefore = own;
      allBefore = all;
    }
  }

  private static long processNanos() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean told
        ? told.getProcessCpuTime()
        : 0;
  }

  /** Whether its thread runs. */
  boolean isAlive() {
    return thread.isAlive();
  }

  @Override
  public void close() {
    closed = true;
    leave();
    LockSupport.unpark(thread);
  }

  /** Of one that may never come to an end by itself. The pool's loop only. */
  private void giveUp(String why) {
    switchOff(why);
    leave();
    thread.interrupt();
  }

  /** Whatever its thread is at, nothing is kept for it, and nobody is asked. Any thread. */
  private void leave() {
    over = true;
    mailbox.drop();
    came.clear();
    shadow.hangUp();
  }

  private void run() {
    while (!closed && off == null) {
      Consumer<AskingShadow> event = mailbox.poll();
      boolean did = event != null;
      if (event != null) {
        guarded(() -> event.accept(shadow));
      }
      for (Runnable next = due(); next != null && off == null; next = due()) {
        guarded(next);
        did = true;
      }
      if (!did) {
        told = shadow.snapshot();
        guarded(this::writeDown);
        LockSupport.parkNanos(this, timers.until(clock.getAsLong(), NAP_NANOS));
      }
    }
    drop();
  }

  private void writeDown() {
    long now = clock.getAsLong();
    if (now - learnedAt >= WRITES_DOWN_NANOS) {
      learnedAt = now;
      learned = shadow.learned();
    }
  }

  /** What came from the external scheduler, or is due. */
  private @Nullable Runnable due() {
    Runnable next = came.poll();
    return next == null ? timers.poll(clock.getAsLong()) : next;
  }

  private void guarded(Runnable event) {
    busySince = clock.getAsLong();
    try {
      event.run();
    } catch (RuntimeException | Error e) {
      if (over) {
        LOG.debug("shadow {}: its line was closed, or its mailbox dropped, under it", name, e);
      } else {
        LOG.error("shadow {}: switched off, a plugin of it failed", name, e);
        switchOff("a plugin of it failed: " + e);
      }
    }
    busySince = 0;
  }

  /** A thread that is gone keeps nothing of requests, and asks nobody. */
  private void drop() {
    leave();
    try {
      shadow.close();
    } catch (RuntimeException | Error e) {
      LOG.debug("shadow {}: what it was deciding is left", name, e);
    }
  }

  /** The first reason counts. */
  private synchronized void switchOff(String why) {
    if (off == null) {
      LOG.warn("shadow {} is switched off: {}", name, why);
      off = why;
      CompiledShadow ran = runs;
      if (ran != null) {
        ran.spoil();
      }
    }
  }

  /** Where its external scheduler is asked: it is woken for what comes from there. */
  private final class Loop implements SchedulerLoop {

    @Override
    public void execute(Runnable task) {
      if (over) {
        throw new RejectedExecutionException("shadow " + name + " is over");
      }
      came.add(task);
      LockSupport.unpark(thread);
    }

    @Override
    public void schedule(Runnable task, long nanos) {
      timers.add(clock.getAsLong() + nanos, task);
    }
  }
}
