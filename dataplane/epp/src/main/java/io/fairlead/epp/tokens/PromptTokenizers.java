package io.fairlead.epp.tokens;

import io.fairlead.core.prefix.PromptTokens;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.TokenizerSource;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.plugin.PromptTokenizer;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.concurrent.Future;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The models' own tokenizers that a config names. They work on a few threads of their own, on a
 * bounded number of prompts at a time, the shortest first. One that could not be cut in time is not
 * begun: nobody can stop it then, and others would wait behind it. A request that gets no tokens in
 * time goes on with estimates.
 */
public final class PromptTokenizers implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(PromptTokenizers.class);

  /** Bodies that wait may fill so small a part of the heap. */
  private static final int HEAP_SHARE = 32;

  /** Prompts that wait for a thread. */
  private static final int MOST_WAITING = 256;

  /** Bytes of a body that is tried however slow others were: what it takes shows when that ends. */
  private static final int ALWAYS_TRIED = 64 << 10;

  /** A cut counts for one part of so many in what is known of how long they take. */
  private static final double PACE_WEIGHT = 8;

  private static final Duration RETRY = Duration.ofSeconds(30);

  /** Longest body that is looked at: several times the longest contexts. */
  public static final int MOST_BYTES = 8 << 20;

  private final ThreadPoolExecutor threads;
  private final Supplier<List<PromptTokenizer.Factory>> factories;
  private final LongSupplier clock;
  private final Duration retry;
  private final Map<TokenizerResult, LongAdder> counts = new EnumMap<>(TokenizerResult.class);
  private final LongAdder nanos = new LongAdder();
  private final AtomicLong failures = new AtomicLong();

  /** Of bodies that wait, or are looked at: they are copies, and in no other budget. */
  private final AtomicLong waitingBytes = new AtomicLong();

  private final long mostWaitingBytes = Runtime.getRuntime().maxMemory() / HEAP_SHARE;

  /** By requested model; replaced as a whole. */
  private volatile Map<String, Loaded> byModel = Map.of();

  private List<TokenizerSource> sources = List.of();
  private Map<TokenizerSource, Opened> opened = Map.of();

  /**
   * A tokenizer that is being opened, or is open. Its memory is not Java's: it is given back when
   * nobody works with it any more.
   */
  private static final class Opened {

    private volatile @Nullable PromptTokenizer tokenizer;
    private boolean closed;
    private int users;

    /** What a byte took lately; 0 while none has. Threads may overwrite one another: no harm. */
    private volatile double nanosPerByte;

    /** Whether it was asked for anew since it could not be opened. */
    private boolean again;

    void took(long nanos, int bytes) {
      if (bytes > 0) {
        double before = nanosPerByte;
        double now = (double) nanos / bytes;
        nanosPerByte = before == 0 ? now : before + (now - before) / PACE_WEIGHT;
      }
    }

    /** Whether a body of this length can surely not be cut within that. */
    boolean isTooLong(int bytes, Duration timeout) {
      return bytes > ALWAYS_TRIED && bytes * nanosPerByte > 2.0 * timeout.toNanos();
    }

    synchronized void opened(PromptTokenizer made) {
      tokenizer = made;
      freeIfLeft();
    }

    /**
     * Waits until it is worth another try.
     *
     * @return false if nobody wants it any more
     */
    synchronized boolean mayTryAgain(Duration pause) throws InterruptedException {
      long until = System.nanoTime() + pause.toNanos();
      for (long left = pause.toNanos();
          left > 0 && !again && !closed;
          left = until - System.nanoTime()) {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
      again = false;
      return !closed;
    }

    /** Somebody wants it still, or again: if it could not be opened, that is tried at once. */
    synchronized void tryAgain() {
      again = true;
      notifyAll();
    }

    /** For the caller's use until {@link #done}; null if it is closed. */
    synchronized @Nullable PromptTokenizer use() {
      PromptTokenizer own = closed ? null : tokenizer;
      if (own != null) {
        users++;
      }
      return own;
    }

    synchronized void done() {
      users--;
      freeIfLeft();
    }

    synchronized void close() {
      closed = true;
      notifyAll();
      freeIfLeft();
    }

    private void freeIfLeft() {
      PromptTokenizer own = tokenizer;
      if (closed && users == 0 && own != null) {
        tokenizer = null;
        own.close();
      }
    }
  }

  private record Loaded(Opened opened, Duration timeout, int grain) {}

  /**
   * None yet.
   *
   * @param clock monotonic nanoseconds
   */
  public PromptTokenizers(LongSupplier clock) {
    this(
        clock,
        () ->
            ServiceLoader.load(PromptTokenizer.Factory.class).stream()
                .map(ServiceLoader.Provider::get)
                .toList());
  }

  PromptTokenizers(LongSupplier clock, Supplier<List<PromptTokenizer.Factory>> factories) {
    this(clock, factories, RETRY);
  }

  /**
   * None yet.
   *
   * @param retry from one try to open what can't be opened to the next
   */
  PromptTokenizers(
      LongSupplier clock, Supplier<List<PromptTokenizer.Factory>> factories, Duration retry) {
    this.clock = clock;
    this.factories = factories;
    this.retry = retry;
    for (TokenizerResult result : TokenizerResult.values()) {
      counts.put(result, new LongAdder());
    }
    int most = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    threads =
        new ThreadPoolExecutor(
            most,
            most,
            10,
            TimeUnit.SECONDS,
            new PriorityBlockingQueue<>(),
            Thread.ofPlatform().daemon().name("fairlead-tokenizer-", 0).factory());
    threads.allowCoreThreadTimeOut(true); // none where no tokenizer is used
  }

  /** This config is in force: opens what it names beside the caller. One thread at a time. */
  public void configured(CompiledConfig config) {
    List<TokenizerSource> wanted =
        config.kvEvents() == null
            ? List.of()
            : config.settings(TokenizerSource.class).stream()
                .filter(TokenizerSource::isThere)
                .toList();
    Map<TokenizerSource, Opened> after = new HashMap<>();
    for (TokenizerSource source : wanted) {
      Opened before = opened.get(source);
      if (before != null) {
        before.tryAgain();
      }
      after.put(source, before == null ? open(source) : before);
    }
    opened.forEach(
        (source, old) -> {
          if (!after.containsKey(source)) {
            old.close();
          }
        });
    opened = after;
    sources = wanted;
    int grain = config.kvEvents() == null ? 1 : config.kvEvents().grain();
    byModel = byModel(config, grain);
  }

  /** A model that may become one of several is known where all of them have one tokenizer. */
  private Map<String, Loaded> byModel(CompiledConfig config, int grain) {
    Map<String, Loaded> targets = new HashMap<>();
    for (TokenizerSource source : sources) {
      Opened own = opened.get(source);
      if (own != null) {
        Loaded loaded = new Loaded(own, source.timeout(), grain);
        targets.put(source.model(), loaded);
        source.adapters().forEach(adapter -> targets.put(adapter, loaded));
      }
    }
    Map<String, Loaded> models = new HashMap<>(targets);
    for (ModelConfig model : config.source().models()) {
      List<@Nullable Loaded> all = new ArrayList<>();
      for (TargetModel target : model.targets()) {
        all.add(targets.get(target.name()));
      }
      Loaded first = all.isEmpty() ? targets.get(model.name()) : all.getFirst();
      boolean one = first != null && all.stream().allMatch(first::equals);
      if (one) {
        models.put(model.name(), first);
      } else {
        models.remove(model.name());
      }
    }
    return models;
  }

  private Opened open(TokenizerSource source) {
    Opened made = new Opened();
    // Not on the caller: large vocabularies take a second.
    Thread.ofVirtual().name("fairlead-tokenizer-opening").start(() -> openUntilItIs(source, made));
    return made;
  }

  /** The file may come later: of a volume that is mounted, or filled, after the picker began. */
  private void openUntilItIs(TokenizerSource source, Opened made) {
    try {
      String told = "";
      do {
        Attempt attempt = read(source);
        if (attempt.tokenizer() != null) {
          LOG.info("the tokenizer of {} is open", source.model());
          made.opened(attempt.tokenizer());
          return;
        }
        if (!attempt.why().equals(told)) {
          told = attempt.why();
          count(TokenizerResult.FAILED);
          LOG.error(
              "the tokenizer of {} is not used, and is tried again every {} s: {}",
              source.model(),
              retry.toSeconds(),
              told);
        }
      } while (made.mayTryAgain(retry));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * What came of opening one.
   *
   * @param why it is not open; empty where it is
   */
  private record Attempt(@Nullable PromptTokenizer tokenizer, String why) {}

  private Attempt read(TokenizerSource source) {
    try {
      for (PromptTokenizer.Factory factory : factories.get()) {
        PromptTokenizer tokenizer = factory.open(source.path());
        if (tokenizer != null) {
          return new Attempt(tokenizer, "");
        }
      }
      return new Attempt(
          null,
          "no plug-in reads what is in "
              + source.path()
              + "; put the jars of fairlead-tokenizers into the plug-in folder, and tokenizer.json"
              + " there");
    } catch (IOException | RuntimeException | LinkageError e) {
      return new Attempt(null, "what is in " + source.path() + " can't be opened: " + e);
    }
  }

  /** Whether prompts for this model are cut; asked for each request. */
  public boolean knows(String model) {
    Loaded loaded = byModel.get(model);
    return loaded != null && loaded.opened.tokenizer != null;
  }

  /**
   * Has a prompt cut.
   *
   * @param model as asked for
   * @param path of the request; a query is ignored
   * @param bytes of the body
   * @param body not changed any more; asked for once at most, before this returns, and only where
   *     there is room for it
   * @param home where {@code done} is called, and whoever calls this is
   * @param done called once, later; with null where there are no tokens in time
   * @return withdraws the question: {@code done} is not called then. Null where too many wait, it
   *     would take too long, or the model has no tokenizer any more: {@code done} is not called
   *     either
   */
  public @Nullable Runnable cut(
      String model,
      String path,
      int bytes,
      Supplier<byte[]> body,
      EventExecutor home,
      Consumer<@Nullable PromptTokens> done) {
    Loaded loaded = byModel.get(model);
    if (loaded == null || loaded.opened.tokenizer == null) {
      return null;
    }
    if (loaded.opened.isTooLong(bytes, loaded.timeout)) {
      count(TokenizerResult.LATE);
      return null;
    }
    boolean room = waitingBytes.addAndGet(bytes) <= mostWaitingBytes;
    if (!room || threads.getQueue().size() >= MOST_WAITING) {
      waitingBytes.addAndGet(-bytes);
      count(TokenizerResult.BUSY);
      return null;
    }
    int query = path.indexOf('?');
    String bare = query < 0 ? path : path.substring(0, query);
    Cut cut = new Cut(loaded, bare, bytes, body.get(), home, done);
    try {
      threads.execute(cut);
    } catch (RejectedExecutionException e) {
      waitingBytes.addAndGet(-bytes);
      count(TokenizerResult.BUSY);
      return null;
    }
    cut.timer = home.schedule(cut::late, loaded.timeout.toNanos(), TimeUnit.NANOSECONDS);
    return cut::withdraw;
  }

  private void count(TokenizerResult result) {
    Objects.requireNonNull(counts.get(result)).increment();
  }

  /** Tokenizers that are open. */
  public int open() {
    return (int)
        byModel.values().stream()
            .map(Loaded::opened)
            .filter(each -> each.tokenizer != null)
            .distinct()
            .count();
  }

  /** How many prompts had this end. */
  public long of(TokenizerResult result) {
    return Objects.requireNonNull(counts.get(result)).sum();
  }

  /** Time that threads have worked on prompts. */
  public double seconds() {
    return nanos.sum() / 1e9;
  }

  @Override
  public void close() {
    byModel = Map.of();
    threads.shutdownNow();
    opened.values().forEach(Opened::close);
    opened = Map.of();
  }

  /** One prompt. */
  private final class Cut implements Runnable, Comparable<Cut> {

    private final Loaded loaded;
    private final String path;

    /** As they were counted. */
    private final int bytes;

    private final byte[] body;
    private final EventExecutor home;
    private final Consumer<@Nullable PromptTokens> done;

    /** Written on {@code home}, and read by the thread, which need not begin then. */
    private volatile boolean over;

    /** On {@code home} only. */
    private @Nullable Future<?> timer;

    Cut(
        Loaded loaded,
        String path,
        int bytes,
        byte[] body,
        EventExecutor home,
        Consumer<@Nullable PromptTokens> done) {
      this.loaded = loaded;
      this.path = path;
      this.bytes = bytes;
      this.body = body;
      this.home = home;
      this.done = done;
    }

    @Override
    public int compareTo(Cut other) {
      return Integer.compare(bytes, other.bytes);
    }

    @Override
    public void run() {
      PromptTokenizer tokenizer = over ? null : loaded.opened.use();
      try {
        if (tokenizer != null) {
          cut(tokenizer);
        } else if (!over) {
          tell(TokenizerResult.FAILED, null); // it was closed while this waited
        }
      } finally {
        waitingBytes.addAndGet(-bytes);
        if (tokenizer != null) {
          loaded.opened.done();
        }
      }
    }

    private void cut(PromptTokenizer tokenizer) {
      long began = clock.getAsLong();
      TokenizerResult result;
      PromptTokens tokens = null;
      try {
        int[] ids = tokenizer.tokenize(path, body);
        tokens = ids == null ? null : PromptTokens.of(ids, loaded.grain);
        result = ids == null ? TokenizerResult.UNSUPPORTED : TokenizerResult.DONE;
      } catch (RuntimeException | LinkageError | StackOverflowError e) {
        result = TokenizerResult.FAILED;
        failed(e);
      }
      long took = clock.getAsLong() - began;
      if (result == TokenizerResult.DONE) {
        loaded.opened.took(took, bytes);
      }
      nanos.add(took);
      tell(result, tokens);
    }

    private void tell(TokenizerResult result, @Nullable PromptTokens tokens) {
      try {
        home.execute(() -> end(result, tokens));
      } catch (RejectedExecutionException e) {
        LOG.debug("a frontend's loop has ended, and its requests with it", e);
      }
    }

    private void late() {
      end(TokenizerResult.LATE, null);
    }

    private void withdraw() {
      over = true;
      stopTimer();
    }

    private void end(TokenizerResult result, @Nullable PromptTokens tokens) {
      if (!over) {
        over = true;
        stopTimer();
        count(result);
        done.accept(tokens);
      }
    }

    private void stopTimer() {
      if (timer != null) {
        timer.cancel(false);
      }
    }
  }

  /** Logged ever more rarely, and never with what it was about. */
  private void failed(Throwable e) {
    long times = failures.incrementAndGet();
    if (Long.bitCount(times) == 1) {
      LOG.error("a tokenizer failed, {} times so far: {}", times, e.getClass().getName());
    }
  }
}
