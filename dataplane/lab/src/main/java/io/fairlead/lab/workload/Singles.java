package io.fairlead.lab.workload;

import io.fairlead.lab.workload.Mix.Part;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.LongFunction;

/**
 * Requests that have nothing to do with each other, but for a system prompt.
 *
 * @param system tokens that all begin with, 0 for none
 * @param question tokens after it
 * @param output tokens of an answer
 * @param callers who asks
 */
record Singles(
    int system, Spread question, Spread output, Function<SplittableRandom, Caller> callers) {

  /** What the n-th request of a run is. */
  LongFunction<RequestShape> requests(long seed) {
    Content base = Content.empty(seed).append(Mix.of(Part.SYSTEM, 0), system);
    return n -> {
      SplittableRandom random = Mix.random(seed, Part.SIZES, n);
      Content prompt = base.copy().append(Mix.of(Part.QUESTION, n), question.tokens(random));
      int outputTokens = output.tokens(random);
      // a source of its own, so that workloads that differ in callers alone have the same sizes
      Caller caller = callers.apply(Mix.random(seed, Part.CALLER, n));
      return prompt.ask(caller, Mix.of(Part.ANSWER, n), outputTokens);
    };
  }
}
