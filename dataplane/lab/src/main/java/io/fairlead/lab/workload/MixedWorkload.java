package io.fairlead.lab.workload;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A bit of everything: several models by share, groups of requests with a system prompt in common,
 * short and long questions, streamed and whole answers, Poisson arrivals. The same seed gives the
 * same requests, byte for byte.
 */
public final class MixedWorkload {

  private static final int CHARS_PER_TOKEN = 4;
  private static final String[] WORDS = {
    "rope ", "deck ", "harbour ", "tide ", "anchor ", "mast ", "keel ", "sail ", "winch ", "buoy "
  };

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
   * @param streamShare share of requests that ask for a stream, 0 to 1
   */
  public record Spec(
      List<ModelShare> models,
      double ratePerSecond,
      int groups,
      int systemTokens,
      int questionTokens,
      int outputTokens,
      double streamShare) {

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

  /** The first {@code count} requests, in order of time. */
  public List<WorkloadRequest> requests(long seed, int count) {
    var random = new SplittableRandom(seed);
    List<String> systems = new ArrayList<>(spec.groups());
    for (int i = 0; i < spec.groups(); i++) {
      systems.add("Group " + i + ". " + text(random, spec.systemTokens()));
    }
    List<WorkloadRequest> requests = new ArrayList<>(count);
    double at = 0;
    for (int i = 0; i < count; i++) {
      at += exponential(random, 1e9 / spec.ratePerSecond());
      requests.add(
          new WorkloadRequest(
              (long) at,
              model(random),
              systems.get(random.nextInt(systems.size())),
              "Question " + i + ". " + text(random, atLeast(8, random, spec.questionTokens())),
              atLeast(4, random, spec.outputTokens()),
              random.nextDouble() < spec.streamShare()));
    }
    return requests;
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
    return Math.max(least, (int) exponential(random, mean));
  }

  private static double exponential(SplittableRandom random, double mean) {
    return -mean * Math.log1p(-random.nextDouble());
  }

  private static String text(SplittableRandom random, int tokens) {
    var text = new StringBuilder(tokens * CHARS_PER_TOKEN + 8);
    while (text.length() < tokens * CHARS_PER_TOKEN) {
      text.append(WORDS[random.nextInt(WORDS.length)]);
    }
    return text.toString();
  }
}
