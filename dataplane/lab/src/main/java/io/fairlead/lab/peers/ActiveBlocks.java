package io.fairlead.lab.peers;

import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.core.view.PromptBlocks;
import io.fairlead.plugin.Completion;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * Which blocks the prompts in flight at each endpoint have, one that several have once. A
 * completion doesn't say whose it is: it is taken for the oldest there of the same length.
 */
final class ActiveBlocks {

  private final List<Server> bySlot = new ArrayList<>();

  /** A prompt in flight. */
  private static final class Active {
    private final int promptTokens;
    private final long[] blocks;

    Active(int promptTokens, long[] blocks) {
      this.promptTokens = promptTokens;
      this.blocks = blocks;
    }
  }

  private static final class Server {
    private final List<Active> inFlight = new ArrayList<>();

    /** How many prompts have a block. */
    private final Map<Long, Integer> prompts = new HashMap<>();

    void remove(Active active) {
      for (long block : active.blocks) {
        prompts.computeIfPresent(block, (_, count) -> count > 1 ? count - 1 : null);
      }
    }
  }

  void joined(Endpoint endpoint) {
    of(endpoint);
    bySlot.set(PoolEndpoint.slot(endpoint), new Server());
  }

  void sent(InferenceRequest request, Endpoint endpoint) {
    long[] blocks = new long[request.blockCount()];
    Server server = of(endpoint);
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = PromptBlocks.of(request).prefixHash(i);
      server.prompts.merge(blocks[i], 1, Integer::sum);
    }
    server.inFlight.add(new Active(request.promptTokens(), blocks));
  }

  void completed(Completion completion) {
    Server server = of(completion.endpoint());
    for (Iterator<Active> all = server.inFlight.iterator(); all.hasNext(); ) {
      Active one = all.next();
      if (one.promptTokens == completion.estimatedPromptTokens()) {
        server.remove(one);
        all.remove();
        return;
      }
    }
  }

  /** Blocks in use there if this prompt is sent there, too. */
  int with(InferenceRequest request, Endpoint endpoint) {
    Server server = of(endpoint);
    // Who ended without a completion is not there any more: the oldest, most likely.
    while (server.inFlight.size() > endpoint.inFlight()) {
      server.remove(server.inFlight.removeFirst());
    }
    PromptBlocks prompt = PromptBlocks.of(request);
    int used = 0;
    int unused = request.blockCount() + 1;
    // A block is in use only with all before it.
    while (unused - used > 1) {
      int middle = (used + unused) >>> 1;
      if (server.prompts.containsKey(prompt.prefixHash(middle - 1))) {
        used = middle;
      } else {
        unused = middle;
      }
    }
    return server.prompts.size() + request.blockCount() - used;
  }

  private Server of(Endpoint endpoint) {
    int slot = PoolEndpoint.slot(endpoint);
    while (bySlot.size() <= slot) {
      bySlot.add(new Server());
    }
    return bySlot.get(slot);
  }
}
