package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ReadinessTest {

  private final Readiness readiness = new Readiness();
  private final List<Boolean> told = new ArrayList<>();

  @Test
  void needsAConfigAndALookAtTheEndpoints() {
    readiness.listen(told::add);
    assertThat(readiness.state()).isEqualTo(Readiness.State.NO_CONFIG);
    readiness.configured();
    assertThat(readiness.state()).isEqualTo(Readiness.State.NO_LOOK);
    assertThat(readiness.reached()).isNotDone();
    readiness.endpointsSeen();
    assertThat(readiness.state()).isEqualTo(Readiness.State.READY);
    assertThat(readiness.reached()).isCompleted();
    readiness.configured();
    assertThat(told).containsExactly(false, true);
  }

  @Test
  void theOrderMakesNoDifference() {
    readiness.listen(told::add);
    readiness.endpointsSeen();
    assertThat(readiness.state()).isEqualTo(Readiness.State.NO_CONFIG);
    readiness.configured();
    assertThat(told).containsExactly(false, true);
  }

  @Test
  void waitsForTheWarmUp() {
    readiness.cold();
    readiness.listen(told::add);
    readiness.configured();
    readiness.endpointsSeen();
    assertThat(readiness.state()).isEqualTo(Readiness.State.COLD);
    assertThat(readiness.reached()).isNotDone();
    readiness.warm();
    assertThat(readiness.state()).isEqualTo(Readiness.State.READY);
    assertThat(told).containsExactly(false, true);
  }

  @Test
  void aWarmUpThatIsOverFirstWaitsForTheRest() {
    readiness.cold();
    readiness.warm();
    assertThat(readiness.state()).isEqualTo(Readiness.State.NO_CONFIG);
    readiness.endpointsSeen();
    readiness.configured();
    assertThat(readiness.state()).isEqualTo(Readiness.State.READY);
  }

  /** A thread or memory that is missing may be there in a second. */
  @ParameterizedTest
  @MethodSource
  void isReadyOnceItsPortsCanBeOpenedWhateverWasInTheWay(Throwable thrown) {
    AtomicBoolean fails = new AtomicBoolean(true);
    readiness.beforeReady(
        () -> {
          if (fails.get()) {
            switch (thrown) {
              case Error e -> throw e;
              case RuntimeException e -> throw e;
              default -> throw new IllegalArgumentException(thrown);
            }
          }
        });
    readiness.configured();
    readiness.endpointsSeen();
    assertThat(readiness.state()).isEqualTo(Readiness.State.CANT_LISTEN);
    assertThat(readiness.problem()).contains("this time");
    readiness.tryAgain();
    assertThat(readiness.state()).isEqualTo(Readiness.State.CANT_LISTEN);
    fails.set(false);
    readiness.tryAgain();
    assertThat(readiness.state()).isEqualTo(Readiness.State.READY);
    assertThat(readiness.reached()).isCompleted();
  }

  static Stream<Throwable> isReadyOnceItsPortsCanBeOpenedWhateverWasInTheWay() {
    return Stream.of(
        new IllegalStateException("this time"),
        new UncheckedIOException(new IOException("this time")),
        new OutOfMemoryError("this time"));
  }

  @Test
  void isNeverReadyAgainOnceItDrains() {
    readiness.listen(told::add);
    readiness.configured();
    readiness.endpointsSeen();
    readiness.drain();
    readiness.configured();
    readiness.endpointsSeen();
    assertThat(readiness.state()).isEqualTo(Readiness.State.DRAINING);
    assertThat(told).containsExactly(false, true, false);
    assertThat(readiness.reached()).as("it was").isCompleted();
  }

  @Test
  void whoWaitsForAReadinessThatWillNotComeIsTold() {
    readiness.configured();
    readiness.drain();
    readiness.endpointsSeen();
    assertThat(readiness.reached()).isCompletedExceptionally();
  }

  /** The last word to the health port is that it drains, whatever happens at the same time. */
  @Test
  void theEndWinsAgainstAnEndpointThatLoadsAtTheSameTime() throws Exception {
    for (int i = 0; i < 2_000; i++) {
      Readiness raced = new Readiness();
      List<Boolean> heard = new ArrayList<>();
      raced.listen(heard::add);
      raced.configured();
      CountDownLatch start = new CountDownLatch(1);
      Thread loads =
          Thread.startVirtualThread(
              () -> {
                try {
                  start.await();
                  raced.endpointsSeen();
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              });
      start.countDown();
      raced.drain();
      loads.join();
      assertThat(heard.getLast()).isFalse();
      assertThat(raced.ready()).isFalse();
    }
  }
}
