package io.fairlead.lab.simulator;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Route;
import io.fairlead.lab.simulator.Membership.Change;
import io.fairlead.lab.simulator.Membership.Member;
import io.fairlead.lab.workload.ServedModel;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** All servers that a run ever has, and which of them are the pool's now. */
final class SimulatedPool {

  /** Tells the noise of engines apart from all others. */
  private static final long NOISE_SEED = 0x2015_e5ee_d5edL;

  private final List<SimulatedServer> servers = new ArrayList<>();
  private final Map<String, SimulatedServer> byName = new HashMap<>();

  /** By address and port. */
  private final Map<String, SimulatedServer> byAddress = new HashMap<>();

  /** Whether each server is one of the pool's now. */
  private final BitSet there = new BitSet();

  /**
   * The pool of a run as it is at its start.
   *
   * @param members all that are ever there
   * @param caches who is told what happens to caches; null for nobody
   */
  SimulatedPool(
      SimulationSpec spec,
      List<Member> members,
      EngineClock clock,
      SimulatedServer.Answers answers,
      SimulatedServer.@Nullable CacheListener caches) {
    Set<String> adapters =
        spec.workload().models().stream()
            .filter(ServedModel::adapter)
            .map(ServedModel::name)
            .collect(Collectors.toSet());
    SplittableRandom noise = new SplittableRandom(spec.seed() ^ NOISE_SEED);
    for (Member member : members) {
      SimulatedServer server =
          new SimulatedServer(
              servers.size(),
              member,
              adapters,
              spec.settings(),
              noise.nextLong(),
              clock,
              answers,
              caches);
      servers.add(server);
      EndpointSpec endpoint = server.spec();
      byName.put(endpoint.name(), server);
      byAddress.put(Route.destination(endpoint.address(), endpoint.port()), server);
    }
    there.set(0, spec.pool().engines().size());
  }

  /** All that are ever there, by their numbers. */
  List<SimulatedServer> servers() {
    return servers;
  }

  /** Those that are there now. */
  List<SimulatedServer> members() {
    return there.stream().mapToObj(servers::get).toList();
  }

  boolean isMember(String name) {
    return there.get(named(name).number());
  }

  SimulatedServer named(String name) {
    return Objects.requireNonNull(byName.get(name), name);
  }

  /** The one with this address and port. */
  SimulatedServer at(String destination) {
    return Objects.requireNonNull(byAddress.get(destination), destination);
  }

  /** Somebody comes or goes. */
  SimulatedServer change(Change change) {
    SimulatedServer server = servers.get(change.server());
    there.set(change.server(), change.there());
    server.nextStay();
    return server;
  }
}
