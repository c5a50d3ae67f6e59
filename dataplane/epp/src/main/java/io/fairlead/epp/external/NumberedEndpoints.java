package io.fairlead.epp.external;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.HealthState;
import io.fairlead.core.external.EndpointLoad;
import io.fairlead.scheduler.v1.Endpoint;
import io.fairlead.scheduler.v1.EndpointState;
import io.fairlead.scheduler.v1.PickerMessage;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The endpoints as one stream numbers them. A number is of one endpoint for ever. */
final class NumberedEndpoints {

  private record Numbered(int number, long identity, EndpointSpec spec) {}

  private final Map<String, Numbered> byName = new HashMap<>();
  private final Map<Long, Numbered> byIdentity = new HashMap<>();
  private final Map<Integer, Numbered> byNumber = new HashMap<>();
  private int last;

  /** A stream begins: nothing is numbered. */
  void clear() {
    byName.clear();
    byIdentity.clear();
    byNumber.clear();
    last = 0;
  }

  /** These are there from now on. Writes what is new of that. */
  void replace(List<EndpointLoad> all, PickerMessage.Builder to) {
    Set<String> there = new HashSet<>();
    for (EndpointLoad load : all) {
      there.add(load.spec().name());
      Numbered known = byName.get(load.spec().name());
      if (known == null || !known.spec().equals(load.spec())) {
        // Another process of the same name is another endpoint: its caches are empty.
        if (known != null) {
          remove(known, to);
        }
        add(load, to);
      }
    }
    for (Numbered gone : List.copyOf(byName.values())) {
      if (!there.contains(gone.spec().name())) {
        remove(gone, to);
      }
    }
  }

  private void add(EndpointLoad load, PickerMessage.Builder to) {
    EndpointSpec spec = load.spec();
    Numbered added = new Numbered(++last, load.identity(), spec);
    byName.put(spec.name(), added);
    byIdentity.put(load.identity(), added);
    byNumber.put(added.number(), added);
    to.addEndpoints(
        Endpoint.newBuilder()
            .setNumber(added.number())
            .setName(spec.name())
            .setAddress(spec.address())
            .setPort(spec.port())
            .putAllLabels(spec.labels()));
  }

  private void remove(Numbered gone, PickerMessage.Builder to) {
    byName.remove(gone.spec().name());
    byIdentity.remove(gone.identity(), gone);
    byNumber.remove(gone.number());
    to.addRemoved(gone.number());
  }

  /** Writes how an endpoint is; nothing of one that is not numbered. */
  void state(EndpointLoad load, PickerMessage.Builder to) {
    Numbered known = byName.get(load.spec().name());
    if (known == null) {
      return;
    }
    to.addStates(
        EndpointState.newBuilder()
            .setEndpoint(known.number())
            .setInUse(load.health() == HealthState.IN_USE)
            .setWaiting(load.waiting())
            .setRunning(load.running())
            .setKvUsage(Double.isNaN(load.kvUsage()) ? -1 : load.kvUsage())
            .setKvCapacityTokens(load.kvCapacityTokens())
            .setInFlight(load.inFlight())
            .setAwaitingFirstToken(load.awaitingFirstToken())
            .setInFlightTokens(load.inFlightTokens())
            .setUncachedInFlightTokens(load.uncachedInFlightTokens()));
  }

  /** The number of an endpoint by its identity; 0 for none. */
  int number(long identity) {
    Numbered known = byIdentity.get(identity);
    return known == null ? 0 : known.number();
  }

  /** The identity of the endpoint with this number; null for none. */
  @Nullable Long identity(int number) {
    Numbered known = byNumber.get(number);
    return known == null ? null : known.identity();
  }
}
