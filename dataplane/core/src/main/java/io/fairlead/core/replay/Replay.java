package io.fairlead.core.replay;

import io.fairlead.core.external.Advice;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ExternalScheduler;
import io.fairlead.core.scheduling.Scheduler;
import io.fairlead.core.scheduling.Scheduler.StandIns;
import io.fairlead.core.scheduling.SchedulerOutline;
import io.fairlead.core.view.HistoryFree;
import io.fairlead.core.view.PoolCandidates;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Picker;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.Scorer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Decides again what a receipt holds.
 *
 * <p>Plugins are asked again as far as what they go by is in the receipt: then they say the same.
 * One that goes by requests that came before ({@link Observer}, mostly), or asks for what isn't
 * there, is not asked: where the receipt's own config had the same one, and it was asked about the
 * same endpoints, it says what it said then; where not, it is left out and named.
 *
 * <p>Of a large pool a receipt that was told has the best endpoints alone, see {@link
 * DecisionInputs#known}. What a plugin makes of these need not be what it made of all of them: it
 * may go by the longest queue, or draw. There the same plugin says what it said then, and only
 * others are asked.
 */
public final class Replay {

  private static final String HISTORY = "it goes by requests that came before";

  private final DecisionInputs inputs;
  private final CompiledConfig config;

  /** Whether these are all endpoints that were chosen among. */
  private final boolean whole;

  private final PluginsByName then;
  private final PluginsByName now;
  private final List<RecordedEndpoint> endpoints = new ArrayList<>();
  private final Set<Plugin> joined = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Set<String> repeated = new LinkedHashSet<>();
  private final Map<String, String> leftOut = new LinkedHashMap<>();

  /**
   * What came of it.
   *
   * @param runs what the profiles came to
   * @param primary number of the run whose pick gets the request; -1 for none
   * @param picked place of the endpoint that gets it; -1 for nobody
   * @param prefill place of the one that computes the prompt for it; -1 where it does that itself
   * @param repeated names of plugins that say what they said then, without being asked
   * @param leftOut names of plugins that could not be asked, with the reason: the rest has decided
   *     without them
   */
  public record Outcome(
      List<RunOutputs> runs,
      int primary,
      int picked,
      int prefill,
      List<String> repeated,
      Map<String, String> leftOut) {

    public Outcome {
      runs = List.copyOf(runs);
      repeated = List.copyOf(repeated);
      leftOut = Collections.unmodifiableMap(new LinkedHashMap<>(leftOut));
    }
  }

  private Replay(DecisionInputs inputs, CompiledConfig config, boolean whole) {
    this.inputs = inputs;
    this.config = config;
    this.whole = whole;
    then = new PluginsByName(inputs.plugins());
    now = new PluginsByName(PluginsByName.listed(config.source()));
    for (int i = 0; i < inputs.endpoints().size(); i++) {
      endpoints.add(
          new RecordedEndpoint(i, inputs.endpoints().get(i), inputs.request().targetModel()));
    }
  }

  /**
   * Decides again.
   *
   * @param inputs with all endpoints that were chosen among
   * @param config fresh: plugins that have seen requests would go by these
   * @throws RuntimeException if a plugin breaks its contract
   */
  public static Outcome of(DecisionInputs inputs, CompiledConfig config) {
    return new Replay(inputs, config, true).outcome();
  }

  /**
   * Decides again where {@link DecisionInputs#known} has left out endpoints that were chosen among.
   *
   * @param config as above
   * @throws RuntimeException if a plugin breaks its contract
   */
  public static Outcome ofSome(DecisionInputs inputs, CompiledConfig config) {
    return new Replay(inputs, config, false).outcome();
  }

  private Outcome outcome() {
    SchedulerOutline outline = config.scheduler().outline();
    Scheduler scheduler = config.scheduler().with(new Substitutes(outline));
    OutputsRecorder recorder = new OutputsRecorder(outline, endpoints.size());
    Map<Long, Double> advised = advised();
    RecordedCandidates candidates =
        new RecordedCandidates(
            endpoints,
            inputs.request().replicas(),
            scheduler,
            () -> advice(advised, recorder.running()));
    boolean found;
    try {
      found =
          scheduler.schedule(
              new RecordedRequest(inputs.at(), inputs.request()), candidates, recorder);
    } catch (NotKeptException e) {
      leftOut.put("the profile handler", notKept(e));
      found = false;
    }
    List<RunOutputs> runs = recorder.runs();
    String profile = found ? outline.profiles().get(scheduler.primaryProfile()).name() : "";
    int primary =
        IntStream.range(0, runs.size())
            .filter(i -> found(runs.get(i), profile))
            .findFirst()
            .orElse(-1);
    return new Outcome(
        runs,
        primary,
        found ? scheduler.primary() : -1,
        found ? scheduler.prefill() : -1,
        List.copyOf(repeated),
        leftOut);
  }

  private static boolean found(RunOutputs run, String profile) {
    return run.profile().equals(profile);
  }

  private static String notKept(NotKeptException e) {
    return "receipts don't hold " + e.getMessage();
  }

  /** What a scheduler outside of the process had said, by identity; nothing if none is listed. */
  private Map<Long, Double> advised() {
    boolean listed =
        now.listed().stream().anyMatch(plugin -> plugin.type().equals(ExternalScheduler.TYPE));
    if (!listed) {
      return Map.of();
    }
    Map<Long, Double> scores = new LinkedHashMap<>();
    for (RunOutputs run : inputs.runs()) {
      for (int i = 0; run.isAdvised() && i < endpoints.size(); i++) {
        double score = run.scorers().getFirst().scores().get(i);
        if (Double.isFinite(score)) {
          scores.put(endpoints.get(i).identity(), score);
        }
      }
    }
    if (scores.isEmpty()) {
      boolean asked =
          then.listed().stream().anyMatch(plugin -> plugin.type().equals(ExternalScheduler.TYPE));
      if (!asked) {
        leftOut.put(ExternalScheduler.TYPE, "it was not asked then");
      }
    }
    return scores;
  }

  /** The same for a profile. */
  private @Nullable Advice advice(Map<Long, Double> advised, String profile) {
    if (advised.isEmpty()) {
      return null;
    }
    Map<Long, Double> scores = new LinkedHashMap<>(advised);
    for (RunOutputs run : inputs.runs()) {
      if (!whole && run.isAdvised() && run.profile().equals(profile) && !run.picked().isEmpty()) {
        // Drawn from equals, not all of which are here: it is not to be drawn again.
        long picked = endpoints.get(run.picked().getFirst()).identity();
        scores.computeIfPresent(picked, (identity, score) -> Math.nextUp(score));
      }
    }
    return new Advice(
        scores.keySet().stream().mapToLong(Long::longValue).toArray(),
        scores.values().stream().mapToDouble(Double::doubleValue).toArray());
  }

  /** Stands in for each plugin of the profiles. */
  private final class Substitutes implements StandIns {

    private final SchedulerOutline outline;

    Substitutes(SchedulerOutline outline) {
      this.outline = outline;
    }

    @Override
    public Filter filter(int profile, int number, Filter filter) {
      String name = outline.profiles().get(profile).filters().get(number);
      return (request, candidates, keep) -> {
        String why =
            say(
                filter,
                () -> filter.filter(request, candidates, keep),
                () -> repeatFilter(name, candidates, keep));
        if (why != null) {
          Arrays.fill(keep, 0, candidates.size(), true);
          leftOut.put(name, why);
        }
      };
    }

    @Override
    public Scorer scorer(int profile, int number, Scorer scorer) {
      String name = outline.profiles().get(profile).scorers().get(number).name();
      return (request, candidates, scores) -> {
        String why =
            say(
                scorer,
                () -> scorer.score(request, candidates, scores),
                () -> repeatScorer(name, candidates, scores));
        if (why != null) {
          Arrays.fill(scores, 0, candidates.size(), 0);
          leftOut.put(name, why);
        }
      };
    }

    @Override
    public Picker picker(int profile, Picker picker) {
      String name = outline.profiles().get(profile).picker();
      return new Picker() {
        @Override
        public int pick(
            InferenceRequest request, Candidates candidates, double[] sums, int[] picked) {
          int[] count = new int[1];
          String why =
              say(
                  picker,
                  () -> count[0] = picker.pick(request, candidates, sums, picked),
                  () -> (count[0] = repeatPicker(name, candidates, sums, picked)) > 0);
          if (why == null) {
            return count[0];
          }
          leftOut.put(name, why);
          picked[0] = best(candidates, sums);
          return 1;
        }
      };
    }
  }

  private static int best(Candidates candidates, double[] sums) {
    int best = 0;
    for (int i = 1; i < candidates.size(); i++) {
      best = sums[i] > sums[best] ? i : best;
    }
    return best;
  }

  /**
   * Has a plugin say what it says, or said then. Returns why neither can be had; null if it can.
   *
   * @param repeat whether it is known what it said
   */
  private @Nullable String say(Plugin plugin, Runnable question, BooleanSupplier repeat) {
    if (!whole && repeat.getAsBoolean()) {
      return null;
    }
    String why = ask(plugin, question);
    return why != null && whole && repeat.getAsBoolean() ? null : why;
  }

  /** Returns why it could not be asked; null if it was. */
  private @Nullable String ask(Plugin plugin, Runnable question) {
    boolean observes = plugin instanceof Observer;
    if (observes && !(plugin instanceof HistoryFree free && free.isHistoryFree())) {
      return HISTORY;
    }
    try {
      if (plugin instanceof Observer observer && joined.add(plugin)) {
        endpoints.forEach(observer::joined);
      }
      question.run();
      return null;
    } catch (NotKeptException e) {
      return notKept(e);
    }
  }

  private static List<Integer> places(Candidates candidates) {
    PoolCandidates all = PoolCandidates.of(candidates);
    return IntStream.range(0, candidates.size()).mapToObj(all::place).toList();
  }

  private boolean repeatFilter(String name, Candidates candidates, boolean[] keep) {
    List<Integer> places = places(candidates);
    PluginConfig own = now.get(name);
    for (RunOutputs run : inputs.runs()) {
      for (int f = 0; f < run.filters().size(); f++) {
        if (then.isSame(run.filters().get(f), own) && run.left(f).equals(places)) {
          for (int i = 0; i < places.size(); i++) {
            keep[i] = run.rejectedBy().get(places.get(i)) != Math.min(f, Byte.MAX_VALUE);
          }
          repeated.add(name);
          return true;
        }
      }
    }
    return false;
  }

  private boolean repeatScorer(String name, Candidates candidates, double[] scores) {
    List<Integer> places = places(candidates);
    PluginConfig own = now.get(name);
    for (RunOutputs run : inputs.runs()) {
      if (!run.isAdvised() && run.left(run.filters().size()).equals(places)) {
        for (RunOutputs.ScorerOutputs scorer : run.scorers()) {
          if (then.isSame(scorer.name(), own) && wasAsked(scorer, places)) {
            for (int i = 0; i < places.size(); i++) {
              scores[i] = scorer.scores().get(places.get(i));
            }
            repeated.add(name);
            return true;
          }
        }
      }
    }
    return false;
  }

  /** A run of which nothing was wanted in the end has listed its scorers, and asked none. */
  private static boolean wasAsked(RunOutputs.ScorerOutputs scorer, List<Integer> places) {
    return places.stream().noneMatch(place -> Double.isNaN(scorer.scores().get(place)));
  }

  /** Returns how many it picked; 0 if that is not known. */
  private int repeatPicker(String name, Candidates candidates, double[] sums, int[] picked) {
    List<Integer> places = places(candidates);
    PluginConfig own = now.get(name);
    for (RunOutputs run : inputs.runs()) {
      boolean same =
          !run.isAdvised()
              && then.isSame(run.picker(), own)
              && run.left(run.filters().size()).equals(places);
      for (int i = 0; same && i < places.size(); i++) {
        same = run.sum(places.get(i)) == sums[i];
      }
      if (same && run.picked().stream().allMatch(places::contains)) {
        for (int rank = 0; rank < run.picked().size(); rank++) {
          picked[rank] = places.indexOf(run.picked().get(rank));
        }
        repeated.add(name);
        return run.picked().size();
      }
    }
    return 0;
  }
}
