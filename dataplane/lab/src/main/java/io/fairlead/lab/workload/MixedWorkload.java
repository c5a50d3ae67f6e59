package io.fairlead.lab.workload;

import io.fairlead.crds.config.Criticality;
import io.fairlead.lab.workload.Mix.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A bit of everything, for demonstrations and comparisons: several models by share, groups of
 * requests with a system prompt in common, short and long questions, Poisson arrivals.
 */
public final class MixedWorkload implements Workload {

  private final Spec spec;

  public MixedWorkload(Spec spec) {
    this.spec = spec;
  }

  /**
   * The knobs.
   *
   * @param models who is asked
   * @param ratePerSecond mean arrivals per second
   * @param groups number of different system prompts
   * @param systemTokens length of each system prompt
   * @param questionTokens mean length of a question; exponential, at least 8
   * @param outputTokens mean length of an answer; exponential, at least 4
   */
  public record Spec(
      List<ModelShare> models,
      double ratePerSecond,
      int groups,
      int systemTokens,
      int questionTokens,
      int outputTokens) {

    public Spec {
      models = List.copyOf(models);
      if (models.isEmpty() || !(ratePerSecond > 0) || groups < 1) {
        throw new IllegalArgumentException(
            "a workload needs a model, a rate above 0 and a group: %s, %s, %s"
                .formatted(models, ratePerSecond, groups));
      }
    }
  }

  /**
   * A model's part of the requests.
   *
   * @param model name asked for
   * @param share relative to the sum of all
   */
  public record ModelShare(String model, double share) {}

  @Override
  public String name() {
    return "mixed-load";
  }

  @Override
  public List<ServedModel> models() {
    return spec.models().stream()
        .map(share -> new ServedModel(share.model(), Criticality.STANDARD, false))
        .toList();
  }

  @Override
  public Traffic start(long seed) {
    List<Content> systems = new ArrayList<>(spec.groups());
    for (int i = 0; i < spec.groups(); i++) {
      systems.add(Content.empty(seed).append(Mix.of(Part.SYSTEM, i), spec.systemTokens()));
    }
    ArrivalTimes times =
        new ArrivalTimes(
            Spread.exponential(1 / spec.ratePerSecond()), Mix.random(seed, Part.ARRIVALS, 0));
    return new OpenLoop(times, n -> request(seed, n, systems));
  }

  private RequestShape request(long seed, long n, List<Content> systems) {
    SplittableRandom random = Mix.random(seed, Part.SIZES, n);
    Caller caller = new Caller(model(random), "");
    Content prompt = systems.get(random.nextInt(systems.size())).copy();
    prompt.append(Mix.of(Part.QUESTION, n), atLeast(8, random, spec.questionTokens()));
    return prompt.ask(caller, Mix.of(Part.ANSWER, n), atLeast(4, random, spec.outputTokens()));
  }

  private String model(SplittableRandom random) {
    double left = random.nextDouble() * spec.models().stream().mapToDouble(ModelShare::share).sum();
    for (ModelShare share : spec.models()) {
      left -= share.share();
      if (left < 0) {
        return share.model();
      }
    }
    return spec.models().getLast().model();
  }

  private static int atLeast(int least, SplittableRandom random, int mean) {
    return Math.max(least, (int) (-mean * Math.log1p(-random.nextDouble())));
  }
}
