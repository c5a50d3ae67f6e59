package io.fairlead.core.plugins.load;

import io.fairlead.core.plugins.compat.Producer;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.SaturationDetector;
import java.util.List;

/**
 * How full an endpoint is by what is in flight there, sent from here or by pickers that tell of
 * theirs: requests of {@code maxConcurrency}, their prompt tokens of {@code maxTokenConcurrency},
 * or the larger share of the two. As a filter it keeps endpoints below the limit stretched by
 * {@code headroom}, and may keep none.
 *
 * <p>Tokens count until the request ends, not until its first token as in upstream: that is how
 * long they take up KV cache.
 */
final class ConcurrencyDetector implements SaturationDetector, Filter {

  private final Mode mode;
  private final double maxRequests;
  private final double maxTokens;
  private final double limit;

  enum Mode {
    REQUESTS,
    TOKENS,
    HYBRID
  }

  ConcurrencyDetector(Mode mode, double maxRequests, double maxTokens, double headroom) {
    this.mode = mode;
    this.maxRequests = maxRequests;
    this.maxTokens = maxTokens;
    this.limit = 1 + headroom;
  }

  @Override
  public boolean isLimit() {
    return true;
  }

  @Override
  public double saturation(Endpoint endpoint) {
    double requests = endpoint.inFlight() / maxRequests;
    double tokens = endpoint.inFlightTokens() / maxTokens;
    return switch (mode) {
      case REQUESTS -> requests;
      case TOKENS -> tokens;
      case HYBRID -> Math.max(requests, tokens);
    };
  }

  @Override
  public String limit(Endpoint endpoint) {
    boolean tokens =
        mode == Mode.TOKENS
            || (mode == Mode.HYBRID
                && endpoint.inFlightTokens() / maxTokens > endpoint.inFlight() / maxRequests);
    return tokens ? "prompt tokens in flight" : "requests in flight";
  }

  @Override
  public void filter(InferenceRequest request, Candidates candidates, boolean[] keep) {
    int size = candidates.size();
    for (int i = 0; i < size; i++) {
      keep[i] = saturation(candidates.get(i)) < limit;
    }
  }

  @Override
  public String keeps() {
    String requests = "%.0f requests".formatted(maxRequests * limit);
    String tokens = "%,.0f prompt tokens".formatted(maxTokens * limit);
    return switch (mode) {
      case REQUESTS -> "endpoints with less than " + requests + " in flight";
      case TOKENS -> "endpoints with less than " + tokens + " in flight";
      case HYBRID -> "endpoints with less than " + requests + " and " + tokens + " in flight";
    };
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "concurrency-detector";
    }

    @Override
    public Plugin create(Parameters parameters) {
      Producer.named(parameters, "inFlightLoadProducerName");
      String mode =
          parameters.choice("concurrencyMode", "requests", List.of("requests", "tokens", "hybrid"));
      return new ConcurrencyDetector(
          switch (mode) {
            case "tokens" -> Mode.TOKENS;
            case "hybrid" -> Mode.HYBRID;
            default -> Mode.REQUESTS;
          },
          parameters.integer("maxConcurrency", 100, 1, 1_000_000),
          parameters.integer("maxTokenConcurrency", 1_000_000, 1, Integer.MAX_VALUE),
          parameters.number("headroom", 0, 0, 100));
    }
  }
}
