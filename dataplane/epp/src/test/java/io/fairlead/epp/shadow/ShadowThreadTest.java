package io.fairlead.epp.shadow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.PoolLimits;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A shadow that misbehaves harms nobody. */
class ShadowThreadTest {

  private final AtomicLong clock = new AtomicLong(1);
  private final ShadowThread thread = new ShadowThread("tried", PoolLimits.DEFAULT, clock::get);
  private final CountDownLatch held = new CountDownLatch(1);

  @AfterEach
  void stop() {
    held.countDown();
    thread.close();
  }

  private void hold() throws InterruptedException {
    CountDownLatch began = new CountDownLatch(1);
    thread.tell(
        shadow -> {
          began.countDown();
          try {
            held.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    began.await();
  }

  @Test
  void hearsEventsInTheirOrder() {
    Queue<Integer> heard = new ConcurrentLinkedQueue<>();
    for (int i = 0; i < 9; i++) {
      int number = i;
      thread.tell(shadow -> heard.add(number));
    }
    await().until(() -> heard.size() == 9);
    assertThat(List.copyOf(heard)).isSorted();
    assertThat(thread.off()).isNull();
  }

  @Test
  void oneThatFailsIsOffAndHearsNothingMore() {
    AtomicInteger after = new AtomicInteger();
    thread.tell(
        shadow -> {
          throw new StackOverflowError();
        });
    await().until(() -> thread.off() != null);
    assertThat(thread.off()).contains("a plugin of it failed", "StackOverflowError");
    thread.tell(shadow -> after.incrementAndGet());
    assertThat(thread.offer(shadow -> after.incrementAndGet())).isFalse();
    assertThat(after).hasValue(0);
    assertThat(thread.leftOut()).isZero();
  }

  @Test
  void oneThatHangsIsOffAndItsThreadIsInterrupted() throws Exception {
    hold();
    for (int tenths = 0; tenths <= 50; tenths++) {
      thread.check();
      assertThat(thread.off()).isNull();
      clock.addAndGet(100_000_000);
    }
    thread.check();
    assertThat(thread.off()).contains("more than 5 s");
    await().until(() -> !thread.isAlive());
  }

  /** A process that is stopped, or a machine that pauses: the shadow could do nothing meanwhile. */
  @Test
  void timeInWhichNobodyLookedIsNotHeldAgainstIt() throws Exception {
    hold();
    thread.check();
    for (int i = 0; i < 9; i++) {
      clock.addAndGet(60_000_000_000L);
      thread.check();
    }
    assertThat(thread.off()).isNull();
    held.countDown();
    AtomicInteger heard = new AtomicInteger();
    thread.tell(shadow -> heard.incrementAndGet());
    await().until(() -> heard.get() == 1);
  }

  @Test
  void requestsAreLeftOutAndCountedWhileItIsBehind() throws Exception {
    hold();
    AtomicInteger heard = new AtomicInteger();
    for (int i = 0; i < ShadowThread.MOST_WAITING + 100; i++) {
      thread.ask(shadow -> heard.incrementAndGet());
    }
    assertThat(thread.leftOut()).isEqualTo(100);
    assertThat(thread.offer(shadow -> heard.addAndGet(1_000_000))).as("a scrape").isFalse();
    thread.tell(shadow -> heard.incrementAndGet()); // the end of one that was let in
    held.countDown();
    await().until(() -> heard.get() == ShadowThread.MOST_WAITING + 1);
    assertThat(thread.ask(shadow -> heard.incrementAndGet())).isTrue();
  }
}
