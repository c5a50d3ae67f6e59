package io.fairlead.epp.external;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.HealthState;
import io.fairlead.core.external.EndpointLoad;
import io.fairlead.scheduler.v1.Endpoint;
import io.fairlead.scheduler.v1.EndpointState;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The endpoints as one stream numbers them. A number is of one endpoint for ever. */
final class NumberedEndpoints {

  private static final class Numbered {
    private final int number;
    private final long identity;
    private EndpointSpec spec;
    private @Nullable EndpointState told;

    /** The request whose answer has named it last. */
    private long namedFor;

    Numbered(int number, long identity, EndpointSpec spec) {
      this.number = number;
      this.identity = identity;
      this.spec = spec;
    }
  }

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

  /** How many there are. */
  int size() {
    return byNumber.size();
  }

  /** These are there from now on. Writes what is new of that. */
  void replace(List<EndpointLoad> all, OutgoingMessages to) {
    Set<String> there = new HashSet<>();
    for (EndpointLoad load : all) {
      Numbered known = byName.get(load.spec().name());
      if (known != null && isSameProcess(known.spec, load.spec())) {
        there.add(load.spec().name());
      }
    }
    for (Numbered gone : List.copyOf(byName.values())) {
      if (!there.contains(gone.spec.name())) {
        remove(gone, to);
      }
    }
    for (EndpointLoad load : all) {
      EndpointSpec spec = load.spec();
      Numbered known = byName.get(spec.name());
      if (known == null) {
        known = new Numbered(++last, load.identity(), spec);
        byName.put(spec.name(), known);
        byIdentity.put(load.identity(), known);
        byNumber.put(known.number, known);
        describe(known, to);
      } else if (!known.spec.equals(spec)) {
        known.spec = spec;
        describe(known, to);
      }
    }
  }

  /** Another process of the same name is another endpoint: its caches are empty. */
  private static boolean isSameProcess(EndpointSpec one, EndpointSpec other) {
    return one.incarnation().equals(other.incarnation())
        && one.address().equals(other.address())
        && one.port() == other.port();
  }

  private static void describe(Numbered endpoint, OutgoingMessages to) {
    EndpointSpec spec = endpoint.spec;
    to.add(
        Endpoint.newBuilder()
            .setNumber(endpoint.number)
            .setName(spec.name())
            .setAddress(spec.address())
            .setPort(spec.port())
            .putAllLabels(spec.labels())
            .build());
  }

  private void remove(Numbered gone, OutgoingMessages to) {
    byName.remove(gone.spec.name());
    byIdentity.remove(gone.identity, gone);
    byNumber.remove(gone.number);
    to.removed(gone.number);
  }

  /** Writes how an endpoint is, unless that was written already; nothing of one without number. */
  void state(EndpointLoad load, OutgoingMessages to) {
    Numbered known = byName.get(load.spec().name());
    if (known == null) {
      return;
    }
    EndpointState state =
        EndpointState.newBuilder()
            .setEndpoint(known.number)
            .setInUse(load.health() == HealthState.IN_USE)
            .setWaiting(load.waiting())
            .setRunning(load.running())
            .setKvUsage(Double.isNaN(load.kvUsage()) ? -1 : load.kvUsage())
            .setKvCapacityTokens(load.kvCapacityTokens())
            .setInFlight(load.inFlight())
            .setAwaitingFirstToken(load.awaitingFirstToken())
            .setInFlightTokens(load.inFlightTokens())
            .setUncachedInFlightTokens(load.uncachedInFlightTokens())
            .build();
    if (!state.equals(known.told)) {
      known.told = state;
      to.add(state);
    }
  }

  /** The number of an endpoint by its identity; 0 for none. */
  int number(long identity) {
    Numbered known = byIdentity.get(identity);
    return known == null ? 0 : known.number;
  }

  /**
   * The identity of an endpoint that an answer names; null if none has this number, or the answer
   * has named it before.
   *
   * @param request which it answers, from 1 on
   */
  @Nullable Long identity(int number, long request) {
    Numbered known = byNumber.get(number);
    if (known == null || known.namedFor == request) {
      return null;
    }
    known.namedFor = request;
    return known.identity;
  }

  /** Whether an endpoint had this number, and is gone. */
  boolean isGone(int number) {
    return number > 0 && number <= last && !byNumber.containsKey(number);
  }
}
