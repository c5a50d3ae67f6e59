package io.fairlead.lab.workload;

import io.fairlead.lab.workload.Mix.Part;
import java.util.SplittableRandom;

/**
 * One user's turns. Each prompt is all that was said before and something new. Everything follows
 * from the seed and the number of the conversation; turns are drawn in their own order, so that it
 * makes no difference what other conversations do meanwhile.
 */
final class Conversation {

  private final Manner manner;
  private final long number;
  private final SplittableRandom random;
  private final Content said;
  private final int turns;
  private int turn;

  /**
   * How conversations go.
   *
   * @param system tokens that all begin with
   * @param context tokens of the first turn after it
   * @param question tokens that each later turn adds to what was said
   * @param output tokens of an answer
   * @param turns requests of a conversation
   * @param thinkSeconds from the end of an answer to the next request
   */
  record Manner(
      int system,
      Spread context,
      Spread question,
      Spread output,
      Spread turns,
      Spread thinkSeconds) {

    /** The n-th conversation of a run. */
    Conversation begin(long seed, long n) {
      return new Conversation(this, seed, n);
    }
  }

  private Conversation(Manner manner, long seed, long number) {
    this.manner = manner;
    this.number = number;
    random = Mix.random(seed, Part.CONVERSATION, number);
    said = Content.empty(seed).append(Mix.of(Part.SYSTEM, 0), manner.system());
    turns = manner.turns().tokens(random);
  }

  boolean goesOn() {
    return turn < turns;
  }

  /** The next request. */
  RequestShape turn() {
    Spread added = turn == 0 ? manner.context() : manner.question();
    said.append(Mix.of(Part.QUESTION, number, turn), added.tokens(random));
    int output = manner.output().tokens(random);
    return said.ask(Caller.ANYBODY, Mix.of(Part.ANSWER, number, turn++), output);
  }

  /** Drawn anew with each call. */
  long thinkNanos() {
    return (long) (1e9 * manner.thinkSeconds().draw(random));
  }
}
