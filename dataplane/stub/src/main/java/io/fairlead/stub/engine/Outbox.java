package io.fairlead.stub.engine;

import java.util.Arrays;

/**
 * Tokens on their way from the engine to the client, a heap by the time of their arrival. The API's
 * part in a request's time; without one it stays empty.
 */
final class Outbox {

  private static final int FIRST_CAPACITY = 16;

  private Sequence[] sequences = new Sequence[FIRST_CAPACITY];
  private long[] times = new long[FIRST_CAPACITY];
  private long[] orders = new long[FIRST_CAPACITY];
  private int[] tokens = new int[FIRST_CAPACITY];
  private int size;
  private long added;

  /** When the next token arrives, {@link Engine#IDLE} if none is on its way. */
  long nextNanos() {
    return size == 0 ? Engine.IDLE : times[0];
  }

  Sequence nextSequence() {
    return sequences[0];
  }

  int nextToken() {
    return tokens[0];
  }

  void add(long time, Sequence sequence, int token) {
    if (size == times.length) {
      sequences = Arrays.copyOf(sequences, size * 2);
      times = Arrays.copyOf(times, size * 2);
      orders = Arrays.copyOf(orders, size * 2);
      tokens = Arrays.copyOf(tokens, size * 2);
    }
    int hole = size++;
    long order = added++;
    while (hole > 0 && before(time, order, (hole - 1) / 2)) {
      move((hole - 1) / 2, hole);
      hole = (hole - 1) / 2;
    }
    place(hole, time, order, sequence, token);
  }

  void removeNext() {
    int last = --size;
    int hole = 0;
    while (true) {
      int child = 2 * hole + 1;
      if (child + 1 < last && before(times[child + 1], orders[child + 1], child)) {
        child++;
      }
      if (child >= last || before(times[last], orders[last], child)) {
        break;
      }
      move(child, hole);
      hole = child;
    }
    move(last, hole);
  }

  void clear() {
    size = 0;
  }

  /** Those that arrive at once do so in the order in which they left. */
  private boolean before(long time, long order, int than) {
    return time < times[than] || (time == times[than] && order < orders[than]);
  }

  private void move(int from, int to) {
    place(to, times[from], orders[from], sequences[from], tokens[from]);
  }

  private void place(int at, long time, long order, Sequence sequence, int token) {
    times[at] = time;
    orders[at] = order;
    sequences[at] = sequence;
    tokens[at] = token;
  }
}
