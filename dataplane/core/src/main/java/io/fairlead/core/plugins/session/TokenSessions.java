package io.fairlead.core.plugins.session;

import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.HeaderWriter;
import io.fairlead.plugin.InferenceRequest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Sessions that the client keeps: each response carries a token, the endpoint's name in base 64,
 * and a request that brings it back goes to the same endpoint. Needs no memory of sessions and
 * works across replicas. A token is a wish: one that was made up picks no endpoint that the request
 * could not get anyway.
 */
final class TokenSessions implements Sessions {

  private final String header;
  private final Map<String, Integer> slots = new HashMap<>();
  private final List<@Nullable String> tokens = new ArrayList<>();

  TokenSessions(String header) {
    this.header = header;
  }

  @Override
  public int bound(InferenceRequest request) {
    String token = request.header(header);
    return token == null ? NONE : slots.getOrDefault(token, NONE);
  }

  @Override
  public void scoreUnbound(InferenceRequest request, Candidates candidates, double[] scores) {
    Arrays.fill(scores, 0, candidates.size(), 0);
  }

  @Override
  public boolean areKeptByClients() {
    return true;
  }

  @Override
  public void joined(Endpoint endpoint) {
    int slot = PoolEndpoint.slot(endpoint);
    String token = token(endpoint);
    while (tokens.size() <= slot) {
      tokens.add(null);
    }
    String before = tokens.set(slot, token);
    if (before != null) {
      slots.remove(before, slot);
    }
    slots.put(token, slot);
  }

  @Override
  public void dispatched(InferenceRequest request, Endpoint endpoint, HeaderWriter headers) {
    headers.response(header, token(endpoint));
  }

  private static String token(Endpoint endpoint) {
    return Base64.getEncoder().encodeToString(endpoint.name().getBytes(StandardCharsets.UTF_8));
  }
}
