package io.fairlead.epp.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.AbstractEventExecutorGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Gives each connection to the loop of a group that has the fewest, and of those with as few to the
 * preferred one. A proxy has few connections and all of its requests on them: what is decided on
 * the connection's own loop need not wake another thread twice for each event of a request.
 *
 * <p>The loops stay those of the group, which is its owner's to shut down.
 */
public final class FreestLoop extends AbstractEventExecutorGroup implements EventLoopGroup {

  private final EventLoopGroup group;
  private final @Nullable ChannelHandler first;
  private final List<Loop> loops = new ArrayList<>();

  private record Loop(EventLoop loop, AtomicInteger connections) {}

  /**
   * Of these loops.
   *
   * @param preferred where the first connection goes, if it is one of them
   */
  public FreestLoop(EventLoopGroup group, EventExecutor preferred) {
    this(group, preferred, null);
  }

  /**
   * Of these loops, for a server that lets nobody at its connections' pipelines.
   *
   * @param first goes before all that the server puts there; null for nothing
   */
  public FreestLoop(EventLoopGroup group, EventExecutor preferred, @Nullable ChannelHandler first) {
    this.group = group;
    this.first = first;
    for (EventExecutor loop : group) {
      loops.add(
          loop.equals(preferred) ? 0 : loops.size(),
          new Loop((EventLoop) loop, new AtomicInteger()));
    }
  }

  private synchronized Loop freest() {
    Loop freest = loops.getFirst();
    for (Loop loop : loops) {
      if (loop.connections.get() < freest.connections.get()) {
        freest = loop;
      }
    }
    freest.connections.incrementAndGet();
    return freest;
  }

  private EventLoop freestFor(Channel channel) {
    Loop freest = freest();
    if (first != null) {
      channel.pipeline().addFirst(first);
    }
    channel.closeFuture().addListener(closed -> freest.connections.decrementAndGet());
    return freest.loop;
  }

  @Override
  public ChannelFuture register(Channel channel) {
    return freestFor(channel).register(channel);
  }

  @Override
  public ChannelFuture register(ChannelPromise promise) {
    return freestFor(promise.channel()).register(promise);
  }

  @Override
  @Deprecated
  @SuppressWarnings("InlineMeSuggester") // of Netty's own API
  public ChannelFuture register(Channel channel, ChannelPromise promise) {
    return register(promise);
  }

  @Override
  public EventLoop next() {
    return group.next();
  }

  @Override
  public Iterator<EventExecutor> iterator() {
    return group.iterator();
  }

  @Override
  public boolean isShuttingDown() {
    return group.isShuttingDown();
  }

  @Override
  public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
    throw new UnsupportedOperationException("the loops are their group's to shut down");
  }

  @Override
  public Future<?> terminationFuture() {
    return group.terminationFuture();
  }

  @Override
  @Deprecated
  public void shutdown() {
    throw new UnsupportedOperationException("the loops are their group's to shut down");
  }

  @Override
  public boolean isShutdown() {
    return group.isShutdown();
  }

  @Override
  public boolean isTerminated() {
    return group.isTerminated();
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
    return group.awaitTermination(timeout, unit);
  }
}
