package io.fairlead.core;

import io.fairlead.core.account.TokenEstimate;
import io.fairlead.core.prefix.PrefixIndex;
import io.fairlead.core.view.Teachable;
import java.util.List;

/**
 * Begins with what another picker has told. What it says of an endpoint is taken only if the same
 * process is there: one that was started again has lost what it held. Where this picker has not
 * heard of the process yet, it holds until that tells otherwise.
 */
public final class TakeOver {

  private final EndpointSet endpoints;
  private final PrefixIndex prefixes;
  private final TokenEstimate tokens;
  private final List<Teachable> plugins;
  private boolean taken;

  TakeOver(
      EndpointSet endpoints, PrefixIndex prefixes, TokenEstimate tokens, List<Teachable> plugins) {
    this.endpoints = endpoints;
    this.prefixes = prefixes;
    this.tokens = tokens;
    this.plugins = plugins;
  }

  /** Tokens of a target model's prompts. */
  public void tokens(String model, double[] learned) {
    tokens.take(model, learned);
    taken = true;
  }

  /** What a plugin of the same config has learned, of no single endpoint. */
  public void learned(int plugin, String key, double[] values) {
    if (plugin < plugins.size()) {
      plugins.get(plugin).learn(key, values);
      taken = true;
    }
  }

  /**
   * Begins with an endpoint.
   *
   * @param startedAt when its process started, as the other was told; NaN if it was not
   * @param blocks that its cache is believed to have room for; 0 where that is not told
   * @return whether it is the same one here, and what is told of it may be taken
   */
  public boolean endpoint(EndpointSpec told, double startedAt, int blocks) {
    EndpointState here = endpoints.named(told.name());
    if (here == null
        || !here.isSame(told)
        || !here.mayHaveStarted(startedAt)
        || (Double.isNaN(startedAt) && !Double.isNaN(here.startedAt()))) {
      return false;
    }
    here.believedToHaveStarted(startedAt);
    endpoints.believedToHold(here, blocks);
    return true;
  }

  /** For so many nanoseconds an endpoint that is the same here has had no request. */
  public void idle(long now, String endpoint, long nanos) {
    EndpointState here = endpoints.named(endpoint);
    if (here != null) {
      here.hadRequestUntil(now - nanos);
      taken = true;
    }
  }

  /** What a plugin of the same config has learned of an endpoint that is the same here. */
  public void speeds(long now, String endpoint, int plugin, double[] values) {
    EndpointState here = endpoints.named(endpoint);
    if (here != null && plugin < plugins.size()) {
      plugins.get(plugin).learn(here, now, values);
      taken = true;
    }
  }

  /**
   * An endpoint that is the same here holds a prompt; what it used longest ago is to come first.
   *
   * @param blocks salted hashes
   */
  public void held(String endpoint, long[] blocks, int count) {
    EndpointState here = endpoints.named(endpoint);
    if (here != null) {
      endpoints.holds(here, blocks, count);
      taken = true;
    }
  }

  /**
   * Another has sent a prompt to an endpoint that is the same here. Unlike what was held before, it
   * is part of what fills the endpoint's cache now.
   *
   * @param blocks salted hashes
   */
  void sent(EndpointState here, long[] blocks) {
    prefixes.lookUp(0, blocks, blocks.length);
    int more = blocks.length - prefixes.held(here.slot());
    here.cacheShare().sent(more * tokens.poolBlockTokens());
    endpoints.holds(here, blocks, blocks.length);
  }

  /** Whether anything was taken that decisions go by. */
  public boolean hasTaken() {
    return taken;
  }
}
