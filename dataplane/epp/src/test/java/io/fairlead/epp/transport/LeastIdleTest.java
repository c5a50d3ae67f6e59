package io.fairlead.epp.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LeastIdleTest {

  private final LeastIdle leastIdle = new LeastIdle();
  private final List<EmbeddedChannel> open = new ArrayList<>();

  @Test
  void theOneThatAskedNothingAndWasToldNothingForLongestMakesRoom() {
    for (int i = 0; i < LeastIdle.MOST; i++) {
      open();
    }
    open.get(0).writeInbound("a question");
    open.get(1).writeOutbound("an answer");
    assertThat(open).allMatch(EmbeddedChannel::isOpen);

    open();
    open();

    assertThat(open.get(2).isOpen()).isFalse();
    assertThat(open.get(3).isOpen()).isFalse();
    assertThat(open).filteredOn(EmbeddedChannel::isOpen).hasSize(LeastIdle.MOST);
  }

  @Test
  void oneThatWasClosedTakesNoRoom() {
    for (int i = 0; i < LeastIdle.MOST; i++) {
      open();
    }
    assertThat(open.removeLast().close().isSuccess()).isTrue();

    open();

    assertThat(open).allMatch(EmbeddedChannel::isOpen);
  }

  private void open() {
    open.add(new EmbeddedChannel(leastIdle));
  }
}
