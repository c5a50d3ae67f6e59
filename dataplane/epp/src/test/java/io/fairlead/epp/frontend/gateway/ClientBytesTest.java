package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ClientBytesTest {

  private final ClientBytes held = new ClientBytes(100, System::nanoTime, "of the test");
  private final EmbeddedChannel a = new EmbeddedChannel();
  private final EmbeddedChannel b = new EmbeddedChannel();
  private final EmbeddedChannel c = new EmbeddedChannel();
  private final StallGuard first = guard(a);
  private final StallGuard second = guard(b);
  private final StallGuard third = guard(c);

  private static StallGuard guard(EmbeddedChannel channel) {
    return new StallGuard(channel, ClientBounds.DEFAULT, () -> 0, () -> {});
  }

  @AfterEach
  void close() {
    a.finishAndReleaseAll();
    b.finishAndReleaseAll();
    c.finishAndReleaseAll();
  }

  @Test
  void whoHoldsOneUpForLongestMakesRoom() {
    held.add(first, 40);
    held.add(second, 40);
    held.add(third, 40);
    assertThat(a.isOpen()).isFalse();
    assertThat(b.isOpen()).isTrue();
    assertThat(c.isOpen()).isTrue();
  }

  @Test
  void whoTakesSomeBeginsAnew() {
    held.add(first, 40);
    held.add(second, 40);
    held.remove(first);
    held.add(first, 40);
    held.add(third, 40);
    assertThat(a.isOpen()).isTrue();
    assertThat(b.isOpen()).isFalse();
  }

  @Test
  void whatWaitsCountsOnce() {
    held.add(first, 40);
    held.add(first, 60);
    held.add(second, 40);
    assertThat(a.isOpen()).isTrue();
    held.add(second, 41);
    assertThat(a.isOpen()).isFalse();
    assertThat(b.isOpen()).isTrue();
  }

  @Test
  void asManyAsItTakesMakeRoom() {
    held.add(first, 50);
    held.add(second, 50);
    held.add(third, 90);
    assertThat(a.isOpen()).isFalse();
    assertThat(b.isOpen()).isFalse();
    assertThat(c.isOpen()).isTrue();
  }

  @Test
  void nobodyElseCanMakeRoomForOneAlone() {
    held.add(first, 1_000);
    assertThat(a.isOpen()).isTrue();
  }
}
