package io.fairlead.core.plugins.learn;

import io.fairlead.plugin.Completion;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.function.BiConsumer;

/**
 * How long answers are, in tokens: by target model, since one answers in a word and the next thinks
 * aloud, and of the whole pool for models that have not answered yet.
 *
 * <p>The answers that are under way at some time are the longer ones: who looks finds one with a
 * probability that grows with its length. So they have produced, and have still to produce, not
 * half of the mean each but {@code E(L^2) / (2 E(L))} (the mean age and the mean residual life of a
 * renewal process), which is as much as the mean for lengths like an exponential's, and more for
 * answers of either a few tokens or thousands.
 */
public final class OutputLengths {

  /** Tokens, before the first answer. */
  private static final double GUESS = 200;

  /** Of the mean, some fifty answers long. */
  private static final double LEARNING = 0.02;

  /** Of moments, the second of which single answers move by far. */
  private static final double SLOW_LEARNING = 0.005;

  /** A single answer counts as no longer than this, or than so many times the mean. */
  private static final double LONGEST = 8_192;

  private static final double LONGEST_OF_MEAN = 16;

  /** More are not kept, and share the pool's mean: names may be made up. */
  private static final int MOST_MODELS = 1_024;

  /** The one that answered longest ago makes room for another. */
  private final SequencedMap<String, Mean> models = new LinkedHashMap<>();

  private final Mean pool = new Mean(GUESS);
  private double first = GUESS;
  private double second = GUESS * GUESS;
  private long seen;

  private static final class Mean {
    private double tokens;

    Mean(double tokens) {
      this.tokens = tokens;
    }

    private void add(double output) {
      tokens += LEARNING * (output - tokens);
    }
  }

  /**
   * Tokens of an answer: as the server counted them, or by the events in which it was streamed;
   * below 1 where nobody knows, or it was not delivered to its end.
   */
  public static int tokens(Completion completion) {
    if (!completion.succeeded()) {
      return -1;
    }
    int told = completion.outputTokens();
    return told >= 0 ? told : completion.streamedEvents() - Completion.EVENTS_AROUND;
  }

  /**
   * Tokens of an answer as far as it came, whether or not it was delivered to its end: for how fast
   * they came, and not for how long answers are. Below 1 where nobody knows.
   */
  public static int produced(Completion completion) {
    return completion.succeeded() ? tokens(completion) : completion.streamedEvents() - 1;
  }

  /** An answer of this target model had so many tokens. */
  public void add(String model, int output) {
    add(model, Math.min(output, Math.max(LONGEST, LONGEST_OF_MEAN * pool.tokens)));
  }

  private void add(String model, double output) {
    double rate = Math.max(SLOW_LEARNING, 1.0 / (++seen + 1));
    first += rate * (output - first);
    second += rate * (output * output - second);
    pool.add(output);
    Mean own = models.get(model);
    if (own != null) {
      own.add(output);
    }
    keep(model, own == null ? new Mean(pool.tokens) : own);
  }

  private void keep(String model, Mean mean) {
    models.putLast(model, mean);
    if (models.size() > MOST_MODELS) {
      models.pollFirstEntry();
    }
  }

  /** Mean of an answer of this target model. */
  public double of(String model) {
    Mean own = models.get(model);
    return own == null ? pool.tokens : own.tokens;
  }

  /** Mean of the pool's answers. */
  public double mean() {
    return pool.tokens;
  }

  /** Mean of what an answer under way has produced, and of what it has still to produce. */
  public double underWay() {
    return second / (2 * first);
  }

  /** Tells what was learned, model by model; of all as one under an empty name. */
  public void tell(BiConsumer<String, double[]> to) {
    to.accept("", new double[] {pool.tokens, first, second, seen});
    models.forEach((model, mean) -> to.accept(model, new double[] {mean.tokens}));
  }

  /** Another has learned this; what makes no sense is passed over. */
  public void take(String model, double[] told) {
    for (double number : told) {
      if (!(number > 0 && number < 1e12)) {
        return;
      }
    }
    if (model.isEmpty() && told.length == 4) {
      pool.tokens = told[0];
      first = told[1];
      second = told[2];
      seen = (long) told[3];
    } else if (!model.isEmpty() && told.length == 1) {
      keep(model, new Mean(told[0]));
    }
  }
}
