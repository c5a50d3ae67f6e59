package io.fairlead.epp.external;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.scheduling.ExternalScheduler;
import io.fairlead.epp.ScarceThread;
import io.fairlead.scheduler.v1.SchedulerMessage;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import org.junit.jupiter.api.Test;

/** What the process itself lacks for a stream, it may have a moment later. */
class GrpcSchedulerLineTest {

  private final List<String> told = new ArrayList<>();
  private final Queue<Runnable> scheduled = new ArrayDeque<>();

  @Test
  void itConnectsAgainWhenThereWasNoThreadToConnectOn() {
    try (GrpcSchedulerLine line =
        new GrpcSchedulerLine(
            new ExternalScheduler(
                "127.0.0.1:1",
                Duration.ofMillis(20),
                Duration.ZERO,
                1,
                Duration.ofSeconds(1),
                false,
                false,
                List.of(),
                false,
                ""),
            new Held(),
            ScarceThread::new)) {
      line.start(new Told());
      assertThat(told).hasSize(1).first().asString().contains("native thread");
      Objects.requireNonNull(scheduled.poll()).run();
      assertThat(told).hasSize(2);
      assertThat(scheduled).hasSize(1);
    }
    Objects.requireNonNull(scheduled.poll()).run();
    assertThat(told).as("it is closed").hasSize(2);
    assertThat(scheduled).isEmpty();
  }

  private final class Held implements SchedulerLoop {

    @Override
    public void execute(Runnable task) {
      task.run();
    }

    @Override
    public void schedule(Runnable task, long nanos) {
      scheduled.add(task);
    }
  }

  private final class Told implements SchedulerLine.Listener {

    @Override
    public void opened() {}

    @Override
    public void ready() {}

    @Override
    public int came(SchedulerMessage message) {
      return 1;
    }

    @Override
    public void broken(String why) {
      told.add(why);
    }
  }
}
