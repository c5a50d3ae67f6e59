package io.fairlead.lab.workload;

import io.fairlead.lab.workload.Mix.Part;
import java.util.SplittableRandom;
import java.util.function.LongFunction;

/**
 * Questions about documents, some of which are asked about far more often than others: the system
 * prompt, then the document, then the question.
 *
 * @param documents how many; asked about by Zipf's law
 * @param system tokens that all begin with
 * @param shortOnes tokens of most documents
 * @param longOnes tokens of each {@link #LONG_EVERY}th by rank. Not by chance: the few that most
 *     requests are about would else make one seed several times the load of another.
 * @param question tokens after the document
 * @param output tokens of an answer
 */
record Documents(
    int documents, int system, Spread shortOnes, Spread longOnes, Spread question, Spread output) {

  private static final int LONG_EVERY = 5;
  private static final int FIRST_LONG = 2;

  /** What the n-th request of a run is. */
  LongFunction<RequestShape> requests(long seed) {
    var ranks = new Zipf(documents);
    var read = new Content[documents];
    Content base = Content.empty(seed).append(Mix.of(Part.SYSTEM, 0), system);
    for (int rank = 0; rank < documents; rank++) {
      Spread length = rank % LONG_EVERY == FIRST_LONG ? longOnes : shortOnes;
      read[rank] =
          base.copy()
              .append(
                  Mix.of(Part.DOCUMENT, rank),
                  length.tokens(Mix.random(seed, Part.DOCUMENT, rank)));
    }
    return n -> {
      SplittableRandom random = Mix.random(seed, Part.SIZES, n);
      return read[ranks.draw(random)]
          .copy()
          .append(Mix.of(Part.QUESTION, n), question.tokens(random))
          .ask(Caller.ANYBODY, Mix.of(Part.ANSWER, n), output.tokens(random));
    };
  }
}
