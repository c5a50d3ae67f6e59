package io.fairlead.lab.peers;

import io.fairlead.core.view.PoolCandidates;
import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.core.view.PromptBlocks;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Picker;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;

/**
 * KubeAI's strategy {@code PrefixHash}: consistent hashing with bounded loads. From the prompt's
 * hash on, the first of the ring's points gets it whose server has no more than {@code loadFactor}
 * times the mean of the requests in flight, this one counted; if there is none, the owner. With few
 * requests the bound is below one and nobody is within it: the owner gets them.
 *
 * <p>Source: substratusai/kubeai, {@code internal/loadbalancer/balance_chwbl.go} at 08e69e54.
 * {@code replication} 256, {@code meanLoadFactor} 125 and {@code prefixCharLength} 100 are the
 * defaults that its manual gives for {@code v1.PrefixHash}; xxhash is another even hash here.
 * Adapters are loaded everywhere, so nobody is passed over for want of one.
 *
 * <p>It hashes the first 100 characters of the first user's message, behind the system's. Here no
 * message has a role: the prompt's first {@code prefixTokens} are hashed, by default 1,024, where
 * the conversations of {@code chat} are 24 tokens past what all of them begin with.
 */
final class KubeAiHashPicker implements Picker, Observer {

  private static final long GOLDEN = 0x9e3779b97f4a7c15L;
  private static final int BLOCK_TOKENS = 16;

  private final double loadFactor;
  private final int replication;
  private final int prefixBlocks;

  /** Slots by hash. */
  private final TreeMap<Long, Integer> ring = new TreeMap<>();

  private final Map<Integer, Integer> candidateBySlot = new HashMap<>();

  KubeAiHashPicker(double loadFactor, int replication, int prefixBlocks) {
    this.loadFactor = loadFactor;
    this.replication = replication;
    this.prefixBlocks = prefixBlocks;
  }

  @Override
  public void joined(Endpoint endpoint) {
    int slot = PoolEndpoint.slot(endpoint);
    ring.values().removeIf(owner -> owner == slot);
    for (int i = 0; i < replication; i++) {
      ring.put(spread(spread(endpoint.identity()) + i * GOLDEN), slot);
    }
  }

  @Override
  public int pick(InferenceRequest request, Candidates candidates, double[] scores, int[] picked) {
    PoolCandidates columns = PoolCandidates.of(candidates);
    int size = candidates.size();
    candidateBySlot.clear();
    long total = 0;
    for (int i = 0; i < size; i++) {
      candidateBySlot.put(columns.slot(i), i);
      total += candidates.get(i).inFlight();
    }
    long key = key(request);
    int owner = -1;
    int found = -1;
    for (Iterator<Integer> slots = from(key); found < 0 && slots.hasNext(); ) {
      Integer candidate = candidateBySlot.get(slots.next());
      if (candidate != null) {
        owner = owner < 0 ? candidate : owner;
        found = loadFits(candidates.get(candidate).inFlight(), total, size) ? candidate : -1;
      }
    }
    picked[0] = Math.max(0, found >= 0 ? found : owner);
    return 1;
  }

  /** Whether a server may have one more. */
  boolean loadFits(long load, long total, int servers) {
    return total == 0 || load + 1 <= (total + 1.0) / servers * loadFactor;
  }

  /** The ring's slots, from this hash on and around. */
  private Iterator<Integer> from(long key) {
    Iterator<Integer> tail = ring.tailMap(key).values().iterator();
    Iterator<Integer> head = ring.headMap(key).values().iterator();
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return tail.hasNext() || head.hasNext();
      }

      @Override
      public Integer next() {
        return tail.hasNext() ? tail.next() : head.next();
      }
    };
  }

  private long key(InferenceRequest request) {
    int blocks = Math.min(request.blockCount(), prefixBlocks);
    return spread(
        blocks == 0 ? request.prefixKey() : PromptBlocks.of(request).prefixHash(blocks - 1));
  }

  private static long spread(long value) {
    long z = value;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "kubeai-prefix-hash-picker";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new KubeAiHashPicker(
          parameters.integer("meanLoadFactor", 125, 100, 100_000) / 100.0,
          parameters.integer("replication", 256, 1, 10_000),
          parameters.integer("prefixTokens", 1_024, BLOCK_TOKENS, 1_000_000) / BLOCK_TOKENS);
    }
  }
}
