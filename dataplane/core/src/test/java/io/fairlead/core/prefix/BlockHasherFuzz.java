package io.fairlead.core.prefix;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;

class BlockHasherFuzz {

  @FuzzTest
  void cutsMakeNoDifference(FuzzedDataProvider data) {
    BlockHasher whole = new BlockHasher(data.consumeInt(0, 20));
    BlockHasher cut = new BlockHasher(20);
    int[] cuts = data.consumeInts(16);
    byte[] prompt = data.consumeRemainingAsBytes();
    whole.add(prompt, 0, prompt.length);
    int at = 0;
    for (int length : cuts) {
      int taken = Math.min(prompt.length - at, length & 0xff);
      cut.add(prompt, at, taken);
      at += taken;
    }
    cut.add(prompt, at, prompt.length - at);
    assertThat(cut.blocks()).startsWith(whole.blocks());
  }
}
