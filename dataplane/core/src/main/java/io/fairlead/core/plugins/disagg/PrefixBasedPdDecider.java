package io.fairlead.core.plugins.disagg;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Decider;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;

/**
 * Has a prompt computed elsewhere if it is at least {@code promptTokens} long and the endpoint that
 * decodes lacks at least {@code nonCachedTokens} of it. With {@code nonCachedTokens} 0, never.
 */
final class PrefixBasedPdDecider implements Decider {

  private final int nonCachedTokens;
  private final int promptTokens;

  PrefixBasedPdDecider(int nonCachedTokens, int promptTokens) {
    this.nonCachedTokens = nonCachedTokens;
    this.promptTokens = promptTokens;
  }

  @Override
  public boolean disaggregate(InferenceRequest request, Candidates candidates, int index) {
    int length = request.promptTokens();
    if (nonCachedTokens == 0 || length < promptTokens || length < nonCachedTokens) {
      return false;
    }
    return length - candidates.cachedTokens(index) >= nonCachedTokens;
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "prefix-based-pd-decider";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new PrefixBasedPdDecider(
          parameters.integer("nonCachedTokens", 0, 0, Integer.MAX_VALUE),
          parameters.integer("promptTokens", 0, 0, Integer.MAX_VALUE));
    }
  }
}
