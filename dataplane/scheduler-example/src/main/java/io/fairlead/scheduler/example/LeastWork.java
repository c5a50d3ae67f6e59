package io.fairlead.scheduler.example;

import io.fairlead.scheduler.v1.Decision;
import io.fairlead.scheduler.v1.Endpoint;
import io.fairlead.scheduler.v1.EndpointState;
import io.fairlead.scheduler.v1.PickerMessage;
import io.fairlead.scheduler.v1.PrefixMatch;
import io.fairlead.scheduler.v1.Request;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A policy, and what it knows in one stream: a request goes where the fewest prompt tokens are to
 * be computed before its first one, its own that are not cached there included.
 *
 * <p>Between two states that the picker tells, it adds up what it has sent itself.
 */
final class LeastWork {

  private static final class Known {
    private EndpointState state = EndpointState.newBuilder().setInUse(true).build();
    private long sentSince;
  }

  private final Map<Integer, Known> endpoints = new HashMap<>();

  /** Takes in what has changed; the requests are decided with {@link #decide}. */
  void learn(PickerMessage message) {
    message.getRemovedList().forEach(endpoints::remove);
    for (Endpoint endpoint : message.getEndpointsList()) {
      endpoints.computeIfAbsent(endpoint.getNumber(), number -> new Known());
    }
    for (EndpointState state : message.getStatesList()) {
      Known known = endpoints.get(state.getEndpoint());
      if (known != null) {
        known.state = state;
        known.sentSince = 0;
      }
    }
  }

  /** Says where a request goes; where nobody is in use, it leaves that to the picker. */
  Decision decide(Request request) {
    Map<Integer, Integer> cached = new HashMap<>();
    for (PrefixMatch match : request.getPrefixMatchesList()) {
      cached.put(match.getEndpoint(), match.getCachedTokens());
    }
    List<Integer> allowed = request.getAllowedList();
    int best = 0;
    long least = Long.MAX_VALUE;
    long own = 0;
    for (Map.Entry<Integer, Known> entry : endpoints.entrySet()) {
      int number = entry.getKey();
      Known endpoint = entry.getValue();
      if (!endpoint.state.getInUse() || !(allowed.isEmpty() || allowed.contains(number))) {
        continue;
      }
      long uncached =
          Math.max(0, request.getPromptTokens() - (long) cached.getOrDefault(number, 0));
      long work = endpoint.state.getUncachedInFlightTokens() + endpoint.sentSince + uncached;
      if (work < least) {
        least = work;
        own = uncached;
        best = number;
      }
    }
    Decision.Builder decision = Decision.newBuilder().setRequest(request.getId());
    Known chosen = endpoints.get(best);
    if (chosen != null) {
      chosen.sentSince += own;
      decision.addEndpoints(best);
    }
    return decision.build();
  }
}
