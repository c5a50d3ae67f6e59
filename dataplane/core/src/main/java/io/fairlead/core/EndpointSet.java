package io.fairlead.core;

import io.fairlead.core.account.TokenEstimate;
import io.fairlead.core.health.EndpointHealth;
import io.fairlead.core.health.PoolHealth;
import io.fairlead.core.prefix.CacheChange;
import io.fairlead.core.prefix.ExactIndex;
import io.fairlead.core.prefix.PrefixIndex;
import io.fairlead.core.scheduling.PrefixSettings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who may get requests, and who has left but still has some in flight. Keeps the prefix index in
 * step: an incarnation's blocks are forgotten when its last request has ended.
 */
final class EndpointSet {

  private static final Comparator<EndpointState> BY_NAME =
      Comparator.comparing(EndpointState::name).thenComparing(EndpointState::leaving);

  /** Of this core's choices, and of those that they are compared with, if they are. */
  private final List<PrefixIndex> indexes;

  private final ExactIndex exact;
  private final PoolLimits limits;
  private final TokenEstimate tokens;
  private final PoolHealth health;
  private final PrefillPace pace = new PrefillPace();
  private final PoolAdapters adapters = new PoolAdapters();
  private PrefixSettings prefixSettings = PrefixSettings.DEFAULT;
  private Fullness fullness = Fullness.NONE;
  private Map<String, EndpointState> eligible = new HashMap<>();
  private EndpointState[] ordered = {};
  private EndpointColumns columns = new EndpointColumns(0, 0);
  private final List<EndpointState> leaving = new ArrayList<>();
  private int[] freeSlots = {};
  private int freeCount;
  private int slotCount;

  EndpointSet(
      List<PrefixIndex> indexes,
      ExactIndex exact,
      PoolLimits limits,
      TokenEstimate tokens,
      PoolHealth health) {
    this.health = health;
    this.indexes = indexes;
    this.exact = exact;
    this.limits = limits;
    this.tokens = tokens;
  }

  /** Decides anew how many blocks each endpoint is believed to hold. */
  void prefixSettings(PrefixSettings settings) {
    if (!settings.equals(prefixSettings)) {
      prefixSettings = settings;
      all().forEach(this::capacity);
    }
  }

  /** From now on this says how full each is. */
  void fullness(Fullness says) {
    fullness = says;
    all().forEach(state -> state.fullness(says));
  }

  /**
   * How full the endpoint in this place is.
   *
   * @throws RuntimeException or an {@code Error}, what a broken detector throws
   */
  double saturation(int place) {
    double known = columns.saturation[place];
    return Double.isNaN(known) ? fullness.detector().saturation(ordered[place]) : known;
  }

  private void capacity(EndpointState state) {
    int measured =
        prefixSettings.measured()
            ? state.kvBlocks(tokens.poolBlockTokens(), limits.maxPrefixBlocks())
            : 0;
    int set = Math.min(prefixSettings.endpointBlocks(), limits.maxPrefixBlocks());
    int known = measured > 0 ? measured : set;
    int most = known > 0 ? known : limits.unknownPrefixBlocks();
    capacity(state, Math.max(1, (int) (state.cacheShare().share() * most)));
  }

  private void capacity(EndpointState state, int blocks) {
    indexes.forEach(index -> index.capacity(state.slot(), blocks));
  }

  /** The eligible endpoints in the order in which they were given; not to be changed. */
  EndpointState[] eligible() {
    return ordered;
  }

  /** What is known of adapters across all endpoints. */
  PoolAdapters adapters() {
    return adapters;
  }

  /** What scorers look at of {@link #eligible()}, place by place. */
  EndpointColumns columns() {
    return columns;
  }

  /**
   * Every endpoint, leaving ones first: of two of one name, whoever keeps them by name ends with
   * the one that may get requests.
   */
  List<EndpointState> all() {
    List<EndpointState> all = new ArrayList<>(leaving);
    all.addAll(Arrays.asList(ordered));
    return all;
  }

  /** Has those that don't tell of a queue count as if they had the others' mean. */
  private void assume() {
    long sum = 0;
    int known = 0;
    for (EndpointState state : ordered) {
      if (state.tells()) {
        sum += state.scrapedWaiting();
        known++;
      }
    }
    int mean = known == 0 ? 0 : (int) Math.ceilDiv(sum, known);
    if (known < ordered.length) {
      for (EndpointState state : ordered) {
        state.assumeWaiting(mean);
      }
    }
  }

  /** Those that have left and still have requests in flight; not to be changed. */
  List<EndpointState> leaving() {
    return leaving;
  }

  /** Returns those that were not there before. */
  List<EndpointState> replace(long now, List<EndpointSpec> specs) {
    requireUnique(specs);
    Map<String, EndpointState> before = eligible;
    Map<String, EndpointState> after = HashMap.newHashMap(specs.size());
    EndpointState[] states = new EndpointState[specs.size()];
    List<EndpointState> newcomers = new ArrayList<>();
    Set<EndpointState> kept = new HashSet<>();
    for (int i = 0; i < states.length; i++) {
      EndpointSpec spec = specs.get(i);
      EndpointState known = known(before.get(spec.name()), spec);
      if (known != null) {
        known.eligible(spec, now);
        kept.add(known);
        states[i] = known;
      }
    }
    // Those that go free their slots before newcomers take some.
    for (EndpointState state : ordered) {
      if (!kept.contains(state)) {
        leave(state);
      }
    }
    for (int i = 0; i < states.length; i++) {
      if (states[i] == null) {
        states[i] = join(specs.get(i), now);
        newcomers.add(states[i]);
      }
      after.put(states[i].name(), states[i]);
    }
    eligible = after;
    ordered = states;
    columns = new EndpointColumns(states.length, columns.changes());
    for (int i = 0; i < states.length; i++) {
      states[i].columns(columns, i);
    }
    health.replace(Arrays.stream(states).map(EndpointState::health).toArray(EndpointHealth[]::new));
    return newcomers;
  }

  /** How much longer than the first guess prompts have proved to take here. */
  double prefillPace() {
    return pace.factor();
  }

  /** The endpoint of this address, as {@link Route#destination()} has it; null if there is none. */
  @Nullable EndpointState at(String destination) {
    for (EndpointState state : ordered) {
      if (Route.destination(state.spec().address(), state.spec().port()).equals(destination)) {
        return state;
      }
    }
    return null;
  }

  /** The endpoint of this name that may get requests; null if there is none. */
  @Nullable EndpointState named(String name) {
    return eligible.get(name);
  }

  /** Who was asked by a scrape that was begun then; null if that was not in its present life. */
  @Nullable EndpointState asked(EndpointSpec endpoint, long begunAt) {
    EndpointState state = eligible.get(endpoint.name());
    return state != null && state.isOfThisLife(endpoint, begunAt) ? state : null;
  }

  void scraped(long now, EndpointState state, long begunAt, EndpointMetrics metrics) {
    state.scraped(now, begunAt, metrics);
    capacity(state);
  }

  /**
   * Its engine has told of its cache.
   *
   * @return false if there is no room to remember it
   */
  boolean cacheChanged(EndpointState state, int grain, CacheChange change) {
    if (change.isEmptied()) {
      forget(state);
    }
    if (change.isLoss()) {
      state.cacheShare().unknown();
    }
    state.cacheShare().stored(change.storedTokens(), state.kvCapacityTokens());
    capacity(state);
    return exact.change(state.slot(), grain, change);
  }

  /** Time has moved on. */
  void tick() {
    exact.tick();
    assume();
  }

  /** The endpoint of this spec in its present life; null if there is none. */
  @Nullable EndpointState same(EndpointSpec endpoint) {
    EndpointState state = eligible.get(endpoint.name());
    return state != null && state.isSame(endpoint) ? state : null;
  }

  /** Another picker knows how much the endpoint has room for; until it says so itself. */
  void believedToHold(EndpointState state, int blocks) {
    if (state.kvCapacityTokens() == 0 && blocks > 0) {
      capacity(state, Math.min(blocks, limits.maxPrefixBlocks()));
    }
  }

  /** The endpoint holds a prompt of these salted hashes, whoever has sent it there. */
  void holds(EndpointState state, long[] blocks, int count) {
    indexes.forEach(index -> index.learn(state.slot(), 0, blocks, count));
  }

  /** What this endpoint holds of prompts is gone. */
  void forget(EndpointState state) {
    state.forgets();
    forget(state.slot());
    capacity(state);
  }

  private void forget(int slot) {
    indexes.forEach(index -> index.forget(slot));
  }

  /** A request of this endpoint has ended: if it was the last of one that left, that is gone. */
  void ended(EndpointState state) {
    if (state.leaving() && !state.hasRequests()) {
      leaving.remove(state);
      free(state);
    }
  }

  List<EndpointSnapshot> snapshot() {
    List<EndpointState> all = all();
    all.sort(BY_NAME);
    return all.stream().map(EndpointState::snapshot).toList();
  }

  /** The same incarnation, be it eligible or leaving. */
  private @Nullable EndpointState known(@Nullable EndpointState current, EndpointSpec spec) {
    if (current != null && current.isSame(spec)) {
      return current;
    }
    for (Iterator<EndpointState> each = leaving.iterator(); each.hasNext(); ) {
      EndpointState state = each.next();
      if (state.isSame(spec)) {
        each.remove();
        return state;
      }
    }
    return null;
  }

  private void leave(EndpointState state) {
    state.leave();
    if (state.hasRequests()) {
      leaving.add(state);
    } else {
      free(state);
    }
  }

  private EndpointState join(EndpointSpec spec, long now) {
    int slot = freeCount > 0 ? freeSlots[--freeCount] : slotCount++;
    forget(slot);
    exact.forget(slot);
    EndpointState state = new EndpointState(spec, slot, pace, adapters, now);
    state.fullness(fullness);
    capacity(state);
    return state;
  }

  private void free(EndpointState state) {
    indexes.forEach(index -> index.leave(state.slot()));
    exact.forget(state.slot());
    if (freeCount == freeSlots.length) {
      freeSlots = Arrays.copyOf(freeSlots, Math.max(16, freeCount * 2));
    }
    freeSlots[freeCount++] = state.slot();
  }

  private static void requireUnique(List<EndpointSpec> specs) {
    Set<String> names = HashSet.newHashSet(specs.size());
    for (EndpointSpec spec : specs) {
      if (!names.add(spec.name())) {
        throw new IllegalArgumentException(
            "endpoint \"" + spec.name() + "\" is there twice; names must be unique in a pool");
      }
    }
  }
}
