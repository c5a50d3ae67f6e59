package io.fairlead.epp.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Connections go to the loop that the core is on, and then evenly to all. */
class FreestLoopTest {

  private final EventLoopGroup group = Transport.group("freest-loop-test", 3);
  private final List<Channel> open = new ArrayList<>();

  @AfterEach
  void stop() {
    open.forEach(channel -> channel.close().syncUninterruptibly());
    group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private EventLoop connect(FreestLoop loops) throws ReflectiveOperationException {
    Channel channel = Transport.client(group).getConstructor().newInstance();
    loops.register(channel).syncUninterruptibly();
    open.add(channel);
    return channel.eventLoop();
  }

  @Test
  void theFirstGoesWhereItIsPreferredAndOthersToThoseWithFewer() throws Exception {
    for (EventExecutor preferred : group) {
      FreestLoop loops = new FreestLoop(group, preferred);
      assertThat(connect(loops)).isSameAs(preferred);
      assertThat(new HashSet<>(List.of(preferred, connect(loops), connect(loops)))).hasSize(3);
      assertThat(connect(loops)).isSameAs(preferred);
    }
  }

  @Test
  void aConnectionThatEndedMakesRoom() throws Exception {
    EventLoop preferred = group.next();
    FreestLoop loops = new FreestLoop(group, preferred);
    connect(loops);
    EventLoop other = connect(loops);
    assertThat(other).isNotSameAs(preferred);
    open.getFirst().close().syncUninterruptibly();
    assertThat(connect(loops)).isSameAs(preferred);
  }
}
