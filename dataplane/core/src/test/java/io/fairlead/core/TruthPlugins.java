package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.TruthRequest.End;
import io.fairlead.core.view.PoolCandidates;
import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Completion;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.HeaderWriter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Prefills;
import io.fairlead.plugin.ProfileHandler;
import io.fairlead.plugin.ProfileResults;
import io.fairlead.plugin.Scorer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Plugins that hold what they are shown and told against the truth, and break when told to. */
final class TruthPlugins {

  static final String SCORER = "truth-scorer";
  static final String OBSERVER = "truth-observer";
  static final String PAIRS = "truth-pairs";
  static final String PREFILLER = "x-prefiller";

  private final TruthModel truth;
  private final Map<Integer, double[]> accounts = new HashMap<>();
  private long seen;
  private Fault fault = Fault.NONE;

  TruthPlugins(TruthModel truth) {
    this.truth = truth;
  }

  /** In which call the next plugin breaks. */
  enum Fault {
    NONE,
    SCORE,
    COMPLETED
  }

  /** Thrown on purpose. */
  static final class Broken extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  void breakNext(Fault where) {
    fault = where;
  }

  List<PluginFactory> factories() {
    List<PluginFactory> factories = new ArrayList<>();
    for (String type : List.of(SCORER, OBSERVER, PAIRS)) {
      factories.add(
          new PluginFactory() {
            @Override
            public String type() {
              return type;
            }

            @Override
            public Plugin create(Parameters parameters) {
              return switch (type) {
                case SCORER -> (Scorer) TruthPlugins.this::score;
                case OBSERVER -> new Witness();
                default -> new Pairs();
              };
            }
          });
    }
    return factories;
  }

  private void breakIf(Fault here) {
    if (fault == here) {
      fault = Fault.NONE;
      truth.thrown = true;
      throw new Broken();
    }
  }

  /** What the core would take for a plugin's failure is kept, to be thrown where it is none. */
  private void check(Runnable comparison) {
    try {
      comparison.run();
    } catch (AssertionError e) {
      truth.wrong = e;
      throw e;
    }
  }

  private void score(InferenceRequest request, Candidates candidates, double[] scores) {
    check(() -> compare(request, candidates));
    for (int i = 0; i < candidates.size(); i++) {
      // Favours nobody for long, so that all are used.
      scores[i] = request.draw(candidates.get(i).identity(), 16) / 15.0;
    }
    breakIf(Fault.SCORE);
  }

  private void compare(InferenceRequest request, Candidates candidates) {
    TruthModel.hold(request.now() == truth.now, "the time of the event");
    PoolCandidates columns = PoolCandidates.of(candidates);
    seen = columns.changes(seen, (place, endpoint) -> accounts.put(place, numbers(endpoint)));
    // One whole account in four decisions: each is compared at the next quiesce anyway.
    int looked = (int) request.draw(99, 4L * candidates.size());
    double[] cached = new double[candidates.size()];
    columns.cachedTokens(cached);
    for (int i = 0; i < candidates.size(); i++) {
      Endpoint shown = candidates.get(i);
      TruthServer server = truth.server(shown);
      int matched = candidates.matchedBlocks(i);
      if (truth.eligible.get(shown.name()) != server
          || columns.slot(i) != PoolEndpoint.slot(shown)
          || !Arrays.equals(accounts.get(columns.place(i)), numbers(shown))
          || columns.queueDepth(i) != server.queueDepth()
          || Double.compare(columns.kvUsage(i), server.kvUsage()) != 0
          || matched < 0
          || matched > request.blockCount()
          || cached[i] != candidates.cachedTokens(i)
          || (i > 0 && columns.place(i) <= columns.place(i - 1))
          || columns.place(i) >= columns.places()
          || candidates.cachedTokens(i) != truth.cachedTokens(request.targetModel(), matched)) {
        throw new AssertionError(
            "wrong account of candidate " + shown.name() + " shown, which is " + server.account());
      }
      if (i == looked && !Account.shown(shown).equals(server.account())) {
        assertThat(Account.shown(shown)).isEqualTo(server.account());
      }
      truth.matched.put(server, matched);
    }
  }

  /** Of what {@link PoolCandidates#changes} promises to tell. */
  private static double[] numbers(Endpoint endpoint) {
    Prefills line = endpoint.prefills();
    return new double[] {
      endpoint.inFlight(),
      endpoint.criticalInFlight(),
      endpoint.sheddableInFlight(),
      endpoint.decoding(),
      endpoint.inFlightTokens(),
      endpoint.repeatedInFlightTokens(),
      line.count(),
      (double) line.uncachedTokens(),
      line.attention(),
      line.headUncached(),
      line.headAttention(),
      line.headSince(),
      endpoint.kvCapacityTokens(),
      endpoint.adapters().slots(),
      endpoint.scrapedWaiting(),
      endpoint.risk()
    };
  }

  /** Compares what it is told; every endpoint that it is told of must have joined before. */
  private final class Witness implements Observer {

    private final Set<Endpoint> joined = Collections.newSetFromMap(new IdentityHashMap<>());

    @Override
    public void joined(Endpoint endpoint) {
      check(
          () -> {
            truth.server(endpoint);
            assertThat(joined.add(endpoint)).as("joined once").isTrue();
          });
    }

    @Override
    public void dispatched(InferenceRequest request, Endpoint endpoint, HeaderWriter headers) {
      check(() -> TruthModel.hold(joined.contains(endpoint), "joined before it is used"));
    }

    @Override
    public void completed(Completion completion) {
      truth.told++;
      check(() -> compare(completion));
      breakIf(Fault.COMPLETED);
    }

    private void compare(Completion completion) {
      End expected = truth.ending;
      if (expected == null) {
        throw new AssertionError("told of a request that has not ended");
      }
      TruthModel.hold(joined.contains(completion.endpoint()), "joined before it is used");
      TruthModel.hold(completion.endpoint().equals(expected.server().shown), "where it was sent");
      End told =
          new End(
              completion.now(),
              expected.server(),
              completion.targetModel(),
              completion.succeeded(),
              completion.timeToFirstToken(),
              completion.decodeTime(),
              new Usage(
                  completion.promptTokens(), completion.outputTokens(), completion.cachedTokens()),
              completion.expectedCachedTokens(),
              near(completion.meanDecoding(), expected.meanDecoding()),
              near(completion.meanInFlightTokens(), expected.meanTokens()));
      if (!told.equals(expected)) {
        assertThat(told).isEqualTo(expected);
      }
    }

    /** What is expected if the value is that but for rounding, or else the value. */
    private static double near(double value, double expected) {
      return Math.abs(value - expected) <= 1e-6 * (1 + expected) ? expected : value;
    }
  }

  /** Decode first, then prefill for three requests of four. */
  private final class Pairs implements ProfileHandler {

    private static final int DECODE = 0;
    private static final int PREFILL = 1;

    @Override
    public int next(InferenceRequest request, ProfileResults results) {
      if (!results.ran(DECODE)) {
        return DECODE;
      }
      return results.ran(PREFILL) || request.draw(3, 4) == 0 ? DONE : PREFILL;
    }

    @Override
    public int primary(InferenceRequest request, ProfileResults results) {
      if (results.ran(PREFILL) && results.succeeded(PREFILL)) {
        truth.prefiller = truth.server(results.candidates().get(results.picked(PREFILL)));
      }
      return DECODE;
    }

    @Override
    public String handOver(int profile) {
      return PREFILLER;
    }

    @Override
    public boolean prefills(int profile) {
      return profile == PREFILL;
    }
  }
}
