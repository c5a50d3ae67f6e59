package io.fairlead.lab.peers;

import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.core.view.PromptBlocks;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * What was sent where, as peers remember it: a tree of prompts in which each endpoint has the paths
 * that it was sent. It is kept as the blocks of each endpoint in the order of their last use, a
 * prompt's end before its beginning, so that leaves go first, as they do in a tree.
 */
final class SentPrefixes {

  /** Characters of a block: 16 tokens, four characters each. */
  static final int BLOCK_CHARACTERS = 64;

  /** Of each slot, when each block was last sent; least recently used first. */
  private final List<SequencedMap<Long, Long>> bySlot = new ArrayList<>();

  private final long timeToLive;
  private long blocks;

  /** Without an end, if nothing is evicted. */
  SentPrefixes() {
    this(Long.MAX_VALUE);
  }

  /** What was not sent for so many nanoseconds is not there. */
  SentPrefixes(long timeToLive) {
    this.timeToLive = timeToLive;
  }

  /** Blocks that are remembered, each once for each endpoint. */
  long blocks() {
    return blocks;
  }

  /** The endpoint is new: whoever had its slot is gone. */
  void joined(Endpoint endpoint) {
    SequencedMap<Long, Long> sent = of(endpoint);
    blocks -= sent.size();
    sent.clear();
  }

  void sent(InferenceRequest request, Endpoint endpoint) {
    SequencedMap<Long, Long> sent = of(endpoint);
    PromptBlocks prompt = PromptBlocks.of(request);
    blocks -= sent.size();
    for (int i = request.blockCount() - 1; i >= 0; i--) {
      sent.putLast(prompt.prefixHash(i), request.now());
    }
    blocks += sent.size();
  }

  /** How many leading blocks of the prompt were sent there. */
  int matched(InferenceRequest request, Endpoint endpoint) {
    SequencedMap<Long, Long> sent = of(endpoint);
    PromptBlocks prompt = PromptBlocks.of(request);
    int known = 0;
    int unknown = request.blockCount() + 1;
    // A block is there only with all before it.
    while (unknown - known > 1) {
      int middle = (known + unknown) >>> 1;
      Long at = sent.get(prompt.prefixHash(middle - 1));
      if (at != null && request.now() - at <= timeToLive) {
        known = middle;
      } else {
        unknown = middle;
      }
    }
    return known;
  }

  /** When the beginning of this many blocks, at least 1, was last sent there. */
  long lastSent(InferenceRequest request, Endpoint endpoint, int count) {
    return of(endpoint)
        .getOrDefault(PromptBlocks.of(request).prefixHash(count - 1), Long.MIN_VALUE);
  }

  /** Leaves no endpoint more than so many blocks. */
  void evictEach(long most) {
    for (SequencedMap<Long, Long> sent : bySlot) {
      while (sent.size() > most) {
        removeEldest(sent);
      }
    }
  }

  /** Leaves no more than so many blocks of all endpoints together. */
  void evictAll(long most) {
    while (blocks > most) {
      SequencedMap<Long, Long> eldest = null;
      long least = Long.MAX_VALUE;
      for (SequencedMap<Long, Long> sent : bySlot) {
        Map.Entry<Long, Long> first = sent.firstEntry();
        if (first != null && (eldest == null || first.getValue() < least)) {
          eldest = sent;
          least = first.getValue();
        }
      }
      if (eldest == null) {
        return;
      }
      removeEldest(eldest);
    }
  }

  private void removeEldest(SequencedMap<Long, Long> sent) {
    sent.pollFirstEntry();
    blocks--;
  }

  private SequencedMap<Long, Long> of(Endpoint endpoint) {
    int slot = PoolEndpoint.slot(endpoint);
    while (bySlot.size() <= slot) {
      bySlot.add(new LinkedHashMap<>());
    }
    return bySlot.get(slot);
  }
}
