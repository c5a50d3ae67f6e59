package io.fairlead.lab.simulator;

import java.util.Arrays;

/** Which of several engines has something happen next: a heap of their times. */
final class EngineClock {

  private final long[] times;

  /** Engines, the one with the earliest time first; of equal times the lower number. */
  private final int[] heap;

  private final int[] place;

  EngineClock(int engines) {
    times = new long[engines];
    heap = new int[engines];
    place = new int[engines];
    Arrays.fill(times, Timeline.NEVER);
    for (int i = 0; i < engines; i++) {
      heap[i] = i;
      place[i] = i;
    }
  }

  int first() {
    return heap[0];
  }

  long earliest() {
    return times[heap[0]];
  }

  void set(int engine, long time) {
    times[engine] = time;
    int at = place[engine];
    while (at > 0 && before(heap[at], heap[(at - 1) / 2])) {
      at = swap(at, (at - 1) / 2);
    }
    while (true) {
      int child = 2 * at + 1;
      if (child >= heap.length) {
        return;
      }
      if (child + 1 < heap.length && before(heap[child + 1], heap[child])) {
        child++;
      }
      if (!before(heap[child], heap[at])) {
        return;
      }
      at = swap(at, child);
    }
  }

  private boolean before(int one, int other) {
    return times[one] != times[other] ? times[one] < times[other] : one < other;
  }

  private int swap(int from, int to) {
    int moved = heap[from];
    heap[from] = heap[to];
    heap[to] = moved;
    place[heap[from]] = from;
    place[moved] = to;
    return to;
  }
}
