package io.fairlead.core.receipt;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.HealthState;
import io.fairlead.crds.config.PoolConfig;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One choice of an endpoint, or why none could be made, with what it was made from. Never changes.
 */
public final class Decision {

  private final Sending sending;
  private final double ceiling;
  private final RequestInputs request;
  private final EndpointSpec[] candidates;
  private final @Nullable EndpointFacts[] facts;
  private final List<Excluded> excluded;
  private final Map<String, EndpointFacts> others;
  private final List<ProfileRun> runs;

  /**
   * An endpoint that the scheduler was not asked about.
   *
   * @param endpoint its name
   * @param limit what it lacks where it is full; empty where nobody says
   * @param health in use where it is, or where that is not kept here: of a small pool {@link
   *     #factsOf} has it, of a large one it is kept of some
   * @param since when it went out, or came back on trial, by the pool's clock; 0 in use
   * @param reason why it is out or on trial; empty in use
   */
  public record Excluded(
      String endpoint,
      Exclusion why,
      String limit,
      HealthState health,
      long since,
      String reason) {}

  /**
   * A decision; the arrays are its own from here on.
   *
   * @param ceiling saturation from which on an endpoint was full for the request
   * @param facts by candidate; null where they aren't kept
   * @param others facts of those that were no candidates, by name
   */
  Decision(
      Sending sending,
      double ceiling,
      RequestInputs request,
      EndpointSpec[] candidates,
      @Nullable EndpointFacts[] facts,
      List<Excluded> excluded,
      Map<String, EndpointFacts> others,
      List<ProfileRun> runs) {
    this.sending = sending;
    this.ceiling = ceiling;
    this.request = request;
    this.candidates = candidates;
    this.facts = facts;
    this.excluded = List.copyOf(excluded);
    this.others = Map.copyOf(others);
    this.runs = List.copyOf(runs);
  }

  /** When it was made, in nanoseconds of the pool's clock. */
  public long at() {
    return sending.at();
  }

  /** What was in force. */
  public PoolConfig config() {
    return sending.context().config();
  }

  /** Where that and the endpoints were from. */
  public Provenance origin() {
    return sending.context().origin();
  }

  /** Whether nobody got the request. */
  public boolean isRefusal() {
    return sending.primary() == DecisionWriter.NOBODY;
  }

  /** Saturation from which on an endpoint was full for the request; infinite for never. */
  public double ceiling() {
    return ceiling;
  }

  /** What the request told. */
  public RequestInputs request() {
    return request;
  }

  /** How many endpoints the scheduler chose among. */
  public int candidates() {
    return candidates.length;
  }

  /** Name of a candidate. */
  public String candidate(int index) {
    return candidates[index].name();
  }

  /** A candidate, as it was then. */
  public EndpointSpec spec(int index) {
    return candidates[index];
  }

  /** Who was left out before. */
  public List<Excluded> excluded() {
    return excluded;
  }

  /** The profiles that ran, in order. */
  public List<ProfileRun> runs() {
    return runs;
  }

  /** The run whose pick got the request. */
  public ProfileRun primaryRun() {
    return runs.get(sending.primary());
  }

  /** The candidate that got the request. */
  public int picked() {
    ProfileRun run = primaryRun();
    return run.candidate(run.pick(0));
  }

  /** The candidate that computed the prompt for it; -1 where it did that itself. */
  public int prefill() {
    return sending.prefill();
  }

  /**
   * What was known of a candidate; null where that is not kept: of all of a small pool it is, and
   * of the best few of a large one.
   */
  public @Nullable EndpointFacts facts(int candidate) {
    return facts[candidate];
  }

  /** What was known of one that was left out before; null where that is not kept. */
  public @Nullable EndpointFacts factsOf(Excluded one) {
    return others.get(one.endpoint());
  }
}
