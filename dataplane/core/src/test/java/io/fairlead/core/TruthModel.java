package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.Rejection.Reason;
import io.fairlead.crds.config.Criticality;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What should be true of a pool, kept in plain objects and maps the slow and obvious way. */
final class TruthModel implements RequestListener {

  /** One incarnation. */
  static final class Server {
    final String name;
    final EndpointSpec spec;
    final Set<Live> inFlight = new HashSet<>();
    EndpointMetrics metrics = EndpointMetrics.UNKNOWN;
    long since;
    long sent;

    Server(EndpointSpec spec) {
      this.spec = spec;
      this.name = spec.name();
    }

    int awaiting() {
      return (int) inFlight.stream().filter(r -> !r.firstToken).count();
    }

    long tokens() {
      return inFlight.stream().mapToLong(r -> r.facts.promptTokens()).sum();
    }

    boolean full() {
      double queue = Math.max(metrics.waiting(), awaiting()) / 5.0;
      return queue >= 1 || metrics.kvUsage() / 0.8 >= 1;
    }
  }

  /** One request that has not ended. */
  static final class Live {
    final RequestFacts facts;
    final Set<Server> tried = new HashSet<>();
    @Nullable Server at;
    boolean firstToken;
    int attempts;

    Live(RequestFacts facts) {
      this.facts = facts;
    }
  }

  final Map<String, Server> eligible = new LinkedHashMap<>();
  final Set<Server> gone = new HashSet<>();
  final Map<Long, Live> live = new LinkedHashMap<>();
  final Map<String, Criticality> models = new HashMap<>();
  final List<String> effects = new ArrayList<>();
  final Set<Long> everSeen = new HashSet<>();
  final int retries;
  boolean configured;
  private @Nullable Live deciding;

  TruthModel(int retries) {
    this.retries = retries;
  }

  Criticality criticality(String model) {
    Criticality unknown = model.isEmpty() ? Criticality.STANDARD : Criticality.SHEDDABLE;
    return models.getOrDefault(model, unknown);
  }

  /** To be called before the event that decides about this request. */
  void expectDecision(Live request) {
    assertThat(deciding).as("every decision has one effect").isNull();
    deciding = request;
  }

  void expectDecided() {
    assertThat(deciding).as("every decision has one effect").isNull();
  }

  void endpoints(long now, List<EndpointSpec> specs) {
    Map<String, Server> before = new HashMap<>(eligible);
    eligible.clear();
    gone.addAll(before.values());
    for (EndpointSpec spec : specs) {
      Server server =
          gone.stream()
              .filter(s -> s.spec.equals(spec))
              .findFirst()
              .orElseGet(() -> new Server(spec));
      gone.remove(server);
      if (!before.containsValue(server)) {
        server.metrics = EndpointMetrics.UNKNOWN;
        server.since = now;
      }
      eligible.put(spec.name(), server);
    }
    gone.removeIf(s -> s.inFlight.isEmpty());
  }

  void leave(Live request) {
    Server server = request.at;
    if (server != null) {
      server.inFlight.remove(request);
      request.at = null;
      gone.removeIf(s -> s.inFlight.isEmpty());
    }
  }

  @Override
  public void send(long request, Route route) {
    Live decided = decided(request);
    effects.add(request + " " + route);
    Server server = eligible.get(route.endpoint());
    assertThat(configured).isTrue();
    assertThat(server).as("an eligible endpoint").isNotNull();
    assertThat(decided.tried).as("not tried before").doesNotContain(server);
    assertThat(route.attempt()).isEqualTo(++decided.attempts).isLessThanOrEqualTo(retries + 1);
    assertThat(route.criticality()).isEqualTo(criticality(decided.facts.model()));
    if (route.criticality() == Criticality.SHEDDABLE) {
      assertThat(server.full()).as("sheddable to a full endpoint").isFalse();
    }
    decided.at = server;
    decided.tried.add(server);
    server.inFlight.add(decided);
    server.sent++;
    live.put(request, decided);
  }

  @Override
  public void reject(long request, Rejection rejection) {
    Live decided = decided(request);
    effects.add(request + " " + rejection);
    live.remove(request);
    assertThat(rejection.reason()).isEqualTo(expectedRefusal(decided));
  }

  private Live decided(long request) {
    Live decided = deciding;
    if (decided == null) {
      throw new AssertionError("effect on " + request + " without a decision");
    }
    deciding = null;
    if (decided.attempts == 0) {
      assertThat(everSeen.add(request)).as("ticket never used before").isTrue();
    }
    return decided;
  }

  /** Null when it must be sent. */
  private @Nullable Reason expectedRefusal(Live request) {
    if (!configured) {
      return Reason.NOT_CONFIGURED;
    }
    if (request.firstToken || request.attempts > retries) {
      return Reason.UPSTREAM_FAILED;
    }
    List<Server> left = eligible.values().stream().filter(s -> !request.tried.contains(s)).toList();
    if (left.isEmpty()) {
      return request.attempts > 0 ? Reason.UPSTREAM_FAILED : Reason.NO_READY_ENDPOINTS;
    }
    boolean shed =
        criticality(request.facts.model()) == Criticality.SHEDDABLE
            && left.stream().allMatch(Server::full);
    return shed ? Reason.SATURATED : null;
  }

  /** What is compared with the core's own account: everything but the prefix matches. */
  List<EndpointSnapshot> snapshot() {
    List<EndpointSnapshot> all = new ArrayList<>();
    eligible.values().forEach(s -> all.add(snapshot(s, false)));
    gone.forEach(s -> all.add(snapshot(s, true)));
    return sorted(all);
  }

  static List<EndpointSnapshot> withoutMatches(List<EndpointSnapshot> snapshots) {
    return sorted(
        snapshots.stream()
            .map(
                s ->
                    new EndpointSnapshot(
                        s.name(),
                        s.inFlight(),
                        s.awaitingFirstToken(),
                        s.scrapedWaiting(),
                        s.kvUsage(),
                        s.sent(),
                        0,
                        0,
                        s.leaving()))
            .toList());
  }

  private static List<EndpointSnapshot> sorted(List<EndpointSnapshot> snapshots) {
    return snapshots.stream().sorted(Comparator.comparing(EndpointSnapshot::toString)).toList();
  }

  private static EndpointSnapshot snapshot(Server s, boolean leaving) {
    return new EndpointSnapshot(
        s.name,
        s.inFlight.size(),
        s.awaiting(),
        Math.max(0, s.metrics.waiting()),
        s.metrics.kvUsage(),
        s.sent,
        0,
        0,
        leaving);
  }
}
