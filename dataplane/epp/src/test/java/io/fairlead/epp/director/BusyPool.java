package io.fairlead.epp.director;

import io.fairlead.core.Outcome;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** As many requests as may wait for a pool whose loop is held until this is closed. */
public final class BusyPool implements AutoCloseable {

  private final EventExecutor home = GlobalEventExecutor.INSTANCE;
  private final CountDownLatch held = new CountDownLatch(1);
  private final List<Director> waiting = new ArrayList<>();

  /** Makes {@code pool} busy, which runs on {@code loop}. */
  public BusyPool(PoolLoop pool, EventExecutor loop) {
    loop.execute(
        () -> {
          try {
            held.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    home.submit(
            () -> {
              for (int i = 0; i < PoolLoop.MOST_WAITING; i++) {
                Director one = new Director(pool, home, new Nobody());
                waiting.add(one);
                if (!one.submit(new RequestFacts("m", 0, new long[0], 1, -1, 1))) {
                  throw new AssertionError("only " + i + " may wait");
                }
              }
            })
        .syncUninterruptibly();
  }

  /** Lets the loop go on, and ends all requests. */
  @Override
  public void close() {
    held.countDown();
    home.submit(() -> waiting.forEach(one -> one.end(Outcome.DISCONNECTED, Usage.UNKNOWN)))
        .syncUninterruptibly();
  }

  private static final class Nobody implements Exchange {

    @Override
    public void send(Route route) {}

    @Override
    public void pass() {}

    @Override
    public void reject(Rejection rejection) {}
  }
}
