package io.fairlead.lab.peers;

import io.fairlead.core.view.PoolCandidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.HeaderWriter;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Picker;
import io.fairlead.plugin.Plugin;
import io.fairlead.stub.engine.EngineProfile;
import io.fairlead.stub.profile.EngineProfiles;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A pool that one peer picks from. */
final class FakePool implements PoolCandidates {

  private static final HeaderWriter NOWHERE =
      new HeaderWriter() {
        @Override
        public void request(String name, String value) {}

        @Override
        public void response(String name, String value) {}
      };

  private static final List<EngineProfile> ENGINES =
      List.of(EngineProfiles.shipped().named("h100-8b"));

  private final Plugin plugin;
  final List<FakeServer> servers = new ArrayList<>();
  private long seed;
  long now = 1;

  FakePool(Plugin plugin, int size) {
    this.plugin = plugin;
    for (int i = 0; i < size; i++) {
      FakeServer server = new FakeServer(i);
      servers.add(server);
      if (plugin instanceof Observer observer) {
        observer.joined(server);
      }
    }
  }

  /** With the plugin of this type, as a policy document makes it. */
  static FakePool of(String type, Map<String, Object> settings, int size) {
    return new FakePool(plugin(type, settings), size);
  }

  static Plugin plugin(String type, Map<String, Object> settings) {
    return Peers.factories(ENGINES, ENGINES, name -> true).stream()
        .filter(factory -> factory.type().equals(type))
        .flatMap(factory -> Stream.of(factory.create(new Parameters(settings))))
        .findFirst()
        .orElseThrow();
  }

  /** Sets the requests in flight, one number per server. */
  FakePool inFlight(int... loads) {
    for (int i = 0; i < loads.length; i++) {
      servers.get(i).inFlight = loads[i];
    }
    return this;
  }

  /** The number of the server that a prompt goes to; it is sent there. */
  int send(String prompt) {
    FakeRequest request = new FakeRequest(prompt, now, seed++);
    int[] picked = new int[size()];
    ((Picker) plugin).pick(request, this, new double[size()], picked);
    if (plugin instanceof Observer observer) {
      observer.dispatched(request, get(picked[0]), NOWHERE);
    }
    return picked[0];
  }

  /** As {@link #send}, and it stays in flight. */
  int sendAndHold(String prompt) {
    int picked = send(prompt);
    servers.get(picked).inFlight++;
    return picked;
  }

  @Override
  public int size() {
    return servers.size();
  }

  @Override
  public Endpoint get(int index) {
    return servers.get(index);
  }

  @Override
  public int matchedBlocks(int index) {
    return servers.get(index).matchedBlocks;
  }

  @Override
  public int cachedTokens(int index) {
    return servers.get(index).matchedBlocks * 16;
  }

  @Override
  public int queueDepth(int index) {
    return 0;
  }

  @Override
  public double kvUsage(int index) {
    return 0;
  }

  @Override
  public int slot(int index) {
    return servers.get(index).slot();
  }

  @Override
  public void cachedTokens(double[] into) {
    for (int i = 0; i < size(); i++) {
      into[i] = cachedTokens(i);
    }
  }

  @Override
  public double timesKnown() {
    return 1;
  }

  @Override
  public int replicas() {
    return 1;
  }

  @Override
  public double ghostHits() {
    return 0;
  }

  @Override
  public double goesOn() {
    return 0;
  }

  @Override
  public int places() {
    return size();
  }

  @Override
  public int place(int index) {
    return index;
  }

  @Override
  public long changes(long since, Changed to) {
    return 0;
  }
}
