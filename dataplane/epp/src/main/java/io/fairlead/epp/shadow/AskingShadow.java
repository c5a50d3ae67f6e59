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
import io.fairlead.core.external.EndpointLoad;
import io.fairlead.core.external.RequestBrief;
import io.fairlead.core.handover.News;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ExternalScheduler;
import io.fairlead.core.shadow.Shadow;
import io.fairlead.core.shadow.ShadowSnapshot;
import io.fairlead.epp.external.ExternalCounts;
import io.fairlead.epp.external.ExternalReport;
import io.fairlead.epp.external.ExternalScheduling;
import io.fairlead.epp.external.PoolView;
import io.fairlead.epp.external.SchedulerLoop;
import io.fairlead.epp.external.Word;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A shadow, and the external scheduler that it asks if its config has one: it decides on a request
 * when that has answered, or the timeout is over. What is told of the request meanwhile is told to
 * it afterwards.
 *
 * <p>On the shadow's thread, except {@link #external} and {@link #hangUp}.
 */
final class AskingShadow implements AutoCloseable {

  private final String name;
  private final Shadow shadow;
  private final SchedulerLoop loop;
  private final LongSupplier clock;
  private final ExternalCounts counts = new ExternalCounts();

  /** What was told of requests that the scheduler is being asked about. */
  private final Map<Long, List<ObjLongConsumer<Shadow>>> asked = new HashMap<>();

  /** The newest time that was told. */
  private long now;

  private volatile @Nullable ExternalScheduling scheduler;

  /**
   * A shadow without config and endpoints.
   *
   * @param loop the shadow's thread
   * @param clock monotonic nanoseconds
   */
  AskingShadow(String name, PoolLimits limits, SchedulerLoop loop, LongSupplier clock) {
    this.name = name;
    this.shadow = new Shadow(limits);
    this.loop = loop;
    this.clock = clock;
  }

  /** How its external scheduler does; null where there is none. Any thread. */
  @Nullable ExternalReport external() {
    ExternalScheduling asks = scheduler;
    return asks == null ? null : asks.report();
  }

  private long at(long time) {
    now = Math.max(now, time);
    return now;
  }

  /** See {@link Shadow#configure}. */
  void configure(long time, CompiledConfig config, boolean otherChoices, List<Learned> learned) {
    shadow.configure(at(time), config, otherChoices, learned);
    List<ExternalScheduler> listed = config.settings(ExternalScheduler.class);
    ExternalScheduler wanted = listed.isEmpty() ? null : listed.getFirst();
    ExternalScheduling before = scheduler;
    if (before != null && before.settings().equals(wanted)) {
      return;
    }
    scheduler =
        wanted == null
            ? null
            : new ExternalScheduling(
                wanted,
                config.source().namespace() + "/" + config.source().name(),
                name,
                new View(),
                loop,
                clock,
                counts);
    if (before != null) {
      before.close();
    }
  }

  /** See {@link Shadow#learned}. */
  List<Learned> learned() {
    return shadow.learned(now);
  }

  /** See {@link Shadow#endpoints}. */
  void endpoints(long time, List<EndpointSpec> all) {
    shadow.endpoints(at(time), all);
    ExternalScheduling asks = scheduler;
    if (asks != null) {
      asks.endpointsChanged();
    }
  }

  /** See {@link Shadow#replicas}. */
  void replicas(int count) {
    shadow.replicas(count);
  }

  /** See {@link Shadow#tells}. */
  void tells(long picker) {
    shadow.tells(picker);
  }

  /** See {@link Shadow#heard}. */
  void heard(long time, long picker, News news) {
    shadow.heard(at(time), picker, news);
  }

  /** See {@link Shadow#silent}. */
  void silent(long time, long picker) {
    shadow.silent(at(time), picker);
  }

  /** See {@link Shadow#scraped}. */
  void scraped(long time, EndpointSpec endpoint, long begunAt, EndpointMetrics metrics) {
    shadow.scraped(at(time), endpoint, begunAt, metrics);
    changed(endpoint);
  }

  /** See {@link Shadow#unreachable}. */
  void unreachable(long time, EndpointSpec endpoint, long begunAt, Failure failure) {
    shadow.unreachable(at(time), endpoint, begunAt, failure);
    changed(endpoint);
  }

  private void changed(EndpointSpec endpoint) {
    ExternalScheduling asks = scheduler;
    if (asks != null) {
      asks.changed(endpoint.name());
    }
  }

  /** See {@link Shadow#tick}. */
  void tick(long time) {
    shadow.tick(at(time));
    ExternalScheduling asks = scheduler;
    if (asks != null) {
      asks.tick(clock.getAsLong());
    }
  }

  /** See {@link Shadow#sent}. */
  void sent(long time, long key, RequestFacts facts, Route route) {
    at(time);
    ExternalScheduling asks = scheduler;
    if (asks == null) {
      var _ = shadow.sent(now, time, key, facts, null, route);
      return;
    }
    asked.put(key, new ArrayList<>());
    var _ = asks.ask(facts, word -> decide(time, key, facts, word, route));
  }

  private void decide(long sentAt, long key, RequestFacts facts, Word word, Route route) {
    List<ObjLongConsumer<Shadow>> meanwhile = asked.remove(key);
    String chosen = shadow.sent(now, sentAt, key, facts, word.advice(), route);
    if (chosen == null) {
      word.withdrawn();
    } else {
      word.sent(chosen);
    }
    if (meanwhile != null) {
      meanwhile.forEach(event -> event.accept(shadow, now));
    }
  }

  /** Tells of a request that was sent; the event gets the time of the shadow. */
  private void tell(long time, long key, ObjLongConsumer<Shadow> event) {
    at(time);
    List<ObjLongConsumer<Shadow>> later = asked.get(key);
    if (later == null) {
      event.accept(shadow, now);
    } else {
      later.add(event);
    }
  }

  /** See {@link Shadow#firstByte}. */
  void firstByte(long time, long key) {
    tell(time, key, (told, then) -> told.firstByte(time, key));
  }

  /** See {@link Shadow#ended}. */
  void ended(long time, long key, Outcome outcome, Usage usage) {
    tell(time, key, (told, then) -> told.ended(then, key, outcome, usage));
  }

  /** See {@link Shadow#left}. */
  void left(long time, long key) {
    tell(time, key, (told, then) -> told.left(then, key));
  }

  /** How it has done. */
  ShadowSnapshot snapshot() {
    return shadow.snapshot();
  }

  /** Asks nobody any more, whatever the shadow's thread is at. Any thread. */
  void hangUp() {
    ExternalScheduling asks = scheduler;
    if (asks != null) {
      asks.hangUp();
    }
  }

  @Override
  public void close() {
    ExternalScheduling asks = scheduler;
    scheduler = null;
    if (asks != null) {
      asks.close();
    }
  }

  /** The shadow's own account is what its scheduler is told. */
  private final class View implements PoolView {

    @Override
    public @Nullable RequestBrief brief(long time, RequestFacts facts) {
      return shadow.brief(now, facts);
    }

    @Override
    public long loads(long since, Consumer<EndpointLoad> to) {
      return shadow.loads(since, to);
    }

    @Override
    public @Nullable EndpointLoad load(String endpoint) {
      return shadow.load(endpoint);
    }
  }
}
