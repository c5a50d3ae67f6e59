package io.fairlead.epp.kvevents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.fairlead.core.EndpointSpec;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.zeromq.ZContext;
import org.zeromq.ZMQException;

class KvEventFeedTest {

  /** It is tried again and again: else each try would take one more of what is short. */
  @Test
  void whatItHasOpenedIsClosedWhereDescriptorsAreShort() {
    try (ZContext context = new ZContext()) {
      context.getContext().setMaxSockets(1);
      assertThatExceptionOfType(ZMQException.class).isThrownBy(() -> feed(context));
      assertThat(context.getSockets()).isEmpty();
    }
  }

  private static KvEventFeed feed(ZContext context) {
    return new KvEventFeed(
        context,
        new EndpointSpec("e", "1", "127.0.0.1", 1, Map.of()),
        1,
        0,
        new KvEventReader.Settings(16, "", 1, 0, 100, System::nanoTime),
        model -> true,
        new BlockRoom(100),
        new ReplayTurns(),
        new KvEventCounts());
  }
}
