package io.fairlead.lab.peers;

import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.plugin.Adapters;
import io.fairlead.plugin.EndpointAttributes;
import io.fairlead.plugin.Prefills;
import java.util.Map;

/** A server of which a test sets what a peer looks at. */
final class FakeServer implements PoolEndpoint, Prefills {

  final int number;
  int inFlight;
  long inFlightTokens;
  long waitingTokens;
  int matchedBlocks;
  int queue;
  double kvUsage;

  FakeServer(int number) {
    this.number = number;
  }

  @Override
  public int slot() {
    return number;
  }

  @Override
  public long scrapedAt() {
    return Long.MIN_VALUE;
  }

  @Override
  public long restingTokens() {
    return 0;
  }

  @Override
  public long idleSince() {
    return Long.MIN_VALUE;
  }

  @Override
  public String name() {
    return "server-" + number;
  }

  @Override
  public String address() {
    return "10.0.0.1";
  }

  @Override
  public int port() {
    return 8000;
  }

  @Override
  public Map<String, String> labels() {
    return Map.of();
  }

  @Override
  public EndpointAttributes attributes() {
    return EndpointAttributes.NONE;
  }

  @Override
  public long identity() {
    return name().hashCode() * 0x9e3779b97f4a7c15L;
  }

  @Override
  public int inFlight() {
    return inFlight;
  }

  @Override
  public int awaitingFirstToken() {
    return 0;
  }

  @Override
  public int criticalInFlight() {
    return 0;
  }

  @Override
  public int sheddableInFlight() {
    return 0;
  }

  @Override
  public long inFlightTokens() {
    return inFlightTokens;
  }

  @Override
  public long uncachedInFlightTokens() {
    return waitingTokens;
  }

  @Override
  public Prefills prefills() {
    return this;
  }

  @Override
  public int scrapedWaiting() {
    return queue;
  }

  @Override
  public int scrapedRunning() {
    return 0;
  }

  @Override
  public double kvUsage() {
    return kvUsage;
  }

  @Override
  public long kvCapacityTokens() {
    return 0;
  }

  @Override
  public Adapters adapters() {
    throw new UnsupportedOperationException("no peer looks at adapters");
  }

  @Override
  public double metric(String key) {
    return Double.NaN;
  }

  @Override
  public int count() {
    return 0;
  }

  @Override
  public long uncachedTokens() {
    return waitingTokens;
  }

  @Override
  public double attention() {
    return 0;
  }

  @Override
  public int headUncached() {
    return 0;
  }

  @Override
  public double headAttention() {
    return 0;
  }

  @Override
  public long headSince() {
    return 0;
  }
}
