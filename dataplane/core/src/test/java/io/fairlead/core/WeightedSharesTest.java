package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.ModelQueueConfig;
import io.fairlead.crds.config.TimeoutsConfig;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Three models with weights of 1, 2 and 4 that always want more than they get, for a minute: each
 * has its share of the tokens, though one of them sends prompts a hundred times as long.
 */
class WeightedSharesTest implements RequestListener {

  private static final long SECOND = 1_000_000_000;

  /** What an endpoint computes in a second, and how many requests it takes at a time. */
  private static final double TOKENS_PER_SECOND = 400_000;

  private static final long ROOM = 8;
  private static final int SHORT = 200;
  private static final int ANSWER = 50;
  private static final int[] WEIGHTS = {1, 2, 4};

  private record End(long at, long request) implements Comparable<End> {
    @Override
    public int compareTo(End other) {
      return at != other.at ? Long.compare(at, other.at) : Long.compare(request, other.request);
    }
  }

  private final PoolCore core = new PoolCore();
  private final PriorityQueue<End> ends = new PriorityQueue<>();
  private final Map<Long, Integer> modelOf = new HashMap<>();
  private final int[] waiting = new int[WEIGHTS.length];
  private final long[] tokens = new long[WEIGHTS.length];
  private int arriving;
  private int longOne;

  /**
   * Whose requests have answers without tokens, of which servers tell nothing; half of each of
   * their prompts is found cached. -1 for none.
   */
  private int embeds = -1;

  /**
   * Whose servers tell of no tokens, and whose answers are twenty times as long as the others'; -1
   * for none. What they had is known by the events of their streams.
   */
  private int silent = -1;

  /** How its answers end. */
  private Outcome ofSilent = Outcome.COMPLETED;

  private long seed;
  private long now;

  /** When the endpoint is through with all that it has. */
  private long busyUntil;

  private int cached(int model) {
    return model == embeds ? size(model) / 2 : 0;
  }

  /** What is computed for a request. */
  private int work(int model) {
    return size(model) - cached(model) + answer(model);
  }

  private int answer(int model) {
    return model == embeds ? 0 : model == silent ? 20 * ANSWER : ANSWER;
  }

  private int size(int model) {
    return model == longOne ? 100 * SHORT : SHORT;
  }

  @Override
  public void waits(long request, Criticality criticality) {
    modelOf.put(request, arriving);
    waiting[arriving]++;
  }

  @Override
  public void send(long request, Route route) {
    Integer known = modelOf.get(request);
    int model = known == null ? arriving : known;
    if (known != null) {
      waiting[model]--;
    }
    modelOf.put(request, model);
    busyUntil = Math.max(busyUntil, now) + (long) (work(model) / TOKENS_PER_SECOND * SECOND);
    ends.add(new End(busyUntil, request));
  }

  @Override
  public void pass(long request) {}

  @Override
  public void reject(long request, Rejection rejection) {
    throw new AssertionError(rejection.toString());
  }

  private void fill() {
    for (int model = 0; model < WEIGHTS.length; model++) {
      while (waiting[model] < 20) {
        arriving = model;
        core.arrive(
            now,
            new RequestFacts(
                "m" + model, ++seed, new long[0], size(model), model == embeds ? 0 : -1, 10),
            this);
      }
    }
  }

  private Usage usage(int model) {
    if (model == silent) {
      return new Usage(-1, -1, -1, answer(model) + 2);
    }
    return new Usage(size(model), model == embeds ? -1 : ANSWER, cached(model));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void tokensAreSharedByWeightWhoeverHasTheLongPrompts(int withLongPrompts) {
    longOne = withLongPrompts;
    share();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void whoseAnswersHaveNoTokensIsChargedForNone(int embedding) {
    longOne = -1;
    embeds = embedding;
    share();
  }

  @ParameterizedTest
  @CsvSource({"0, COMPLETED", "1, COMPLETED", "2, COMPLETED", "0, DISCONNECTED", "2, DISCONNECTED"})
  void whatIsStreamedCountsWhoeverTellsOfNoTokensOrLeaves(int model, Outcome outcome) {
    longOne = -1;
    silent = model;
    ofSilent = outcome;
    share();
  }

  private void share() {
    ModelConfig[] models = new ModelConfig[WEIGHTS.length];
    for (int i = 0; i < models.length; i++) {
      models[i] =
          new ModelConfig(
              "m" + i,
              Criticality.STANDARD,
              List.of(),
              TimeoutsConfig.UNSET,
              new ModelQueueConfig(WEIGHTS[i], Duration.ofHours(1)));
    }
    core.configure(now, Pool.withRoom(ROOM, models));
    core.endpoints(now, List.of(Pool.endpoint("a")));
    fill();
    while (now < 60 * SECOND) {
      End end = ends.remove();
      now = end.at();
      int model = Objects.requireNonNull(modelOf.remove(end.request()));
      tokens[model] += work(model);
      core.firstByte(now, end.request());
      Outcome outcome = model == silent ? ofSilent : Outcome.COMPLETED;
      core.ended(now, end.request(), outcome, usage(model));
      fill();
    }
    double all = tokens[0] + tokens[1] + tokens[2];
    for (int i = 0; i < WEIGHTS.length; i++) {
      double due = WEIGHTS[i] / 7.0;
      assertThat(tokens[i] / all / due)
          .as("share of m%d over what is due", i)
          .isCloseTo(1, within(0.05));
    }
  }
}
