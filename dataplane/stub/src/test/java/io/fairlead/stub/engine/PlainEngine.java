package io.fairlead.stub.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The rules of {@link Engine} written down as plainly as can be: every step looks at every request,
 * every prompt is looked up in every step, and nothing is remembered that could be counted. The
 * engine proper is held against it.
 */
final class PlainEngine {

  private final EngineProfile profile;
  private final Imperfection imperfection;
  private final SplittableRandom noise;
  private final EngineListener listener;
  private final PlainPool pool;
  private final List<Request> waiting = new ArrayList<>();
  private final List<Request> running = new ArrayList<>();
  private final List<Request> cancelled = new ArrayList<>();
  private final List<String> resident = new ArrayList<>();
  private final List<String> idle = new ArrayList<>();
  private List<Request> leftWaiting = List.of();
  private long now;
  private long stepEnd = Engine.IDLE;
  private int loadsToDo;
  long promptTokens;
  long cachedTokens;
  long transferredTokens;
  long computedTokens;
  long outputTokens;
  long preemptions;
  long adapterLoads;
  SchedulerStats published = new SchedulerStats(0, 0, 0, 0, 0, 0, 0, 0, 0, List.of());

  private static final class Request {
    final EngineRequest asked;
    final List<Integer> table = new ArrayList<>();
    boolean admittedBefore;
    boolean deferred;
    boolean decoding;
    int cachedTokens;
    int generated;
    int identified;
    int computed;
    int chunk;

    Request(EngineRequest asked) {
      this.asked = asked;
    }

    int tokens() {
      return asked.promptTokens() + generated;
    }
  }

  PlainEngine(
      EngineProfile profile, Imperfection imperfection, long seed, EngineListener listener) {
    this.profile = profile;
    this.imperfection = imperfection;
    noise = new SplittableRandom(seed);
    this.listener = listener;
    pool = new PlainPool(profile.blocks());
  }

  void submit(long now, EngineRequest asked) {
    advance(now);
    waiting.add(new Request(asked));
    startStepIfIdle();
  }

  boolean cancel(long now, long id) {
    advance(now);
    for (Request request : waiting) {
      if (request.asked.id() == id) {
        waiting.remove(request);
        return true;
      }
    }
    for (Request request : running) {
      if (request.asked.id() == id && !cancelled.contains(request)) {
        cancelled.add(request);
        return true;
      }
    }
    return false;
  }

  void advance(long now) {
    while (stepEnd <= now) {
      this.now = stepEnd;
      endStep();
      publish();
      startStep();
    }
    this.now = now;
  }

  boolean loadAdapter(long now, String adapter) {
    advance(now);
    if (!resident.contains(adapter)) {
      if (!hasSlot(adapter)) {
        return false;
      }
      load(adapter);
      idle.add(adapter);
    }
    startStepIfIdle();
    return true;
  }

  boolean unloadAdapter(long now, String adapter) {
    advance(now);
    if (runs(adapter)) {
      return false;
    }
    resident.remove(adapter);
    idle.remove(adapter);
    return true;
  }

  void resetCache(long now) {
    advance(now);
    pool.forget();
  }

  long nextEventNanos() {
    return stepEnd;
  }

  int running() {
    return running.size();
  }

  int waiting() {
    return waiting.size();
  }

  int usedBlocks() {
    return pool.held();
  }

  List<String> runningAdapters() {
    return adapters(running);
  }

  List<String> waitingAdapters() {
    return adapters(waiting);
  }

  private static List<String> adapters(List<Request> requests) {
    Set<String> names = new TreeSet<>();
    requests.forEach(request -> names.add(request.asked.adapter()));
    names.remove("");
    return List.copyOf(names);
  }

  private void publish() {
    published =
        new SchedulerStats(
            running.size(),
            (int) leftWaiting.stream().filter(waiting::contains).count(),
            (int) waiting.stream().filter(request -> request.deferred).count(),
            pool.held(),
            promptTokens,
            cachedTokens,
            transferredTokens,
            outputTokens,
            preemptions,
            runningAdapters());
  }

  private void startStepIfIdle() {
    if (stepEnd == Engine.IDLE) {
      startStep();
    }
  }

  private void startStep() {
    boolean preempted = giveBlocksToDecodes();
    int budget = profile.maxBatchedTokens();
    int prefillTokens = 0;
    int decodes = 0;
    long context = 0;
    double attended = 0;
    for (Request request : running) {
      request.chunk = 0;
      if (request.decoding && !cancelled.contains(request)) {
        request.chunk = 1;
        budget--;
        decodes++;
        context += request.tokens();
        identifyFull(request);
      }
    }
    for (Request request : running) {
      if (!request.decoding) {
        request.chunk = Math.min(request.tokens() - request.computed, budget);
        budget -= request.chunk;
        prefillTokens += request.chunk;
        attended += request.chunk * (request.computed + request.chunk / 2.0);
        identifyFull(request);
      }
    }
    while (!preempted && budget > 0 && running.size() < profile.maxSequences()) {
      Request request = admit();
      if (request == null) {
        break;
      }
      request.chunk = Math.min(request.tokens() - request.computed, budget);
      budget -= request.chunk;
      prefillTokens += request.chunk;
      attended += request.chunk * (request.computed + request.chunk / 2.0);
      identifyFull(request);
    }
    leftWaiting = List.copyOf(waiting);
    double millis = loadsToDo * profile.adapterLoadMillis();
    if (prefillTokens + decodes > 0) {
      int batch = imperfection.graphPadding() && prefillTokens == 0 ? captured(decodes) : decodes;
      double forward =
          Math.max(profile.d0(), profile.a() + profile.b() * prefillTokens)
              + profile.c() * attended
              + profile.d1() * batch
              + profile.d2() * context;
      double sigma = imperfection.kernelNoise();
      if (sigma > 0) {
        forward *= Math.exp(sigma * noise.nextGaussian() - sigma * sigma / 2);
      }
      millis += forward + imperfection.hostMillis();
    }
    boolean nothing = prefillTokens + decodes + loadsToDo == 0;
    stepEnd = nothing ? Engine.IDLE : now + Math.max(1, Math.round(millis * 1e6));
    loadsToDo = 0;
  }

  /** The size of the CUDA graph that so many sequences run in. */
  private static int captured(int decodes) {
    for (int size : new int[] {1, 2, 4}) {
      if (decodes <= size) {
        return size;
      }
    }
    for (int size = 8; size <= 512; size += 8) {
      if (decodes <= size) {
        return size;
      }
    }
    return decodes;
  }

  private boolean giveBlocksToDecodes() {
    boolean preempted = false;
    for (int i = 0; i < running.size(); i++) {
      Request request = running.get(i);
      if (!request.decoding || request.table.size() == blocksFor(request)) {
        continue;
      }
      while (pool.free() == 0 && running.contains(request)) {
        Request newest = running.getLast();
        takeOut(newest);
        newest.decoding = false;
        waiting.addFirst(newest);
        preemptions++;
        preempted = true;
      }
      if (running.contains(request)) {
        request.table.add(pool.allocate());
      }
    }
    return preempted;
  }

  private @Nullable Request admit() {
    for (Request request : waiting) {
      if (!hasSlot(request.asked.adapter())) {
        request.deferred = true;
        continue;
      }
      long[] identities = request.asked.blocks();
      int most = Math.min(identities.length, (request.tokens() - 1) / profile.blockTokens());
      int cached = 0;
      int free = pool.free();
      while (cached < most && pool.knows(identities[cached])) {
        free -= pool.isFree(identities[cached]) ? 1 : 0;
        cached++;
      }
      if (free < blocksFor(request) - cached) {
        return null;
      }
      waiting.remove(request);
      request.deferred = false;
      join(request, cached);
      return request;
    }
    return null;
  }

  private void join(Request request, int cached) {
    for (int i = 0; i < cached; i++) {
      request.table.add(pool.share(request.asked.blocks()[i]));
    }
    while (request.table.size() < blocksFor(request)) {
      request.table.add(pool.allocate());
    }
    request.identified = cached;
    request.computed = cached * profile.blockTokens();
    if (!request.admittedBefore) {
      request.admittedBefore = true;
      request.cachedTokens = request.computed;
      promptTokens += request.asked.promptTokens();
      cachedTokens += request.computed;
      int there = Math.min(request.asked.transferredTokens(), request.asked.promptTokens() - 1);
      transferredTokens += Math.max(0, there - request.computed);
      request.computed = Math.max(request.computed, there);
    }
    String adapter = request.asked.adapter();
    if (!adapter.isEmpty() && !resident.contains(adapter)) {
      load(adapter);
    }
    idle.remove(adapter);
    running.add(request);
  }

  private void endStep() {
    for (Request request : cancelled) {
      computedTokens += request.chunk;
      takeOut(request);
    }
    cancelled.clear();
    for (Request request : List.copyOf(running)) {
      computedTokens += request.chunk;
      request.computed += request.chunk;
      boolean outputs = request.chunk > 0 && request.computed == request.tokens();
      request.chunk = 0;
      if (outputs) {
        output(request);
      }
    }
  }

  private void output(Request request) {
    request.decoding = true;
    request.generated++;
    outputTokens++;
    long id = request.asked.id();
    if (request.generated == 1) {
      listener.firstToken(id, request.cachedTokens, now);
    } else {
      listener.token(id, request.generated, now);
    }
    if (request.generated == request.asked.outputTokens()) {
      takeOut(request);
      listener.finished(id, now);
    }
  }

  private void takeOut(Request request) {
    running.remove(request);
    request.table.reversed().forEach(pool::release);
    request.table.clear();
    String adapter = request.asked.adapter();
    if (!adapter.isEmpty() && !runs(adapter)) {
      idle.add(adapter);
    }
  }

  /** Once for each block, when it is full: who comes later with the same content stays unknown. */
  private void identifyFull(Request request) {
    int full = (request.computed + request.chunk) / profile.blockTokens();
    while (request.identified < Math.min(full, request.asked.blocks().length)) {
      int block = request.table.get(request.identified);
      pool.identify(block, request.asked.blocks()[request.identified]);
      request.identified++;
    }
  }

  private boolean runs(String adapter) {
    return running.stream().anyMatch(request -> request.asked.adapter().equals(adapter));
  }

  private boolean hasSlot(String adapter) {
    return adapter.isEmpty()
        || resident.contains(adapter)
        || resident.size() < profile.adapterSlots()
        || !idle.isEmpty();
  }

  private void load(String adapter) {
    if (resident.size() == profile.adapterSlots()) {
      resident.remove(idle.removeFirst());
    }
    resident.add(adapter);
    adapterLoads++;
    loadsToDo++;
  }

  private int blocksFor(Request request) {
    return Math.ceilDiv(request.tokens(), profile.blockTokens());
  }
}
