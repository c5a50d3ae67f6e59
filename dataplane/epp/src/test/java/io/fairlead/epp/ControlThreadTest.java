package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.Promise;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class ControlThreadTest {

  private final ControlThread control = new ControlThread();
  private final Logger logger = (Logger) LoggerFactory.getLogger(ControlThread.class);
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();

  @BeforeEach
  void listen() {
    log.start();
    logger.addAppender(log);
  }

  @AfterEach
  void stop() {
    control.shutdownNow();
    await().until(control::isTerminated); // what a task still logs is not for the next test
    logger.detachAppender(log);
  }

  @Test
  void whatATaskThrowsIsLoggedAndTheNextOneRuns() {
    CountDownLatch next = new CountDownLatch(1);
    Runnable failing =
        () -> {
          throw new StackOverflowError("scheduled");
        };
    control.execute(
        () -> {
          throw new IllegalStateException("executed");
        });
    var _ = control.schedule(failing, 1, TimeUnit.MILLISECONDS);
    var _ = control.schedule(next::countDown, 2, TimeUnit.MILLISECONDS);
    await().until(() -> next.getCount() == 0);

    assertThat(log.list)
        .extracting(event -> event.getThrowableProxy().getMessage())
        .containsExactly("executed", "scheduled");
  }

  @Test
  void aPeriodicTaskGoesOnAfterItFailed() {
    AtomicInteger runs = new AtomicInteger();
    var _ =
        control.scheduleWithFixedDelay(
            () -> {
              runs.incrementAndGet();
              throw new IllegalStateException("periodic");
            },
            0,
            1,
            TimeUnit.MILLISECONDS);
    await().until(() -> runs.get() >= 3);
  }

  @Test
  void whoeverWaitsForAnAnswerIsToldThatThereIsNone() {
    Promise<String> failed = GlobalEventExecutor.INSTANCE.newPromise();
    control.answer(
        failed,
        () -> {
          throw new StackOverflowError("asked");
        });
    Promise<String> next = GlobalEventExecutor.INSTANCE.newPromise();
    control.answer(next, () -> "an answer");

    assertThat(next.awaitUninterruptibly().getNow()).isEqualTo("an answer");
    assertThat(failed.cause()).hasMessage("asked");
  }

  @Test
  void finishesWhatItHas() {
    AtomicInteger runs = new AtomicInteger();
    for (int i = 0; i < 100; i++) {
      control.execute(runs::incrementAndGet);
    }
    control.finish();
    assertThat(runs).hasValue(100);
    control.execute(runs::incrementAndGet);
    assertThat(runs).hasValue(100);
  }
}
