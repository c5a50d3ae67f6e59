package io.fairlead.core;

import io.fairlead.core.TargetSnapshot.State;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which of the configured targets the pool's endpoints serve, as their answers tell. No decision
 * goes by it: people want to know of names that are misspelt, which cost them every request.
 *
 * <p>A name that no list of models has proves nothing, since servers load adapters when they are
 * asked for. That a server answers 404 proves little: it may lack the path, or be a proxy. So only
 * answers count in which a server says that it does not know the model, and one of them is not
 * enough: another endpoint may have the adapter. A target is taken for one that nobody serves once
 *
 * <ul>
 *   <li>every endpoint in use has said so, or of many {@value #MOST_ASKED},
 *   <li>in {@value #LEAST_REFUSALS} answers at least,
 *   <li>with no good answer in between, nor in the minute before the last of them: adapters come
 *       and go, and a pool whose good answers and refusals alternate serves the target.
 * </ul>
 *
 * <p>The first good answer ends it, and so does an endpoint that names the target in its metrics
 * after the last refusal.
 *
 * <p>One entry for each target of the config in force, and none is made for a request.
 */
final class ServedTargets {

  /** Of more endpoints than so many, not all have to be asked. */
  static final int MOST_ASKED = 16;

  /** So many refusals with no good answer in between are no chance. */
  static final int LEAST_REFUSALS = 3;

  /** Nanoseconds since a good answer in which refusals say nothing of the pool. */
  static final long LATELY = 60_000_000_000L;

  /** Nanoseconds after which what another picker has seen counts for more than an old answer. */
  static final long LONG_AGO = 3_600_000_000_000L;

  private static final class Target {

    /** When it was answered for last, by {@link PoolAdapters#NEVER}. */
    long servedAt = PoolAdapters.NEVER;

    /** Answers since then of endpoints that don't know it, and when the last one came. */
    int refusals;

    long refusedAt;

    /** Who gave the last of these, each once; null before the first. */
    long @Nullable [] refusers;

    int refuserCount;

    /** How many they were when it was found that nobody serves it; 0 while that is not known. */
    int notServedBy;

    private void isServed(long at) {
      servedAt = at;
      refusals = 0;
      refuserCount = 0;
      notServedBy = 0;
    }

    private boolean isRefusedBy(long endpoint) {
      for (int i = 0; i < Math.min(refuserCount, MOST_ASKED); i++) {
        if (refusers != null && refusers[i] == endpoint) {
          return true;
        }
      }
      return false;
    }

    private void isRefused(long now, long endpoint) {
      refusedAt = now;
      refusals = Math.min(refusals + 1, LEAST_REFUSALS);
      if (!isRefusedBy(endpoint)) {
        if (refusers == null) {
          refusers = new long[MOST_ASKED];
        }
        // Of more, those that said so first make room: they may have left.
        refusers[refuserCount % MOST_ASKED] = endpoint;
        refuserCount++;
      }
    }

    private @Nullable State state(long now) {
      // Nobody has asked here since: another picker may know better by now.
      if (notServedBy > 0 && now - refusedAt < LONG_AGO) {
        return State.NOT_SERVED;
      }
      if (servedAt == PoolAdapters.NEVER) {
        return null;
      }
      return now - servedAt < LONG_AGO ? State.SERVED : State.SERVED_EARLIER;
    }
  }

  private final EndpointSet endpoints;

  /** In the order of their names. */
  private Map<String, Target> targets = Map.of();

  /**
   * Nothing is configured.
   *
   * @param endpoints who could serve them
   */
  ServedTargets(EndpointSet endpoints) {
    this.endpoints = endpoints;
  }

  /** These are the targets from now on; what is known of those that stay, stays. */
  void configure(Collection<String> names) {
    Map<String, Target> next = LinkedHashMap.newLinkedHashMap(names.size());
    names.stream()
        .sorted()
        .forEach(
            name -> {
              Target known = targets.get(name);
              next.put(name, known == null ? new Target() : known);
            });
    targets = next;
  }

  /** An endpoint has answered for it. */
  void served(long now, String name) {
    Target target = targets.get(name);
    if (target != null) {
      target.isServed(now);
    }
  }

  /** The endpoint has answered that it does not know it. */
  void refused(long now, String name, EndpointState by) {
    Target target = targets.get(name);
    if (target == null) {
      return;
    }
    look(name, target);
    target.isRefused(now, by.identity());
    boolean lately = target.servedAt != PoolAdapters.NEVER && now - target.servedAt < LATELY;
    if (target.notServedBy == 0 && !lately && target.refusals == LEAST_REFUSALS) {
      target.notServedBy = refusedByAll(target);
    }
  }

  /** How many have refused it, if that is as many as could serve it; else 0. */
  private int refusedByAll(Target target) {
    int inUse = 0;
    int refusers = 0;
    for (EndpointState endpoint : endpoints.eligible()) {
      if (endpoint.health().state() == HealthState.IN_USE) {
        inUse++;
        refusers += target.isRefusedBy(endpoint.identity()) ? 1 : 0;
      }
    }
    return refusers >= Math.min(inUse, MOST_ASKED) ? refusers : 0;
  }

  /** An endpoint that has named it in its metrics since it was refused last serves it. */
  private void look(String name, Target target) {
    long shown = endpoints.adapters().shownAt(name);
    boolean newest = target.refusals == 0 || shown - target.refusedAt > 0;
    if (shown != PoolAdapters.NEVER
        && newest
        && (target.servedAt == PoolAdapters.NEVER || shown - target.servedAt > 0)) {
      target.isServed(shown);
    }
  }

  /** All of which something is known, by name. */
  List<TargetSnapshot> snapshot(long now) {
    List<TargetSnapshot> known = new ArrayList<>();
    targets.forEach(
        (name, target) -> {
          look(name, target);
          State state = target.state(now);
          if (state != null) {
            known.add(new TargetSnapshot(name, state, target.notServedBy));
          }
        });
    return List.copyOf(known);
  }
}
