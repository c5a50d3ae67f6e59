package io.fairlead.core.replay;

import io.fairlead.core.EndpointLabels;
import io.fairlead.core.external.Advice;
import io.fairlead.core.receipt.EndpointFacts;
import io.fairlead.core.receipt.EndpointFacts.AdapterFacts;
import io.fairlead.core.replay.DecisionInputs.EndpointInputs;
import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.plugin.Adapters;
import io.fairlead.plugin.EndpointAttributes;
import io.fairlead.plugin.Prefills;
import java.util.Map;

/** An endpoint as a receipt has it. */
final class RecordedEndpoint implements PoolEndpoint {

  private final int slot;
  private final EndpointInputs inputs;
  private final String target;
  private final EndpointAttributes attributes;
  private final long identity;

  RecordedEndpoint(int slot, EndpointInputs inputs, String target) {
    this.slot = slot;
    this.inputs = inputs;
    this.target = target;
    this.attributes = EndpointLabels.attributes(inputs.labels());
    this.identity = Advice.identity(inputs.name());
  }

  EndpointFacts facts() {
    EndpointFacts facts = inputs.facts();
    if (facts == null) {
      throw new NotKeptException("what was known of all endpoints of a large pool");
    }
    return facts;
  }

  @Override
  public long scrapedAt() {
    return facts().scrapedAt();
  }

  @Override
  public long restingTokens() {
    throw notKept("how many tokens of contexts rested there");
  }

  @Override
  public long idleSince() {
    throw notKept("since when nothing was in flight there");
  }

  @Override
  public String name() {
    return inputs.name();
  }

  @Override
  public String address() {
    return inputs.address();
  }

  @Override
  public int port() {
    return inputs.port();
  }

  @Override
  public Map<String, String> labels() {
    return inputs.labels();
  }

  @Override
  public EndpointAttributes attributes() {
    return attributes;
  }

  @Override
  public long identity() {
    return identity;
  }

  @Override
  public int slot() {
    return slot;
  }

  @Override
  public int inFlight() {
    return facts().inFlight();
  }

  @Override
  public int awaitingFirstToken() {
    return facts().awaitingFirstToken();
  }

  @Override
  public long inFlightTokens() {
    return facts().inFlightTokens();
  }

  @Override
  public int scrapedWaiting() {
    return facts().scrapedWaiting();
  }

  @Override
  public int scrapedRunning() {
    return facts().scrapedRunning();
  }

  @Override
  public int queueDepth() {
    return Math.max(facts().saidToWait(), facts().awaitingFirstToken());
  }

  @Override
  public int waiting() {
    return facts().waiting();
  }

  @Override
  public double kvUsage() {
    return facts().kvUsage();
  }

  @Override
  public double metric(String key) {
    return facts().values().getOrDefault(key, Double.NaN);
  }

  @Override
  public int criticalInFlight() {
    throw notKept("how many critical requests were in flight");
  }

  @Override
  public int sheddableInFlight() {
    throw notKept("how many sheddable requests were in flight");
  }

  @Override
  public long uncachedInFlightTokens() {
    throw notKept("how many uncached tokens were in flight");
  }

  @Override
  public long repeatedInFlightTokens() {
    throw notKept("how many tokens requests in flight had in common");
  }

  @Override
  public int seats() {
    throw notKept("how many requests an endpoint runs at a time");
  }

  @Override
  public int foreignInFlight() {
    throw notKept("how many requests others had sent");
  }

  @Override
  public long kvCapacityTokens() {
    throw notKept("the size of KV caches");
  }

  @Override
  public double risk() {
    throw notKept("what a failure costs");
  }

  @Override
  public long emptyAt() {
    throw notKept("when caches were empty");
  }

  @Override
  public long expectedWait() {
    throw notKept("how long those in line will take");
  }

  private static NotKeptException notKept(String what) {
    return new NotKeptException(what);
  }

  @Override
  public Prefills prefills() {
    return new RecordedPrefills(facts());
  }

  private record RecordedPrefills(EndpointFacts facts) implements Prefills {

    @Override
    public int count() {
      return facts.prefills();
    }

    @Override
    public long uncachedTokens() {
      return facts.prefillTokens();
    }

    @Override
    public double attention() {
      throw notKept("the attention that prompts in line take");
    }

    @Override
    public int headUncached() {
      throw notKept("who is first in line");
    }

    @Override
    public double headAttention() {
      throw notKept("who is first in line");
    }

    @Override
    public long headSince() {
      throw notKept("who is first in line");
    }
  }

  @Override
  public Adapters adapters() {
    AdapterFacts adapters = facts().adapters();
    return new RecordedAdapters(
        adapters == null ? new AdapterFacts(0, 0, 0, false, false, false, false) : adapters,
        target);
  }

  private record RecordedAdapters(AdapterFacts facts, String target) implements Adapters {

    @Override
    public int slots() {
      return facts.slots();
    }

    @Override
    public int loaded() {
      return facts.loaded();
    }

    @Override
    public int leastInFlight() {
      throw notKept("the requests of each adapter");
    }

    @Override
    public boolean needed(String targetModel) {
      return of(targetModel, facts.needed());
    }

    @Override
    public boolean resident(String adapter) {
      return of(adapter, facts.resident());
    }

    @Override
    public boolean running(String adapter) {
      return of(adapter, facts.running());
    }

    @Override
    public boolean waiting(String adapter) {
      return of(adapter, facts.waiting());
    }

    @Override
    public int reported() {
      return facts.reported();
    }

    private boolean of(String asked, boolean own) {
      if (!asked.equals(target)) {
        throw notKept("adapters other than the request's own");
      }
      return own;
    }
  }
}
