package io.fairlead.epp.probe;

import io.fairlead.core.Probe;
import io.fairlead.epp.director.Prober;
import io.fairlead.epp.tls.EndpointTls;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import org.jspecify.annotations.Nullable;

/** Sends probes over HTTP, each on a connection of its own. Safe to call from any thread. */
public final class HttpProber implements Prober {

  private final EventLoop loop;
  private final Class<? extends Channel> channelType;
  private final @Nullable EndpointTls tls;

  /** A prober whose connections are of {@code channelType}, on this loop, in plain text. */
  public HttpProber(EventLoop loop, Class<? extends Channel> channelType) {
    this(loop, channelType, null);
  }

  /**
   * A prober whose connections are of {@code channelType}, on this loop.
   *
   * @param tls null for plain text
   */
  public HttpProber(
      EventLoop loop, Class<? extends Channel> channelType, @Nullable EndpointTls tls) {
    this.loop = loop;
    this.channelType = channelType;
    this.tls = tls;
  }

  @Override
  public void ask(Probe probe, Answer answer) {
    loop.execute(() -> new Question(probe, answer, tls).ask(loop, channelType));
  }
}
