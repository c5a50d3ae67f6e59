package io.fairlead.core.plugins.cost;

import io.fairlead.core.view.PoolCandidates;
import io.fairlead.core.view.Stage;
import org.jspecify.annotations.Nullable;

/**
 * What a millisecond of prefill that a cache could have saved costs the requests to come: its time
 * is taken from what prefills leave of the pool's, and its tokens drive others out.
 *
 * <p>Each of these is of use with a probability {@code p}, and whoever comes back for it then
 * drives out the next, {@code 1 + p + p^2 + ...} in all, or {@code 1 / (1 - p)}. With a victim
 * taken at random {@code p} is the share of the caches that the working set fills, what will be
 * used again (P. Denning, 1968): what those in flight keep, and the contexts of conversations that
 * rest as far as they are gone on with. What prompts share otherwise shows when it is gone: {@code
 * p} is no less than the share of stored blocks that drove out one that was asked for again.
 *
 * <p>The time is taken from all who wait behind it, and from those who come before the line is
 * gone: as many as wait while these do (J. D. C. Little, "A proof for the queuing formula L =
 * lambda W", Operations Research 9(3), 1961), and while they wait others. {@code theta} stands for
 * few; where more wait, they count. They do so in the harmonic mean of the lines, which is hardly
 * above the shortest ones: where an endpoint is free, or a few are, what waits elsewhere has
 * somewhere to go. A prompt of which nobody holds anything is missed everywhere alike: the more
 * that counts, the smaller would all else look beside it.
 */
final class MissedPrefill {

  /** Of caches, and of time, that is left: less counts as little; chosen. */
  private static final double LEAST_LEFT = 0.2;

  /** So many are delayed by a prompt for each one that waits; chosen. */
  private static final double DELAYED = 4;

  /**
   * Milliseconds of somebody's wait that are worth one of a missed prefill at most. Where nothing
   * bounds it, all that comes goes to who holds some of it, however long the line there; chosen.
   */
  private static final double MOST_WAITED = 8;

  private final double theta;
  private final double most;
  private final CostColumns columns;

  /** Endpoints that the sums are of. */
  private int count;

  /** Sum of the shares of the endpoints' caches that will be used again. */
  private double inUse;

  /** Endpoints with a prompt to compute. */
  private int computing;

  /** Sum of the first prompts' shares of their lines. */
  private double first;

  private double perToken;
  private double perPair;

  MissedPrefill(WorkCostScorer.Settings settings, CostColumns columns) {
    this.theta = settings.theta();
    this.most = MOST_WAITED * settings.omega();
    this.columns = columns;
  }

  /**
   * From now on it is about all of the pool's endpoints.
   *
   * @param goesOn how likely a context that rests is to be gone on with
   */
  void ofAll(double goesOn) {
    count = columns.places();
    inUse = columns.inUse() + goesOn * columns.resting();
    computing = columns.computing();
    first = columns.first();
    perToken = columns.perToken();
    perPair = columns.perPair();
  }

  /**
   * From now on it is about these candidates, or those of them that compute prompts for others.
   *
   * @param goesOn how likely a context that rests is to be gone on with
   * @param prefills says who does; null for all of them
   */
  void of(PoolCandidates candidates, double goesOn, @Nullable Stage prefills) {
    int count = 0;
    double inUse = 0;
    int computing = 0;
    double first = 0;
    double perToken = 0;
    double perPair = 0;
    for (int i = 0; i < candidates.size(); i++) {
      if (prefills == null || prefills.prefills(i)) {
        int place = candidates.place(i);
        inUse += columns.inUse(place) + goesOn * columns.resting(place);
        computing += columns.computing(place);
        first += columns.first(place);
        perToken += columns.perToken(place);
        perPair += columns.perPair(place);
        count++;
      }
    }
    this.count = count;
    this.inUse = inUse;
    this.computing = computing;
    this.first = first;
    this.perToken = perToken;
    this.perPair = perPair;
  }

  /** How many endpoints it is about. */
  int count() {
    return count;
  }

  /**
   * Milliseconds that a millisecond counts.
   *
   * @param ghostHits how likely a block that a cache stores drives out one that is asked for again
   * @param held whether any of the endpoints holds some of the prompt
   */
  double worth(double ghostHits, boolean held) {
    double room = Math.max(LEAST_LEFT, 1 - Math.max(ghostHits, inUse / count));
    double time = Math.max(LEAST_LEFT, 1 - (double) computing / count);
    double behind = held ? Math.max(0, count / first - 1) : 0;
    double worth = theta * Math.max(1, DELAYED * behind) / (room * time);
    return Math.min(worth, most);
  }

  /** Milliseconds of prefill per new prompt token, on average. */
  double perToken() {
    return perToken / count;
  }

  /** Milliseconds of prefill per pair of tokens, on average. */
  double perPair() {
    return perPair / count;
  }
}
