package io.fairlead.stub.engine;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * The requests that run. Every decoding sequence gets one token in every step, so what a step does
 * with them follows from its number: how many tokens of context there are, who begins or fills a
 * block (those whose tokens less the step's number leave the right rest by the block's length), and
 * who is done. A step therefore visits one in {@code blockTokens} of them for each, and no others.
 *
 * <p>Prefills end in the order in which they were admitted, since the budget is given to them in
 * that order: decoding sequences are always older than those in prefill, and every list here is in
 * the order of admission.
 */
final class Batch {

  private final int blockTokens;
  private final List<Sequence> prefills = new ArrayList<>();
  private final List<Sequence> decodes = new ArrayList<>();
  private final List<List<Sequence>> byRest = new ArrayList<>();
  private final PriorityQueue<Sequence> ends =
      new PriorityQueue<>(
          Comparator.<Sequence>comparingLong(sequence -> sequence.lastStep)
              .thenComparingLong(sequence -> sequence.admission));
  private final List<Sequence> cancelled = new ArrayList<>();
  private long baseSum;
  private long admissions;

  Batch(int blockTokens) {
    this.blockTokens = blockTokens;
    for (int rest = 0; rest < blockTokens; rest++) {
      byRest.add(new ArrayList<>());
    }
  }

  /** Seats taken; a cancelled request keeps its own until the step ends. */
  int size() {
    return prefills.size() + decodes.size() + cancelled.size();
  }

  int decoding() {
    return decodes.size();
  }

  /** Tokens of all decoding sequences in the given step. */
  long context(long step) {
    return baseSum + decodes.size() * step;
  }

  List<Sequence> prefills() {
    return prefills;
  }

  /** Those that decode, oldest first. */
  List<Sequence> decodes() {
    return decodes;
  }

  /** Decoding sequences whose newest token is the first of a block in the given step. */
  List<Sequence> beginningBlock(long step) {
    return byRest.get(Math.floorMod(1 - step, blockTokens));
  }

  /** Decoding sequences whose newest token is the last of a block in the given step. */
  List<Sequence> fillingBlock(long step) {
    return byRest.get(Math.floorMod(-step, blockTokens));
  }

  Sequence newest() {
    return prefills.isEmpty() ? decodes.getLast() : prefills.getLast();
  }

  void admit(Sequence sequence) {
    sequence.stage = Sequence.Stage.PREFILL;
    sequence.admission = ++admissions;
    prefills.add(sequence);
  }

  /** The oldest prefill is done with the end of {@code step} and decodes from the next step on. */
  void decodeFirst(long step) {
    Sequence sequence = prefills.removeFirst();
    sequence.stage = Sequence.Stage.DECODE;
    sequence.base = sequence.tokens() - (step + 1);
    sequence.lastStep = step + sequence.outputTokens - sequence.generated;
    decodes.add(sequence);
    rest(sequence).add(sequence);
    ends.add(sequence);
    baseSum += sequence.base;
  }

  /** Takes out the oldest prefill, whose first token was all it asked for. */
  void endFirst() {
    prefills.removeFirst().stage = Sequence.Stage.OVER;
  }

  /** Whether a sequence decodes its last token in the given step. */
  boolean anyEnds(long step) {
    Sequence first = ends.peek();
    return first != null && first.lastStep == step;
  }

  /** Takes out the oldest of those that {@link #anyEnds} told of. */
  Sequence takeEnding() {
    Sequence sequence = ends.remove();
    leaveDecodes(sequence);
    sequence.stage = Sequence.Stage.OVER;
    return sequence;
  }

  /** Takes out the newest, with the tokens that it has before the given step. */
  Sequence takeNewest(long step) {
    Sequence sequence = newest();
    takeOut(sequence);
    if (sequence.stage == Sequence.Stage.DECODE) {
      sequence.generated = sequence.tokensAt(step) - sequence.promptTokens;
    }
    sequence.stage = Sequence.Stage.WAITING;
    return sequence;
  }

  /** Nothing more is told of it; the step under way still works on it. */
  void cancel(Sequence sequence) {
    takeOut(sequence);
    sequence.stage = Sequence.Stage.OVER;
    cancelled.add(sequence);
  }

  /** Those cancelled since the last step ended; the caller empties it. */
  List<Sequence> cancelled() {
    return cancelled;
  }

  void clear() {
    prefills.clear();
    decodes.clear();
    byRest.forEach(List::clear);
    ends.clear();
    cancelled.clear();
    baseSum = 0;
  }

  private void takeOut(Sequence sequence) {
    if (sequence.stage == Sequence.Stage.DECODE) {
      ends.remove(sequence);
      leaveDecodes(sequence);
    } else {
      prefills.remove(sequence);
    }
  }

  private void leaveDecodes(Sequence sequence) {
    decodes.remove(sequence);
    rest(sequence).remove(sequence);
    baseSum -= sequence.base;
  }

  private List<Sequence> rest(Sequence sequence) {
    return byRest.get(Math.floorMod(sequence.base, blockTokens));
  }
}
