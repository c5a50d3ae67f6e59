package io.fairlead.epp.shadow;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.Learned;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.core.handover.News;
import io.fairlead.core.prefix.PromptTokens;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.CompiledShadow;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.epp.external.ExternalReport;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A pool's shadows. Told on the pool's loop of what the core is told, after it; never waits, and
 * costs nothing where there are none.
 */
public final class Shadows implements AutoCloseable {

  /** Of a request without its prompt: its names and headers above all. */
  private static final long REQUEST_BYTES = 1 << 10;

  private final PoolLimits limits;
  private List<EndpointSpec> endpoints = List.of();
  private int replicas = 1;

  /** Other pickers that tell what they send, each as often as it has ways to. */
  private final List<Long> telling = new ArrayList<>();

  private long lastKey;

  /** By the shadow's name. */
  private Map<String, Choosing> choosers = Map.of();

  private volatile List<ShadowThread> threads = List.of();

  /**
   * Those taken out whose threads can't be ended: each has a processor for itself, and one of the
   * same name would take another.
   */
  private List<ShadowThread> stuck = List.of();

  /** Who is compared with whom. */
  private record Choosing(SchedulerConfig real, SchedulerConfig shadow) {}

  /**
   * None, yet.
   *
   * @param limits of a shadow's core
   */
  public Shadows(PoolLimits limits) {
    this.limits = limits;
  }

  /**
   * A config is in force: shadows that it has no more end, those that it still has go on with what
   * they know. Where the scheduling of a shadow, or that in force, is another one, it counts anew.
   *
   * <p>One that was switched off stays so until its own scheduling is another one, and for good
   * where its thread can't be ended: each edit would add one more. The new one shares no plugin
   * with it.
   *
   * @param learned by plugins that are or were in force: new ones of the same kind begin with it
   */
  public void configured(long now, CompiledConfig active, List<Learned> learned) {
    List<CompiledShadow> wanted = active.shadows();
    Map<String, Choosing> choosing = new HashMap<>();
    List<ShadowThread> next = new ArrayList<>();
    for (CompiledShadow shadow : wanted) {
      CompiledConfig config = shadow.config();
      Choosing compared = new Choosing(active.source().scheduler(), config.source().scheduler());
      Choosing before = choosers.get(shadow.name());
      ShadowThread thread = thread(shadow.name());
      boolean edited = before == null || !before.shadow().equals(compared.shadow());
      // Off only since the edit was compiled, it might share plugins: another edit tries again.
      boolean again =
          thread != null
              && thread.off() != null
              && !thread.isStuck()
              && edited
              && shadow.isOfItsOwn();
      boolean fresh = thread == null || again;
      if (thread == null || fresh) {
        thread = new ShadowThread(shadow.name(), limits, () -> System.nanoTime() | 1);
      }
      boolean others = !compared.equals(before);
      choosing.put(shadow.name(), compared);
      thread.runs(shadow, others);
      if (fresh) {
        List<EndpointSpec> there = endpoints;
        int count = replicas;
        List<Long> heard = List.copyOf(telling);
        thread.tell(
            s -> {
              s.endpoints(now, there);
              s.replicas(count);
              heard.forEach(s::tells);
            });
      }
      thread.tell(s -> s.configure(now, config, others, learned));
      next.add(thread);
    }
    choosers = choosing;
    List<ShadowThread> before = threads;
    threads = List.copyOf(next);
    before.stream().filter(thread -> !next.contains(thread)).forEach(ShadowThread::close);
    stuck =
        Stream.concat(stuck.stream(), before.stream())
            .filter(thread -> thread.isStuck() && !next.contains(thread))
            .toList();
  }

  private @Nullable ShadowThread thread(String name) {
    return Stream.concat(threads.stream(), stuck.stream())
        .filter(thread -> thread.name().equals(name))
        .findFirst()
        .orElse(null);
  }

  /** What plugins of shadows have learned, as of some seconds ago. The pool's loop only. */
  public List<Learned> learned() {
    return threads.stream().flatMap(thread -> thread.learned().stream()).toList();
  }

  /** These endpoints are in force. */
  public void endpoints(long now, List<EndpointSpec> all) {
    endpoints = all;
    tell(shadow -> shadow.endpoints(now, all));
  }

  /** So many pickers share the pool. */
  public void replicas(int count) {
    replicas = count;
    tell(shadow -> shadow.replicas(count));
  }

  /** Another picker tells what it sends. */
  public void tells(long picker) {
    telling.add(picker);
    tell(shadow -> shadow.tells(picker));
  }

  /** It has told this: what of it was left out would count for ever. */
  public void heard(long now, long picker, News news) {
    tell(shadow -> shadow.heard(now, picker, news));
  }

  /** It tells no more. */
  public void silent(long now, long picker) {
    telling.remove(picker);
    tell(shadow -> shadow.silent(now, picker));
  }

  /** An endpoint was scraped. */
  public void scraped(long now, EndpointSpec endpoint, long begunAt, EndpointMetrics metrics) {
    for (ShadowThread thread : threads) {
      thread.offer(shadow -> shadow.scraped(now, endpoint, begunAt, metrics));
    }
  }

  /** A scrape failed. */
  public void unreachable(long now, EndpointSpec endpoint, long begunAt, Failure failure) {
    for (ShadowThread thread : threads) {
      thread.offer(shadow -> shadow.unreachable(now, endpoint, begunAt, failure));
    }
  }

  /** Time has moved on. */
  public void tick(long now) {
    for (ShadowThread thread : threads) {
      thread.check();
      thread.offer(shadow -> shadow.tick(now));
    }
  }

  /** Whether there is anybody to tell of requests. */
  public boolean some() {
    return !threads.isEmpty();
  }

  /**
   * A request was sent for the first time.
   *
   * @return to be told of what becomes of it; null if no shadow wants to know
   */
  public @Nullable ShadowedRequest sent(long now, RequestFacts facts, Route route) {
    long key = ++lastKey;
    long bytes = bytes(facts);
    List<ShadowThread> asked = List.of();
    for (ShadowThread thread : threads) {
      if (thread.ask(bytes, shadow -> shadow.sent(now, key, facts, route))) {
        // A busy picker's is asked about few: nothing is made for the others.
        asked = asked.isEmpty() ? new ArrayList<>(threads.size()) : asked;
        asked.add(thread);
      }
    }
    return asked.isEmpty() ? null : new ShadowedRequest(key, asked);
  }

  /** About what is kept of a request for a shadow that will be asked about it. */
  private static long bytes(RequestFacts facts) {
    PromptTokens tokens = facts.tokens();
    long numbers = facts.blocks().length + (tokens == null ? 0L : tokens.keys().length);
    return REQUEST_BYTES + Long.BYTES * numbers;
  }

  /** How each does. Any thread. */
  public List<ShadowReport> reports() {
    return threads.stream()
        .map(
            thread ->
                new ShadowReport(
                    thread.name(),
                    thread.off(),
                    thread.infersCaches(),
                    thread.leftOut() + thread.told().leftOut(),
                    thread.cpuNanos() / 1e9,
                    thread.told()))
        .toList();
  }

  /** How the external schedulers of those do that ask one. Any thread. */
  public List<ExternalReport> externalReports() {
    return threads.stream().map(ShadowThread::external).flatMap(Stream::ofNullable).toList();
  }

  @Override
  public void close() {
    threads.forEach(ShadowThread::close);
  }

  private void tell(Consumer<AskingShadow> event) {
    threads.forEach(thread -> thread.tell(event));
  }

  /** A request that shadows have decided about. The pool's loop only. */
  public static final class ShadowedRequest {
    private final long key;
    private final List<ShadowThread> asked;

    private ShadowedRequest(long key, List<ShadowThread> asked) {
      this.key = key;
      this.asked = asked;
    }

    /** The first byte of the answer's body came. */
    public void firstByte(long now) {
      asked.forEach(thread -> thread.tell(shadow -> shadow.firstByte(now, key)));
    }

    /** It is over. */
    public void ended(long now, Outcome outcome, Usage usage) {
      asked.forEach(thread -> thread.tell(shadow -> shadow.ended(now, key, outcome, usage)));
    }

    /** Nobody will tell of its end. */
    public void left(long now) {
      asked.forEach(thread -> thread.tell(shadow -> shadow.left(now, key)));
    }
  }
}
