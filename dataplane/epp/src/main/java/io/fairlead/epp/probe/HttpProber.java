package io.fairlead.epp.probe;

import io.fairlead.core.Probe;
import io.fairlead.epp.director.Prober;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;

/** Sends probes over HTTP, each on a connection of its own. Safe to call from any thread. */
public final class HttpProber implements Prober {

  private final EventLoop loop;
  private final Class<? extends Channel> channelType;

  /** A prober whose connections are of {@code channelType}, on this loop. */
  public HttpProber(EventLoop loop, Class<? extends Channel> channelType) {
    this.loop = loop;
    this.channelType = channelType;
  }

  @Override
  public void ask(Probe probe, Answer answer) {
    loop.execute(() -> new Question(probe, answer).ask(loop, channelType));
  }
}
