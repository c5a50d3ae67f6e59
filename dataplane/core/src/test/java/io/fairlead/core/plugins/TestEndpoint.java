package io.fairlead.core.plugins;

import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.plugin.Adapters;
import io.fairlead.plugin.EndpointAttributes;
import io.fairlead.plugin.Prefills;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** An endpoint made up for a test: a test sets what matters to it. */
public final class TestEndpoint implements PoolEndpoint, Prefills, Adapters {

  private final String name;
  public String address = "10.0.0.1";
  public int slot;
  public long scrapedAt;
  public int waiting;
  public int running;
  public int seats;
  public int foreign;
  public int awaiting;
  public int inFlight;
  public int critical;
  public int sheddable;
  public long tokens;
  public long uncached;
  public long repeated;
  public long resting;
  public long idleSince;
  public double attention;
  public int headUncached;
  public double headAttention;
  public long headSince;
  public long expectedWait;
  public double kvUsage = Double.NaN;
  public long kvTokens;
  public int matched;
  public int adapterSlots;
  public int adapterLeastInFlight;
  public String baseModel = "";
  public EndpointAttributes attributes = EndpointAttributes.NONE;
  public final Set<String> resident = new HashSet<>();
  public final Set<String> runningAdapters = new HashSet<>();
  public final Set<String> waitingAdapters = new HashSet<>();
  public Map<String, String> labels = Map.of();
  public final Map<String, Double> metrics = new HashMap<>();

  public TestEndpoint(String name) {
    this.name = name;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String address() {
    return address;
  }

  @Override
  public int port() {
    return 8000;
  }

  @Override
  public Map<String, String> labels() {
    return labels;
  }

  @Override
  public EndpointAttributes attributes() {
    return attributes;
  }

  @Override
  public int slot() {
    return slot;
  }

  @Override
  public long scrapedAt() {
    return scrapedAt;
  }

  @Override
  public long restingTokens() {
    return resting;
  }

  @Override
  public long idleSince() {
    return idleSince;
  }

  @Override
  public long identity() {
    return name.hashCode() * 0x9E3779B97F4A7C15L;
  }

  @Override
  public int inFlight() {
    return inFlight;
  }

  @Override
  public int awaitingFirstToken() {
    return awaiting;
  }

  @Override
  public int criticalInFlight() {
    return critical;
  }

  @Override
  public int sheddableInFlight() {
    return sheddable;
  }

  @Override
  public long inFlightTokens() {
    return tokens;
  }

  @Override
  public long uncachedInFlightTokens() {
    return uncached;
  }

  @Override
  public long repeatedInFlightTokens() {
    return repeated;
  }

  @Override
  public long expectedWait() {
    return expectedWait;
  }

  @Override
  public Prefills prefills() {
    return this;
  }

  @Override
  public int scrapedWaiting() {
    return waiting;
  }

  @Override
  public int scrapedRunning() {
    return running;
  }

  @Override
  public int seats() {
    return seats;
  }

  @Override
  public int foreignInFlight() {
    return foreign;
  }

  @Override
  public double kvUsage() {
    return kvUsage;
  }

  @Override
  public long kvCapacityTokens() {
    return kvTokens;
  }

  @Override
  public Adapters adapters() {
    return this;
  }

  @Override
  public double metric(String key) {
    Double value = metrics.get(key);
    return value == null ? Double.NaN : value;
  }

  @Override
  public int count() {
    return awaiting;
  }

  @Override
  public long uncachedTokens() {
    return uncached;
  }

  @Override
  public double attention() {
    return attention;
  }

  @Override
  public int headUncached() {
    return headUncached;
  }

  @Override
  public double headAttention() {
    return headAttention;
  }

  @Override
  public long headSince() {
    return headSince;
  }

  @Override
  public int slots() {
    return adapterSlots;
  }

  @Override
  public int loaded() {
    return resident.size();
  }

  @Override
  public boolean needed(String targetModel) {
    return adapterSlots > 0 && !targetModel.equals(baseModel);
  }

  @Override
  public boolean resident(String adapter) {
    return resident.contains(adapter);
  }

  @Override
  public boolean running(String adapter) {
    return runningAdapters.contains(adapter);
  }

  @Override
  public boolean waiting(String adapter) {
    return waitingAdapters.contains(adapter);
  }

  @Override
  public int reported() {
    return runningAdapters.size() + waitingAdapters.size();
  }

  @Override
  public int leastInFlight() {
    return adapterLeastInFlight;
  }
}
