package io.fairlead.core.scheduling;

import io.fairlead.core.Timeouts;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.crds.config.TimeoutsConfig;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.WaitingRequest;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What a model name that clients may ask for means: its criticality, its targets, its bounds. */
public final class CompiledModel {

  private static final long PURPOSE = 1;

  private final Criticality criticality;
  private final String[] targets;

  /** Sums of the weights up to and including each target. */
  private final long[] upTo;

  private final Timeouts timeouts;

  private final int weight;
  private final long queueTtl;
  private final long firstToken;
  private final long eachToken;

  private CompiledModel(ModelConfig config, String[] targets, long[] upTo) {
    this.criticality = config.criticality();
    this.targets = targets;
    this.upTo = upTo;
    this.timeouts = timeouts(config.timeouts());
    this.weight = config.queue().weight();
    this.queueTtl = nanos(config.queue().ttl());
    this.firstToken = nanos(config.latency().firstToken());
    this.eachToken = nanos(config.latency().eachToken());
  }

  private static long nanos(@Nullable Duration time) {
    return time == null ? WaitingRequest.NEVER : time.toNanos();
  }

  /** Whether its requests are split among several targets. */
  public boolean isSplit() {
    return targets.length > 1;
  }

  /** A name that is its own and only target. */
  static CompiledModel plain(String name, Criticality criticality) {
    return of(new ModelConfig(name, criticality, List.of()));
  }

  static CompiledModel of(ModelConfig config) {
    List<TargetModel> from = config.targets();
    if (from.isEmpty()) {
      return new CompiledModel(config, new String[] {config.name()}, new long[] {1});
    }
    String[] targets = new String[from.size()];
    long[] upTo = new long[targets.length];
    long sum = 0;
    for (int i = 0; i < targets.length; i++) {
      targets[i] = from.get(i).name();
      sum += from.get(i).weight();
      upTo[i] = sum;
    }
    return new CompiledModel(config, targets, upTo);
  }

  static Timeouts timeouts(TimeoutsConfig config) {
    return new Timeouts(config.firstByte(), config.silence(), config.total());
  }

  /** How requests for it fare when the pool is short of capacity. */
  public Criticality criticality() {
    return criticality;
  }

  /** Bounds of its requests, before those of the pool. */
  public Timeouts timeouts() {
    return timeouts;
  }

  /** Share of the work that goes, relative to that of other models of its priority. */
  public int weight() {
    return weight;
  }

  /** Nanoseconds that its requests wait at most; {@link WaitingRequest#NEVER} for any time. */
  public long queueTtl() {
    return queueTtl;
  }

  /**
   * Nanoseconds from the arrival to the first token that its requests ask for, where they don't say
   * so themselves; {@link WaitingRequest#NEVER} for any time.
   */
  public long firstToken() {
    return firstToken;
  }

  /** The same from each token to the next. */
  public long eachToken() {
    return eachToken;
  }

  /** What its name is replaced by. */
  Stream<String> targets() {
    return Stream.of(targets);
  }

  /** The target for this request: by weight, drawn from its seed. */
  public String target(InferenceRequest request) {
    if (targets.length == 1) {
      return targets[0];
    }
    long drawn = request.draw(PURPOSE, upTo[upTo.length - 1]);
    int i = 0;
    while (drawn >= upTo[i]) {
      i++;
    }
    return targets[i];
  }
}
