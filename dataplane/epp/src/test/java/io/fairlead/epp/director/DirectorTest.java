package io.fairlead.epp.director;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.netty.util.concurrent.AbstractEventExecutor;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Any interleaving of frontend and pool, drawn from a seed, leaves the accounts straight. */
class DirectorTest {

  @Test
  void everyInterleavingEndsEachRequestOnce() {
    for (long seed = 0; seed < 20_000; seed++) {
      run(seed);
    }
  }

  private static void run(long seed) {
    Random random = new Random(seed);
    Steps home = new Steps();
    Steps loop = random.nextInt(4) == 0 ? home : new Steps();
    PoolCore core = new PoolCore();
    Terminal terminal = new Terminal();
    PoolLoop pool = new PoolLoop(core, loop, () -> 0, terminal);
    core.configure(
        0,
        new ConfigCompiler(List.of())
            .compile(
                new PoolConfig(
                    "n", "p", Map.of(), List.of(1), "http", List.of(), SchedulerConfig.DEFAULT)));
    List<EndpointSpec> endpoints = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      endpoints.add(new EndpointSpec("e" + i, "1", "10.0.0." + i, 1, Map.of()));
    }
    core.endpoints(0, endpoints);

    int requests = 1 + random.nextInt(3);
    List<Frontend> frontends = new ArrayList<>();
    for (int i = 0; i < requests; i++) {
      Frontend frontend = new Frontend(seed);
      frontend.director = new Director(pool, home, frontend);
      frontends.add(frontend);
      home.execute(
          () -> {
            frontend.submitted = true;
            frontend.director.submit(new RequestFacts("m", seed, new long[0], 1, -1, 1));
          });
    }
    boolean homeDies = random.nextInt(10) == 0;
    for (int step = 0; step < 60; step++) {
      Frontend frontend = frontends.get(random.nextInt(requests));
      switch (random.nextInt(7)) {
        case 0, 1 -> home.step();
        case 2, 3 -> loop.step();
        case 4 -> home.act(() -> frontend.mayFail());
        case 5 -> home.act(() -> frontend.director.firstToken());
        default -> home.act(() -> frontend.end(random.nextInt(6)));
      }
      if (homeDies && step == 30 && home != loop) {
        home.dead = true;
      }
    }
    while (home.step() || loop.step()) {
      // until both are quiet
    }
    if (!home.dead) {
      frontends.forEach(frontend -> home.act(() -> frontend.end(0)));
      while (home.step() || loop.step()) {
        // until both are quiet
      }
      assertThat(core.active()).as("active, seed %d", seed).isZero();
      assertThat(terminal.calls).as("terminal calls, seed %d", seed).isEqualTo(requests);
    }
  }

  private static final class Frontend implements Exchange {
    private final long seed;
    private Director director;
    private boolean over;
    private boolean sent;
    private boolean submitted;

    @SuppressWarnings("NullAway.Init") // the director needs the frontend first
    Frontend(long seed) {
      this.seed = seed;
    }

    @Override
    public void send(Route route) {
      assertThat(over).as("sent after the end, seed %d", seed).isFalse();
      assertThat(sent).as("sent twice, seed %d", seed).isFalse();
      sent = true;
    }

    @Override
    public void reject(Rejection rejection) {
      assertThat(over).as("rejected after the end, seed %d", seed).isFalse();
      over = true;
    }

    void mayFail() {
      if (sent && !over) {
        sent = false;
        director.attemptFailed();
      }
    }

    void end(int dice) {
      if (dice == 0 && submitted) {
        over = true;
        director.end(Outcome.DISCONNECTED, Usage.UNKNOWN);
      }
    }
  }

  private static final class Terminal implements RequestObserver {
    private int calls;

    @Override
    public void decided(long nanos) {}

    @Override
    public void sent(String model, Route route) {}

    @Override
    public void firstToken(String model, Route route, long nanos) {}

    @Override
    public void ended(String model, Route route, Outcome outcome, Usage usage, long nanos) {
      calls++;
    }

    @Override
    public void rejected(String model, Rejection rejection) {
      calls++;
    }
  }

  /** An executor that runs its tasks one by one, when told. */
  private static final class Steps extends AbstractEventExecutor {
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private boolean inside;
    private boolean dead;

    boolean step() {
      Runnable task = dead ? null : tasks.poll();
      if (task != null) {
        act(task);
      }
      return task != null;
    }

    void act(Runnable task) {
      if (!dead) {
        inside = true;
        task.run();
        inside = false;
      }
    }

    @Override
    public void execute(Runnable task) {
      if (dead) {
        throw new RejectedExecutionException();
      }
      tasks.add(task);
    }

    @Override
    public boolean inEventLoop(Thread thread) {
      return inside;
    }

    @Override
    public boolean isShuttingDown() {
      return dead;
    }

    @Override
    public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
      return terminationFuture();
    }

    @Override
    public Future<?> terminationFuture() {
      return new DefaultPromise<Void>(GlobalEventExecutor.INSTANCE);
    }

    @Override
    @Deprecated
    public void shutdown() {}

    @Override
    public boolean isShutdown() {
      return dead;
    }

    @Override
    public boolean isTerminated() {
      return dead;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
      return dead;
    }
  }
}
