package io.fairlead.core.plugins.session;

import com.dynatrace.hash4j.hashing.Hashing;
import io.fairlead.core.view.PoolCandidates;
import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.HeaderWriter;
import io.fairlead.plugin.InferenceRequest;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Sessions that the client names in a header and this picker remembers, until they have been unused
 * for a time or there are too many: those that were used least recently go first. A session without
 * an endpoint is best placed where the fewest sessions are.
 */
final class IdSessions implements Sessions {

  private final List<String> headers;
  private final long timeToLive;
  private final int maxSessions;

  /**
   * By hash of the id, so that what a client sends does not decide how much memory it takes; in the
   * order of last use.
   */
  private final LinkedHashMap<Long, Binding> bindings = new LinkedHashMap<>();

  /** Sessions bound to each slot, and how many endpoints have had it. */
  private int[] sessions = {};

  private int[] generations = {};

  private record Binding(int slot, int generation, long usedAt) {}

  IdSessions(List<String> headers, long timeToLive, int maxSessions) {
    this.headers = headers;
    this.timeToLive = timeToLive;
    this.maxSessions = maxSessions;
  }

  /** How many sessions are remembered. */
  int size() {
    return bindings.size();
  }

  @Override
  public int bound(InferenceRequest request) {
    expire(request.now());
    String id = id(request);
    Binding binding = id == null ? null : bindings.get(key(id));
    return binding != null && holds(binding) ? binding.slot() : NONE;
  }

  @Override
  public void scoreUnbound(InferenceRequest request, Candidates candidates, double[] scores) {
    int size = candidates.size();
    if (id(request) == null) {
      Arrays.fill(scores, 0, size, 0);
      return;
    }
    PoolCandidates columns = PoolCandidates.of(candidates);
    int fewest = Integer.MAX_VALUE;
    for (int i = 0; i < size; i++) {
      int slot = columns.slot(i);
      int count = slot < sessions.length ? sessions[slot] : 0;
      scores[i] = count;
      fewest = Math.min(fewest, count);
    }
    for (int i = 0; i < size; i++) {
      scores[i] = scores[i] == fewest ? 1 : 0;
    }
  }

  @Override
  public boolean areKeptByClients() {
    return false;
  }

  @Override
  public void joined(Endpoint endpoint) {
    int slot = PoolEndpoint.slot(endpoint);
    reserve(slot);
    sessions[slot] = 0;
    generations[slot]++;
  }

  @Override
  public void dispatched(InferenceRequest request, Endpoint endpoint, HeaderWriter headers) {
    String id = id(request);
    if (id == null) {
      return;
    }
    int slot = PoolEndpoint.slot(endpoint);
    reserve(slot);
    sessions[slot]++;
    Binding before = bindings.putLast(key(id), new Binding(slot, generations[slot], request.now()));
    if (before != null) {
      release(before);
    }
    if (bindings.size() > maxSessions) {
      release(bindings.pollFirstEntry().getValue());
    }
  }

  private void expire(long now) {
    Map.Entry<Long, Binding> oldest = bindings.firstEntry();
    while (timeToLive > 0 && oldest != null && now - oldest.getValue().usedAt() > timeToLive) {
      bindings.pollFirstEntry();
      release(oldest.getValue());
      oldest = bindings.firstEntry();
    }
  }

  private void release(Binding binding) {
    if (holds(binding)) {
      sessions[binding.slot()]--;
    }
  }

  /** Whether the endpoint is still the one that the session was bound to. */
  private boolean holds(Binding binding) {
    return generations[binding.slot()] == binding.generation();
  }

  private @Nullable String id(InferenceRequest request) {
    for (int i = 0; i < headers.size(); i++) {
      String id = request.header(headers.get(i));
      if (id != null && !id.isEmpty()) {
        return id;
      }
    }
    return null;
  }

  private static long key(String id) {
    return Hashing.wyhashFinal4().hashCharsToLong(id);
  }

  private void reserve(int slot) {
    if (sessions.length <= slot) {
      int length = Math.max(16, slot + slot / 2 + 1);
      sessions = Arrays.copyOf(sessions, length);
      generations = Arrays.copyOf(generations, length);
    }
  }
}
