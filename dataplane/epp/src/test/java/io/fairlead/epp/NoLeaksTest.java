package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBufAllocator;
import org.junit.jupiter.api.Test;

class NoLeaksTest {

  @Test
  void seesABufferThatNobodyReleased() {
    NoLeaks.Reports reports = new NoLeaks.Reports();
    lose();
    await().until(() -> !reports.now().isEmpty());
    assertThat(reports.end()).first().asString().contains("LEAK: ByteBuf.release()");
  }

  private static void lose() {
    assertThat(ByteBufAllocator.DEFAULT.directBuffer(16).refCnt()).isEqualTo(1);
  }
}
