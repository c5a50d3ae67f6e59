package io.fairlead.lab.workload;

import io.fairlead.lab.workload.Mix.Part;
import java.util.SplittableRandom;
import java.util.function.LongFunction;

/**
 * Groups of questions with a system prompt in common per group, as benchmarks generate them.
 *
 * @param groups how many
 * @param questions different ones per group
 * @param system tokens that a group's prompts begin with
 * @param question tokens after it; a question keeps its length
 * @param output tokens of the answer; a question keeps its answer's length
 */
record PrefixGroups(int groups, int questions, int system, Spread question, Spread output) {

  /** Prompts that differ. */
  int prompts() {
    return groups * questions;
  }

  /** The n-th request of a run: all prompts in shuffled order, then the same again. */
  LongFunction<RequestShape> inRounds(long seed) {
    int[] order = shuffled(prompts(), Mix.random(seed, Part.ORDER, 0));
    return n -> {
      int prompt = order[(int) (n % order.length)];
      return request(seed, prompt / questions, prompt, n);
    };
  }

  /** The n-th request of a run: a group by chance, and a question never asked before. */
  LongFunction<RequestShape> everNew(long seed) {
    return n -> request(seed, Mix.random(seed, Part.ORDER, n).nextInt(groups), n, n);
  }

  private RequestShape request(long seed, int group, long prompt, long n) {
    SplittableRandom random = Mix.random(seed, Part.SIZES, prompt);
    return Content.empty(seed)
        .append(Mix.of(Part.SYSTEM, group), system)
        .append(Mix.of(Part.QUESTION, prompt), question.tokens(random))
        .ask(Caller.ANYBODY, Mix.of(Part.ANSWER, n), output.tokens(random));
  }

  private static int[] shuffled(int count, SplittableRandom random) {
    int[] order = new int[count];
    for (int i = 0; i < count; i++) {
      int j = random.nextInt(i + 1);
      order[i] = order[j];
      order[j] = i;
    }
    return order;
  }
}
