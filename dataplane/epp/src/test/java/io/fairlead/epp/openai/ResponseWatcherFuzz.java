package io.fairlead.epp.openai;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.fairlead.core.Usage;
import io.netty.buffer.Unpooled;

class ResponseWatcherFuzz {

  @FuzzTest
  void oneCutMakesNoDifference(byte[] body) {
    for (String type : new String[] {"application/json", "text/event-stream"}) {
      ResponseWatcher whole = new ResponseWatcher("/v1/completions", type);
      whole.watch(Unpooled.wrappedBuffer(body));
      ResponseWatcher cut = new ResponseWatcher("/v1/completions", type);
      cut.watch(Unpooled.wrappedBuffer(body, 0, body.length / 2));
      cut.watch(Unpooled.wrappedBuffer(body, body.length / 2, body.length - body.length / 2));
      Usage usage = whole.usage();
      assertThat(cut.usage()).isEqualTo(usage);
      assertThat(cut.failed()).isEqualTo(whole.failed());
      assertThat(cut.outcome(200)).isEqualTo(whole.outcome(200));
      assertThat(usage.promptTokens()).isGreaterThanOrEqualTo(-1);
    }
  }
}
