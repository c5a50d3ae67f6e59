package io.fairlead.epp.kvevents;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.fairlead.core.prefix.CacheChange;
import io.fairlead.core.prefix.CacheEvent;
import io.fairlead.core.prefix.EngineCache;
import io.fairlead.core.prefix.ExactIndex;

/** Whatever an engine sends is read or refused, and what is read can be taken in. */
class EventDecoderFuzz {

  @FuzzTest
  void anyBytes(byte[] payload) {
    EventBatch batch;
    try {
      batch = EventDecoder.decode(payload);
    } catch (MalformedEventsException e) {
      assertThat(e).hasMessageNotContaining("BlockStored");
      return;
    }
    EngineCache cache = new EngineCache(16, 1_000);
    CacheChange change = new CacheChange();
    int stored = 0;
    for (CacheEvent event : batch.events()) {
      if (event instanceof CacheEvent.Stored blocks) {
        stored += blocks.blocks().length;
      }
      cache.apply(event, change);
    }
    ExactIndex index = new ExactIndex(1 << 20);
    index.change(0, 16, change);
    assertThat(cache.size()).isBetween(0, Math.min(stored, 1_000));
    assertThat(index.blocks(0)).isBetween(0, 1_000);
  }
}
