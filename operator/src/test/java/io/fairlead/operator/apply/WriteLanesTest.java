package io.fairlead.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fairlead.operator.apply.WriteLanes.NoRoomException;
import java.lang.Thread.State;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class WriteLanesTest {
  private static final Duration MOMENT = Duration.ofSeconds(2);

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1_000);
  private final WriteLanes lanes = new WriteLanes(nanos::get, Duration.ZERO);

  @Test
  void asManyAsThereIsRoomForAreUnderWayAtATime() {
    within(
        WriteLanes.MOST,
        service("a"),
        () -> {
          refused(service("a"), false);
          refused(map("a"), false);
          write(service("b"));
        });
    write(service("a"));
  }

  /** A burst of writes that are quick is no reason to look at pools again. */
  @Test
  void whereWritesAreQuickRoomIsWaitedFor() throws InterruptedException {
    WriteLanes patient = new WriteLanes(nanos::get, Duration.ofMinutes(1));
    CountDownLatch end = new CountDownLatch(1);
    fill(patient, _ -> end);
    Thread last = Thread.ofVirtual().start(() -> patient.write(map("a"), () -> "written"));
    await().until(() -> last.getState() == State.TIMED_WAITING);
    end.countDown();
    assertThat(last.join(Duration.ofMinutes(1))).isTrue();
  }

  /** However many wait: where each is through in turn, nothing hangs. */
  @Test
  void roomIsWaitedForAsLongAsOneAfterTheOtherIsWritten() throws InterruptedException {
    WriteLanes patient = new WriteLanes(nanos::get, MOMENT);
    CountDownLatch one = new CountDownLatch(1);
    CountDownLatch all = new CountDownLatch(1);
    CountDownLatch entered = new CountDownLatch(1);
    fill(patient, i -> i == 0 ? one : all);
    List<String> written = new CopyOnWriteArrayList<>();
    List<Thread> last =
        Stream.of("first", "second")
            .map(
                name ->
                    Thread.ofVirtual()
                        .start(
                            () ->
                                patient.write(
                                    map("a"),
                                    () -> {
                                      entered.countDown();
                                      return awaited(all) && written.add(name);
                                    })))
            .toList();
    await().until(() -> last.stream().allMatch(waits -> waits.getState() == State.TIMED_WAITING));
    pass(MOMENT.multipliedBy(7).dividedBy(10));
    one.countDown();
    assertThat(entered.await(1, TimeUnit.MINUTES)).isTrue();
    pass(MOMENT.multipliedBy(6).dividedBy(10));
    patient.write(service("b"), () -> "has those that wait look again");
    all.countDown();
    for (Thread thread : last) {
      assertThat(thread.join(Duration.ofMinutes(1))).isTrue();
    }
    assertThat(written).containsExactlyInAnyOrder("first", "second");
  }

  @Test
  void roomIsNotWaitedForWhereNoneEnds() throws InterruptedException {
    WriteLanes patient = new WriteLanes(nanos::get, MOMENT);
    CountDownLatch end = new CountDownLatch(1);
    fill(patient, _ -> end);
    AtomicReference<Throwable> refused = new AtomicReference<>();
    Thread last =
        Thread.ofVirtual()
            .start(
                () ->
                    refused.set(
                        catchThrowable(() -> patient.write(map("a"), () -> "not written"))));
    await().until(() -> last.getState() == State.TIMED_WAITING);
    pass(MOMENT);
    patient.write(service("b"), () -> "has those that wait look again");
    assertThat(last.join(Duration.ofMinutes(1))).isTrue();
    assertThat(refused.get()).isInstanceOf(NoRoomException.class);
    end.countDown();
  }

  /** Each that waited would hold a thread for as long as the first. */
  @Test
  void roomIsNotWaitedForAnewWhereAllHaveHungForAMoment() {
    WriteLanes patient = new WriteLanes(nanos::get, MOMENT);
    CountDownLatch end = new CountDownLatch(1);
    fill(patient, _ -> end);
    pass(MOMENT);
    assertThat(catchThrowable(() -> patient.write(map("a"), () -> "not written")))
        .isInstanceOf(NoRoomException.class);
    end.countDown();
  }

  /** Has as many writes under way as there is room for, each until its end. */
  private static void fill(WriteLanes lanes, IntFunction<CountDownLatch> end) {
    AtomicInteger underWay = new AtomicInteger();
    for (int i = 0; i < WriteLanes.MOST; i++) {
      CountDownLatch own = end.apply(i);
      Thread.ofVirtual()
          .start(
              () ->
                  lanes.write(
                      service("a"),
                      () -> {
                        underWay.incrementAndGet();
                        return awaited(own);
                      }));
    }
    await().until(() -> underWay.get() == WriteLanes.MOST);
  }

  private static boolean awaited(CountDownLatch end) {
    try {
      end.await();
      return true;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void whereWritesTakeLongFewAreTriedUntilOneDoesNot() {
    lanes.write(service("a"), () -> pass(WriteLanes.LONG));
    within(WriteLanes.MOST_WHILE_SLOW, service("a"), () -> refused(service("a"), true));
    within(WriteLanes.MOST_WHILE_SLOW + 1, service("a"), () -> {});
  }

  @Test
  void oneThatIsUnderWayForLongTellsAsMuchAsOneThatHasEnded() {
    within(
        WriteLanes.MOST_WHILE_SLOW,
        service("a"),
        () -> {
          write(service("a"));
          pass(WriteLanes.LONG);
          refused(service("a"), true);
          write(map("a"));
        });
  }

  /** Such as the statuses that tell of what hangs. */
  @Test
  void besideWhatHangsAFewOthersOfTheNamespaceGoOn() {
    within(
        WriteLanes.MOST,
        service("a"),
        () -> {
          refused(map("a"), false);
          pass(WriteLanes.LONG);
          within(
              WriteLanes.MOST_BESIDE_SLOW,
              map("a"),
              () -> {
                refused(account("a"), false);
                pass(WriteLanes.LONG);
                refused(account("a"), false);
                write(service("b"));
              });
        });
  }

  /** Before it is known that they hang, which takes as long as a write may. */
  @Test
  void namespacesThatHangAtOnceLeaveRoomForOthers() {
    within(
        WriteLanes.MOST,
        service("a"),
        () ->
            within(
                4,
                service("b"),
                () -> {
                  refused(service("a"), false);
                  refused(service("b"), false);
                  write(service("well"));
                  pass(WriteLanes.LONG);
                  write(map("a"));
                  write(map("b"));
                  within(
                      1,
                      service("c"),
                      () ->
                          within(
                              1,
                              service("d"),
                              () -> {
                                refused(map("a"), false);
                                write(service("well"));
                              }));
                }));
  }

  /** A thread that waits for the API server looks at no pool. */
  @Test
  void howeverManyNamespacesHangThreadsAreLeft() {
    underWay(
        0,
        writes -> {
          assertThat(writes).isLessThan(20);
          assertThat(writes).isGreaterThan(WriteLanes.MOST);
        });
  }

  /** Begins writes in one namespace after the other, as many as there is room for. */
  private void underWay(int writes, IntConsumer then) {
    for (int namespace = 0; namespace < 20; namespace++) {
      HasMetadata object = service("hangs-" + namespace);
      if (catchThrowable(() -> write(object)) == null) {
        lanes.write(
            object,
            () -> {
              underWay(writes + 1, then);
              return writes;
            });
        return;
      }
    }
    then.accept(writes);
  }

  @Test
  void whatFailsAfterLongTellsAsMuch() {
    assertThatThrownBy(
            () ->
                lanes.write(
                    service("a"),
                    () -> {
                      pass(WriteLanes.LONG);
                      throw new IllegalStateException("no answer");
                    }))
        .isInstanceOf(IllegalStateException.class);
    within(WriteLanes.MOST_WHILE_SLOW, service("a"), () -> refused(service("a"), true));
  }

  /** However many namespaces hang, threads are left for those that do not. */
  @Test
  void slowOnesTogetherHaveNoMoreThanTheirPart() {
    for (int i = 0; i <= WriteLanes.MOST_OF_SLOW; i++) {
      lanes.write(service("slow-" + i), () -> pass(WriteLanes.LONG));
    }
    inEach(
        WriteLanes.MOST_OF_SLOW,
        () -> {
          refused(service("slow-" + WriteLanes.MOST_OF_SLOW), true);
          write(service("well"));
        });
    write(service("slow-" + WriteLanes.MOST_OF_SLOW));
  }

  private void inEach(int slow, Runnable then) {
    if (slow == 0) {
      then.run();
    } else {
      within(1, service("slow-" + (slow - 1)), () -> inEach(slow - 1, then));
    }
  }

  /** Runs it while so many writes are under way. */
  private void within(int writes, HasMetadata object, Runnable then) {
    if (writes == 0) {
      then.run();
    } else {
      lanes.write(
          object,
          () -> {
            within(writes - 1, object, then);
            return writes;
          });
    }
  }

  private void write(HasMetadata object) {
    assertThat(lanes.write(object, () -> "written")).isEqualTo("written");
  }

  private void refused(HasMetadata object, boolean slow) {
    ThrowingCallable write = () -> lanes.write(object, () -> "written");
    assertThatThrownBy(write)
        .isInstanceOfSatisfying(NoRoomException.class, e -> assertThat(e.isSlow()).isEqualTo(slow));
  }

  private long pass(Duration time) {
    return nanos.addAndGet(time.toNanos());
  }

  private static HasMetadata service(String namespace) {
    return new ServiceBuilder()
        .withNewMetadata()
        .withName("x")
        .withNamespace(namespace)
        .endMetadata()
        .build();
  }

  private static HasMetadata map(String namespace) {
    return new ConfigMapBuilder()
        .withNewMetadata()
        .withName("x")
        .withNamespace(namespace)
        .endMetadata()
        .build();
  }

  private static HasMetadata account(String namespace) {
    return new ServiceAccountBuilder()
        .withNewMetadata()
        .withName("x")
        .withNamespace(namespace)
        .endMetadata()
        .build();
  }
}
