package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.Rejection.Reason;
import io.fairlead.core.TruthRequest.End;
import io.fairlead.core.account.TokenEstimate;
import io.fairlead.crds.config.Criticality;
import io.fairlead.plugin.Endpoint;
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

  final Map<String, TruthServer> eligible = new LinkedHashMap<>();
  final List<TruthServer> gone = new ArrayList<>();

  /** What servers have told of. */
  private final PoolAdapters adapters = new PoolAdapters();

  final Map<Long, TruthRequest> live = new LinkedHashMap<>();
  final Map<String, Criticality> models = new HashMap<>();

  /** Of models that are not in {@link #models}. */
  Criticality unconfigured = Criticality.STANDARD;

  /** What came of the events, if it is kept. */
  final List<String> effects = new ArrayList<>();

  boolean logging;
  final Set<Long> everSeen = new HashSet<>();
  final int retries;

  /** Share of requests that may be sent again. */
  double retryShare = 0.2;

  /** Observers in force. */
  int observers;

  boolean configured;
  long now;

  /** Most endpoints, leaving ones included, and most requests that there were at once. */
  int mostServers;

  int mostLive;

  /** Sends, those with a prefill elsewhere, and calls of observers with a completion. */
  long sends;

  long pairs;
  long told;

  /** Of the decision being made: what plugins saw and chose, and whether one broke. */
  final Map<TruthServer, Integer> matched = new HashMap<>();

  @Nullable TruthServer prefiller;
  boolean thrown;
  @Nullable AssertionError wrong;
  private @Nullable TruthRequest deciding;

  /** Told of every prompt length that the core is told of. */
  private final TokenEstimate estimate = new TokenEstimate();

  /** Whether the attempt that failed may be followed by another. */
  private boolean sendsAgain;

  /** Who may get the request that is being decided, and whether some of them were full before. */
  private List<TruthServer> left = List.of();

  private boolean someFull;

  /** What ended the last attempt that failed. */
  private Failure failure = Failure.DIED;

  /** Requests that may be sent again, as the pool's budget has it, and since when. */
  private double budget = 10;

  private long budgetAt;
  private boolean budgetBegun;

  /** What observers have to be told of the event under way. */
  @Nullable End ending;

  TruthModel(int retries) {
    this.retries = retries;
  }

  Criticality criticality(String model) {
    Criticality unknown = model.isEmpty() ? Criticality.STANDARD : unconfigured;
    return models.getOrDefault(model, unknown);
  }

  /** To be called before the event that decides about this request. */
  void expectDecision(TruthRequest request) {
    expectDecided();
    deciding = request;
    left = eligible.values().stream().filter(s -> may(request, s)).toList();
    someFull = left.stream().anyMatch(TruthServer::full);
    matched.clear();
    prefiller = null;
    thrown = false;
  }

  /** An attempt failed: the request's own bounds and the pool's say whether there is another. */
  void expectDecisionAfter(Failure failed, TruthRequest request) {
    failure = failed;
    boolean worked =
        switch (failure) {
          case REFUSED, UNREACHABLE, RESET_UNSENT, UNAVAILABLE, NO_SOCKET ->
              now - request.sentAt >= 1_000_000_000;
          default -> true;
        };
    sendsAgain =
        !request.firstToken
            && request.attempts <= retries
            && !(worked && request.workedOn)
            && eligible.values().stream().anyMatch(server -> may(request, server))
            && takesFromBudget();
    request.workedOn |= sendsAgain && worked;
    request.apart = sendsAgain && (request.prefillAt != null || gone.contains(request.at));
    if (request.apart) {
      leave(request);
    }
    expectDecision(request);
  }

  /** One in five of those that arrive, five a second, fifty at once. */
  private boolean takesFromBudget() {
    if (retryShare == 0) {
      return false;
    }
    if (budgetBegun && now > budgetAt) {
      budget = Math.min(50, budget + (now - budgetAt) * 1e-9 * 5);
    }
    budgetBegun = true;
    budgetAt = now;
    if (budget < 1) {
      return false;
    }
    budget--;
    return true;
  }

  private void notSentAgain() {
    if (sendsAgain) {
      budget = Math.min(50, budget + 1);
    }
  }

  /** A request arrived. */
  void arrived() {
    budget = Math.min(50, budget + retryShare);
  }

  /** A server has reported how long the request's prompt was. */
  void learn(TruthRequest request, Usage usage) {
    PromptSize prompt = request.facts.prompt();
    estimate.learn(request.target, prompt.textBytes(), prompt.mediaTokens(), usage.promptTokens());
  }

  private int tokens(RequestFacts facts, String target) {
    return estimate.of(target).tokens(facts.prompt().textBytes(), facts.prompt().mediaTokens());
  }

  /** What a number of matched blocks spares the request being decided. */
  int cachedTokens(String target, int blocks) {
    return deciding == null ? -1 : cachedTokens(deciding.facts, target, blocks);
  }

  /** Never the last token. */
  private int cachedTokens(RequestFacts facts, String target, int blocks) {
    PromptSize prompt = facts.prompt();
    double each = estimate.of(target).blockTokens(prompt.textBytes(), prompt.mediaTokens());
    return (int) Math.max(0, Math.min(tokens(facts, target) - 1, Math.floor(blocks * each)));
  }

  void expectDecided() {
    hold(deciding == null, "every decision has one effect");
  }

  /** As an assertion, but cheap enough to be made a hundred million times. */
  static void hold(boolean law, String what) {
    if (!law) {
      throw new AssertionError("does not hold: " + what);
    }
  }

  void endpoints(List<EndpointSpec> specs) {
    List<TruthServer> before = new ArrayList<>(eligible.values());
    List<TruthServer> known = new ArrayList<>(before);
    known.addAll(gone);
    gone.addAll(before);
    eligible.clear();
    for (EndpointSpec spec : specs) {
      TruthServer server =
          known.stream()
              .filter(s -> s.isProcess(spec))
              .findFirst()
              .orElseGet(() -> new TruthServer(spec, adapters, now));
      server.spec = spec;
      if (!before.contains(server)) {
        server.comesBack(now);
      }
      gone.remove(server);
      eligible.put(spec.name(), server);
    }
    dropEmpty();
  }

  /** The server that an endpoint shown to plugins is; remembered when it is shown first. */
  TruthServer server(Endpoint shown) {
    for (TruthServer server : servers()) {
      if (shown.equals(server.shown)) {
        return server;
      }
    }
    EndpointState state = (EndpointState) shown;
    for (TruthServer server : servers()) {
      if (server.shown == null && state.isSame(server.spec)) {
        server.shown = shown;
        return server;
      }
    }
    throw new AssertionError("shown an endpoint that is not there: " + shown.name());
  }

  List<TruthServer> servers() {
    List<TruthServer> all = new ArrayList<>(eligible.values());
    all.addAll(gone);
    return all;
  }

  void firstToken(TruthRequest request) {
    TruthServer server = request.at;
    if (server == null || request.firstToken || request.passed) {
      return;
    }
    served(request);
    TruthServer elsewhere = request.prefillAt;
    if (elsewhere != null) {
      elsewhere.leaves(now, request);
      request.prefillAt = null;
      request.thereSince = now;
    }
    server.advance(now);
    server.prefilled(now, request);
    request.firstToken = true;
    request.firstTokenAt = now;
    dropEmpty();
  }

  /** Some of its answer came, or all of it. */
  void served(TruthRequest request) {
    for (TruthServer server : servers()) {
      if (!request.passed && server.requests.contains(request)) {
        server.served(request.target);
      }
    }
  }

  /** It is nowhere any more. */
  void leave(TruthRequest request) {
    for (TruthServer server : servers()) {
      if (server.requests.contains(request)) {
        server.leaves(now, request);
      }
    }
    request.at = null;
    request.prefillAt = null;
    dropEmpty();
  }

  @Override
  public void send(long ticket, Route route) {
    TruthRequest decided = decided(ticket);
    log(ticket, route);
    TruthServer server = eligible.get(route.endpoint());
    hold(configured, "sent only when configured");
    if (server == null) {
      throw new AssertionError("sent to " + route.endpoint() + ", which is not eligible");
    }
    hold(may(decided, server), "sent where it may go and has not been");
    hold(route.attempt() == decided.attempts + 1, "attempts are counted");
    hold(route.attempt() <= retries + 1, "no more retries than allowed");
    hold(route.criticality() == criticality(decided.facts.model()), "the model's criticality");
    hold(
        route.criticality() != Criticality.SHEDDABLE || !server.saidFull(),
        "nothing sheddable goes to a full endpoint");
    hold(
        matched.getOrDefault(server, route.matchedBlocks()) == route.matchedBlocks(),
        "the match that scorers were shown");
    leave(decided);
    book(decided, server, route.targetModel(), route.matchedBlocks());
    TruthServer elsewhere = decided.prefillAt;
    hold(route.promptTokens() == decided.tokens, "the tokens of the prompt");
    hold(route.expectedCachedTokens() == decided.cached, "the tokens that the match spares");
    List<Route.Header> headers =
        elsewhere == null
            ? List.of()
            : List.of(new Route.Header(TruthPlugins.PREFILLER, elsewhere.destination()));
    hold(route.requestHeaders().equals(headers), "the prefill endpoint is handed over");
    live.put(ticket, decided);
    mostLive = Math.max(mostLive, live.size());
  }

  /** Puts a request on the accounts of who was chosen for it. */
  private void book(TruthRequest request, TruthServer server, String target, int matchedHere) {
    TruthServer elsewhere = prefiller == server ? null : prefiller;
    int matchedThere = elsewhere == null ? matchedHere : matched.getOrDefault(elsewhere, 0);
    sends++;
    request.attempts++;
    request.tried.add(server);
    request.at = server;
    request.prefillAt = elsewhere;
    request.criticality = criticality(request.facts.model());
    request.target = target;
    request.sentAt = now;
    request.thereSince = now;
    request.heldUp = false;
    request.wasHeldUp = false;
    request.unread = false;
    request.decodingArea = 0;
    request.tokensArea = 0;
    request.tokens = tokens(request.facts, target);
    request.cached = cachedTokens(request.facts, target, matchedThere);
    server.send(now, request, matchedHere, elsewhere == null);
    if (elsewhere != null) {
      pairs++;
      hold(eligible.containsValue(elsewhere), "prefill on an eligible endpoint");
      elsewhere.send(now, request, matchedThere, true);
    }
  }

  @Override
  public void pass(long ticket) {
    if (wrong != null) {
      throw wrong;
    }
    TruthRequest decided = decided(ticket);
    log(ticket, "passed");
    hold(failure.answered(), "what is passed on is an answer");
    hold(expectedRefusal(decided) != null, "an answer is passed on where nobody else answers");
    notSentAgain();
    decided.passed = true;
  }

  @Override
  public void reject(long ticket, Rejection rejection) {
    if (wrong != null) {
      throw wrong;
    }
    TruthRequest decided = decided(ticket);
    log(ticket, rejection);
    live.remove(ticket);
    leave(decided);
    assertThat(rejection.reason()).isEqualTo(expectedRefusal(decided));
    hold(
        thrown || decided.attempts == 0 || !failure.answered() || decided.apart,
        "an answer is passed on");
    if (decided.attempts > 0 && !thrown) {
      notSentAgain();
    }
  }

  private void log(long ticket, Object effect) {
    if (logging) {
      effects.add(ticket + " " + effect);
    }
  }

  private TruthRequest decided(long ticket) {
    TruthRequest decided = deciding;
    if (decided == null) {
      throw new AssertionError("effect on " + ticket + " without a decision");
    }
    deciding = null;
    if (decided.attempts == 0) {
      hold(everSeen.add(ticket), "a ticket is never used again");
      decided.ticket = ticket;
    }
    hold(decided.ticket == ticket, "a request keeps its ticket");
    return decided;
  }

  /** Whether this endpoint may still get it, be it full or not. */
  private static boolean may(TruthRequest request, TruthServer server) {
    Subset subset = request.facts.subset();
    return !request.tried.contains(server)
        && (subset == null || subset.allows(server.spec.address(), server.spec.port()));
  }

  /** Null when it must be sent. */
  private @Nullable Reason expectedRefusal(TruthRequest request) {
    if (!configured) {
      return Reason.NOT_CONFIGURED;
    }
    if (thrown) {
      return Reason.PLUGIN_FAILED;
    }
    if (request.attempts > 0 && !sendsAgain) {
      return failed();
    }
    if (left.isEmpty()) {
      return request.attempts > 0 ? failed() : Reason.NO_READY_ENDPOINTS;
    }
    if (request.attempts > 0) {
      int tokens = tokens(request.facts, request.target);
      boolean fitted =
          eligible.values().stream().anyMatch(s -> request.tried.contains(s) && s.fits(tokens));
      if (fitted && left.stream().noneMatch(s -> s.fits(tokens))) {
        return failed();
      }
    }
    // Whether one that is not full gets requests is its health's to say.
    boolean shed = criticality(request.facts.model()) == Criticality.SHEDDABLE && someFull;
    return shed ? Reason.SATURATED : null;
  }

  private Reason failed() {
    return failure == Failure.NO_SOCKET ? Reason.NO_SOCKET : Reason.UPSTREAM_FAILED;
  }

  List<EndpointSnapshot> snapshot() {
    List<EndpointSnapshot> all = new ArrayList<>();
    eligible.values().forEach(s -> all.add(s.snapshot(false)));
    gone.forEach(s -> all.add(s.snapshot(true)));
    return sorted(all);
  }

  static List<EndpointSnapshot> sorted(List<EndpointSnapshot> snapshots) {
    return snapshots.stream()
        .map(Pool::accounts)
        .sorted(Comparator.comparing(EndpointSnapshot::toString))
        .toList();
  }

  private void dropEmpty() {
    gone.removeIf(s -> s.requests.isEmpty());
    mostServers = Math.max(mostServers, eligible.size() + gone.size());
  }
}
