package io.fairlead.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.Serial;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Bounds how many writes in one namespace are under way at a time, and of one kind there while they
 * take long. Where an admission webhook hangs, each write holds a thread for as long as the API
 * server waits for it, and without a bound none would be left for the pools of other namespaces.
 * Where several namespaces hang at once, each has a part of what the others leave.
 *
 * <p>Safe to use from any thread.
 */
public final class WriteLanes {
  /** A lane is slow from a write that took so long until one that did not. */
  static final Duration LONG = Duration.ofSeconds(5);

  /** Writes at a time in a namespace: little more than half of the threads. */
  static final int MOST = 12;

  /**
   * Writes at a time beside slow lanes of the namespace, which may have all that room: 15 of 20.
   */
  static final int MOST_BESIDE_SLOW = 3;

  /** Writes at a time in all namespaces: a thread is left that looks at pools. */
  static final int MOST_IN_ALL = 19;

  /** Of these, beside slow lanes: those that have none under way yet may begin one. */
  private static final int MOST_IN_ALL_BESIDE_SLOW = 17;

  /** Writes at a time of a slow lane: one more than it takes to see that it is slow no more. */
  static final int MOST_WHILE_SLOW = 2;

  /** Writes at a time of all slow lanes. */
  static final int MOST_OF_SLOW = 6;

  /** Of what is not written any more it need not be known that it was slow. */
  private static final Duration FORGOTTEN = Duration.ofMinutes(2);

  /**
   * How long a write waits for room while none in the namespace begins or ends. Where one after the
   * other does, nothing hangs, and each has its turn: of 20 threads that write in one namespace
   * eight wait for the others most of the time. Where all have hung for so long, none waits.
   */
  private static final Duration MOMENT = Duration.ofMillis(250);

  private final LongSupplier nanos;
  private final Duration moment;
  private final Map<Key, Lane> lanes = new HashMap<>();

  /** Who waits for room is not to be passed by those that come later. */
  private final Lock lock = new ReentrantLock(true);

  private final Condition left = lock.newCondition();

  private record Key(@Nullable String namespace, String kind) {}

  private static final class Lane {
    /** When the writes that are under way began. */
    final List<Long> begun = new ArrayList<>();

    boolean slow;

    /** When the last write was over; null before the first is. */
    @Nullable Long ended;
  }

  /** A write that is not sent, since too many are under way. */
  static final class NoRoomException extends KubernetesClientException {
    @Serial private static final long serialVersionUID = 1;

    private final boolean slow;

    private NoRoomException(HasMetadata object, boolean slow) {
      super(
          "%s %s/%s is not written now: as many as may be at a time are under way in the namespace"
              .formatted(
                  object.getKind(),
                  object.getMetadata().getNamespace(),
                  object.getMetadata().getName()));
      this.slow = slow;
    }

    /** Whether writes of this kind take long there, so that it is no matter of a moment. */
    boolean isSlow() {
      return slow;
    }
  }

  /** Nothing is under way yet. */
  public WriteLanes() {
    this(System::nanoTime, MOMENT);
  }

  /**
   * @param nanos {@link System#nanoTime}, or a test's
   * @param moment how long a write waits for room while none in the namespace begins or ends
   */
  WriteLanes(LongSupplier nanos, Duration moment) {
    this.nanos = nanos;
    this.moment = moment;
  }

  /**
   * Writes, where there is room.
   *
   * @param object by whose namespace and kind it counts
   * @return what the write returned
   * @throws NoRoomException when there is none
   */
  <T> T write(HasMetadata object, Supplier<T> write) {
    Key key = new Key(object.getMetadata().getNamespace(), object.getKind());
    Long begun = enter(key, object);
    try {
      return write.get();
    } finally {
      leave(key, begun);
    }
  }

  private Long enter(Key key, HasMetadata object) {
    lock.lock();
    try {
      long asked = nanos.getAsLong();
      while (true) {
        long now = nanos.getAsLong();
        lanes.values().removeIf(lane -> isForgotten(lane, now));
        Lane lane = lanes.computeIfAbsent(key, any -> new Lane());
        boolean slow = isSlow(lane, now);
        if (underWay() < MOST_IN_ALL
            && (slow ? hasRoomWhileSlow(lane, now) : hasRoom(key.namespace(), now))) {
          lane.begun.add(now);
          return now;
        }
        long wait = moment.toNanos() - sinceLast(key.namespace(), asked, now);
        if (slow || wait <= 0) {
          throw new NoRoomException(object, slow);
        }
        var _ = left.awaitNanos(wait);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new NoRoomException(object, false);
    } finally {
      lock.unlock();
    }
  }

  private static boolean isForgotten(Lane lane, long now) {
    return lane.begun.isEmpty() && (lane.ended == null || now - lane.ended >= FORGOTTEN.toNanos());
  }

  /**
   * How long no write of the namespace has begun or ended. Where none is under way it is others
   * that are waited for, from when room was asked for.
   */
  private long sinceLast(@Nullable String namespace, long asked, long now) {
    List<Lane> all =
        lanes.entrySet().stream()
            .filter(lane -> Objects.equals(lane.getKey().namespace(), namespace))
            .map(Map.Entry::getValue)
            .toList();
    return Stream.concat(
            all.stream().allMatch(lane -> lane.begun.isEmpty()) ? Stream.of(asked) : Stream.of(),
            all.stream()
                .flatMap(lane -> Stream.concat(lane.begun.stream(), Stream.ofNullable(lane.ended))))
        .mapToLong(at -> now - at)
        .min()
        .orElse(0);
  }

  private boolean hasRoomWhileSlow(Lane lane, long now) {
    return lane.begun.size() < MOST_WHILE_SLOW && underWayInSlow(now) < MOST_OF_SLOW;
  }

  /**
   * What hangs may have taken all room when it was not known yet that it hangs: the others go on
   * beside it, as statuses that tell of it must.
   */
  private boolean hasRoom(@Nullable String namespace, long now) {
    int all = 0;
    int slow = 0;
    int everywhere = underWay();
    for (Map.Entry<Key, Lane> lane : lanes.entrySet()) {
      if (Objects.equals(lane.getKey().namespace(), namespace)) {
        int underWay = lane.getValue().begun.size();
        all += underWay;
        slow += isSlow(lane.getValue(), now) ? underWay : 0;
      }
    }
    return all < part(everywhere - all)
        || (all - slow < MOST_BESIDE_SLOW
            && all < MOST + MOST_BESIDE_SLOW
            && everywhere < MOST_IN_ALL_BESIDE_SLOW);
  }

  /** Two thirds of what the writes of others leave, which is all that there may be without them. */
  private static int part(int others) {
    return Math.clamp((MOST_IN_ALL - 1 - others) * 2L / 3, 1, MOST);
  }

  private int underWay() {
    return lanes.values().stream().mapToInt(lane -> lane.begun.size()).sum();
  }

  private int underWayInSlow(long now) {
    return lanes.values().stream()
        .filter(lane -> isSlow(lane, now))
        .mapToInt(lane -> lane.begun.size())
        .sum();
  }

  private static boolean isSlow(Lane lane, long now) {
    return lane.slow || lane.begun.stream().anyMatch(at -> now - at >= LONG.toNanos());
  }

  private void leave(Key key, Long begun) {
    lock.lock();
    try {
      Lane lane = lanes.get(key);
      if (lane == null) {
        throw new IllegalStateException("nothing is under way in " + key);
      }
      long now = nanos.getAsLong();
      lane.begun.remove(begun);
      lane.ended = now;
      lane.slow = now - begun >= LONG.toNanos();
      left.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
