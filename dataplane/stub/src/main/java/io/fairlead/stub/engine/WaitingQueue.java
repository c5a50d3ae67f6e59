package io.fairlead.stub.engine;

/**
 * Requests that are not admitted, first come first: a ring through the sequences themselves, so
 * that one can leave from anywhere.
 */
final class WaitingQueue {

  private final Sequence end = new Sequence();
  private int size;

  void addLast(Sequence sequence) {
    link(end.before, sequence);
  }

  void addFirst(Sequence sequence) {
    link(end, sequence);
  }

  void remove(Sequence sequence) {
    sequence.before.after = sequence.after;
    sequence.after.before = sequence.before;
    sequence.before = sequence;
    sequence.after = sequence;
    size--;
  }

  /** What comes before the first and after the last; {@code end().after} is the first. */
  Sequence end() {
    return end;
  }

  int size() {
    return size;
  }

  void clear() {
    while (size > 0) {
      remove(end.after);
    }
  }

  private void link(Sequence before, Sequence sequence) {
    sequence.before = before;
    sequence.after = before.after;
    before.after.before = sequence;
    before.after = sequence;
    size++;
  }
}
