package io.fairlead.epp.shadow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.PoolLimits;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.core.scheduling.ExternalScheduler;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.epp.PlainPool;
import io.fairlead.epp.ScarceThread;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Map;
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

  /** Else whoever brings a config into force with a shadow in it would be in the midst of it. */
  @Test
  void oneWhoseThreadCannotBeStartedIsOff() {
    try (ShadowThread scarce =
        new ShadowThread("tried", PoolLimits.DEFAULT, clock::get, ScarceThread::new)) {
      assertThat(scarce.off()).contains("its thread can't be started", "native thread");
      assertThat(scarce.offer(shadow -> {})).isFalse();
      assertThat(scarce.isStuck()).isFalse();
      assertThat(scarce.cpuNanos()).isZero();
    }
  }

  @Test
  void whatAThreadHasTakenIsNotForgottenWhenItEnds() {
    await().until(() -> thread.cpuNanos() > 0);
    long taken = thread.cpuNanos();
    thread.close();
    await().until(() -> !thread.isAlive());
    assertThat(thread.cpuNanos()).isGreaterThanOrEqualTo(taken);
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

  /** A plugin that goes on whatever it is told: its thread can't be ended. */
  private void holdForGood() throws InterruptedException {
    CountDownLatch began = new CountDownLatch(1);
    thread.tell(
        shadow -> {
          began.countDown();
          boolean over = false;
          while (!over) {
            try {
              held.await();
              over = true;
            } catch (InterruptedException e) {
              // It does not care.
            }
          }
        });
    began.await();
  }

  private void passSixSeconds() {
    for (int tenths = 0; tenths <= 60; tenths++) {
      thread.check();
      clock.addAndGet(100_000_000);
    }
  }

  private static void awaitCollected(WeakReference<?> kept) {
    await()
        .until(
            () -> {
              System.gc();
              return kept.get() == null;
            });
  }

  /** Tells it of something, and only the mailbox still knows that. */
  private WeakReference<Object> tellOfSomething() {
    Object something = new Object();
    assertThat(thread.ask(1, shadow -> assertThat(something).isNotNull())).isTrue();
    return new WeakReference<>(something);
  }

  @Test
  void whatWaitsForOneThatHangsForGoodIsNotKept() throws Exception {
    holdForGood();
    WeakReference<Object> waiting = tellOfSomething();
    passSixSeconds();
    assertThat(thread.off()).contains("more than 5 s");
    awaitCollected(waiting);
    assertThat(thread.isAlive()).isTrue();
  }

  @Test
  void whatWaitsForOneThatHangsAndIsWantedNoMoreIsNotKept() throws Exception {
    holdForGood();
    WeakReference<Object> waiting = tellOfSomething();
    thread.close();
    awaitCollected(waiting);
    assertThat(thread.isAlive()).isTrue();
  }

  @Test
  void oneThatHangsForGoodAsksNobodyAnyMore() throws Exception {
    try (ServerSocket scheduler = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String address = "127.0.0.1:" + scheduler.getLocalPort();
      thread.tell(shadow -> shadow.configure(1, asking(address), true, List.of()));
      try (Socket line = scheduler.accept()) {
        holdForGood();
        passSixSeconds();
        assertThat(thread.off()).isNotNull();
        line.setSoTimeout(30_000);
        try (InputStream from = line.getInputStream()) {
          assertThatCode(() -> from.transferTo(OutputStream.nullOutputStream()))
              .as("its end comes")
              .doesNotThrowAnyException();
        }
      }
    }
  }

  private static CompiledConfig asking(String address) {
    PluginConfig external =
        new PluginConfig("external", ExternalScheduler.TYPE, Map.of("address", address));
    return new ConfigCompiler(List.of())
        .compile(PlainPool.config(new SchedulerConfig(List.of(external), List.of(), null)));
  }

  @Test
  void ofLongPromptsFewWait() throws Exception {
    hold();
    AtomicInteger heard = new AtomicInteger();
    long quarter = ShadowThread.MOST_WAITING_BYTES / 4;
    for (int i = 0; i < 10; i++) {
      thread.ask(quarter, shadow -> heard.incrementAndGet());
    }
    assertThat(thread.leftOut()).isEqualTo(6);
    held.countDown();
    await().until(() -> heard.get() == 4);
    assertThat(thread.ask(quarter, shadow -> heard.incrementAndGet())).isTrue();
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
      thread.ask(1, shadow -> heard.incrementAndGet());
    }
    assertThat(thread.leftOut()).isEqualTo(100);
    assertThat(thread.offer(shadow -> heard.addAndGet(1_000_000))).as("a scrape").isFalse();
    thread.tell(shadow -> heard.incrementAndGet()); // the end of one that was let in
    held.countDown();
    await().until(() -> heard.get() == ShadowThread.MOST_WAITING + 1);
    assertThat(thread.ask(1, shadow -> heard.incrementAndGet())).isTrue();
  }
}
