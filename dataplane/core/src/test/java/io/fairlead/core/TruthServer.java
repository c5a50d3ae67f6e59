package io.fairlead.core;

import io.fairlead.crds.config.Criticality;
import io.fairlead.plugin.Endpoint;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** One incarnation of an endpoint, as it should be: sums are made anew each time. */
final class TruthServer {

  /** What it is called now, with the labels of now. */
  EndpointSpec spec;

  /** What plugins are shown for it; null until one has been told. */
  @Nullable Endpoint shown;

  /** Sent here and not ended, or their prompts; first sent first. */
  final List<TruthRequest> requests = new ArrayList<>();

  /** Those of them whose prompts are computed here. */
  private final List<TruthRequest> line = new ArrayList<>();

  private long headSince;
  private EndpointMetrics metrics = EndpointMetrics.UNKNOWN;

  /** KV cache sizes that the server named last, and before; a single odd one shrinks nothing. */
  private long kvTokens;

  private long kvTokensBefore;
  private int adapterSlots;
  private String baseModel = "";

  /** What servers of the pool have told of. */
  private final PoolAdapters known;

  private final List<String> resident = new ArrayList<>();

  /**
   * Of these, what a server has told of or this one has answered for: the others drive out none.
   */
  private final Set<String> proven = new HashSet<>();

  private final Map<String, Integer> adapterRequests = new HashMap<>();

  /** Those of them: one that came before its server told of adapters is none. */
  private final Set<TruthRequest> onAdapters = new HashSet<>();

  /** When the last of their requests was over, and those that ran nevertheless afterwards. */
  private final Map<String, Long> adapterEnds = new HashMap<>();

  private final Set<String> adaptersOfOthers = new HashSet<>();
  private long since;
  private long until;
  private long sent;
  private long matchedBlocks;
  private long promptBlocks;

  /** How many were found to be through before their clients were. */
  int unread;

  TruthServer(EndpointSpec spec, PoolAdapters known, long now) {
    this.spec = spec;
    this.known = known;
    this.since = now;
    this.until = now;
  }

  boolean isProcess(EndpointSpec other) {
    return spec.name().equals(other.name())
        && spec.incarnation().equals(other.incarnation())
        && spec.address().equals(other.address())
        && spec.port() == other.port();
  }

  String destination() {
    return Route.destination(spec.address(), spec.port());
  }

  void comesBack(long now) {
    since = now;
    metrics = EndpointMetrics.UNKNOWN;
    adaptersOfOthers.clear();
  }

  /** 0 for unknown. */
  private long kvTokens() {
    return Math.max(kvTokens, kvTokensBefore);
  }

  /** Whether its cache has room for a prompt of so many tokens, which are an estimate. */
  boolean fits(int tokens) {
    return kvTokens() == 0 || 1.1 * tokens <= kvTokens();
  }

  void scraped(long now, EndpointSpec scraped, long begunAt, EndpointMetrics scrape) {
    if (!isProcess(scraped) || begunAt < since) {
      return;
    }
    metrics = scrape;
    if (scrape.waiting() >= 0 && scrape.running() >= 0) {
      settleHeldUp(now, begunAt, scrape.waiting() + scrape.running());
    }
    if (scrape.blocks() > 0 && scrape.blockSize() > 0) {
      kvTokensBefore = kvTokens;
      kvTokens = (long) scrape.blocks() * scrape.blockSize();
    }
    adapterSlots = scrape.maxAdapters() > 0 ? scrape.maxAdapters() : adapterSlots;
    if (!scrape.baseModel().isEmpty()) {
      baseModel = scrape.baseModel();
    }
    known.add(begunAt, scrape.runningAdapters());
    known.add(begunAt, scrape.waitingAdapters());
    for (String adapter : scrape.runningAdapters()) {
      if (!resident.contains(adapter)) {
        resident.add(adapter);
        proven.add(adapter);
      }
    }
    resident.stream().filter(known::knows).forEach(proven::add);
    adaptersOfOthers.clear();
    if (scrape.running() + Math.max(0, scrape.waiting()) > requests.size()) {
      scrape.runningAdapters().stream()
          .filter(adapter -> adapterRequests.getOrDefault(adapter, 0) == 0)
          .filter(
              adapter ->
                  begunAt - adapterEnds.getOrDefault(adapter, begunAt - 1_000_000_000)
                      > 200_000_000)
          .forEach(adaptersOfOthers::add);
    }
    evict();
  }

  /** What is held up, and is not shown, counts no more; until more is shown than counts. */
  private void settleHeldUp(long now, long begunAt, int shown) {
    advance(now);
    int less = (int) sum(counted(), r -> r.at == this && begunAt < cameAt(r) ? 0 : 1) - shown;
    int more = shown - counted().size();
    for (TruthRequest request : requests) {
      boolean counts = !request.unread;
      if (request.at != this) {
        continue; // its prompt alone is here
      }
      if (!counts && more > 0) {
        request.unread = false;
        more--;
      } else if (counts && request.heldUp && request.heldUpSince <= begunAt && less > 0) {
        request.unread = true;
        unread++;
        less--;
      }
    }
  }

  /** When it came here; never as long as its prompt is elsewhere. */
  private static long cameAt(TruthRequest request) {
    return request.prefillAt == null ? request.thereSince : Long.MAX_VALUE;
  }

  /** Those that its engine is not through with. */
  private List<TruthRequest> counted() {
    return requests.stream().filter(r -> r.at != this || !r.unread).toList();
  }

  void send(long now, TruthRequest request, int matched, boolean prefills) {
    advance(now);
    requests.add(request);
    sent++;
    matchedBlocks += matched;
    promptBlocks += request.facts.blocks().length;
    if (prefills) {
      if (line.isEmpty()) {
        headSince = now;
      }
      line.add(request);
    }
    if (needsAdapter(request.target)) {
      resident.remove(request.target);
      resident.add(request.target);
      adapterRequests.merge(request.target, 1, Integer::sum);
      onAdapters.add(request);
      if (known.knows(request.target)) {
        proven.add(request.target);
      }
      adaptersOfOthers.remove(request.target);
      evict();
    }
  }

  /** It has answered a request for this target, or computed its prompt. */
  void served(String target) {
    if (resident.contains(target) && proven.add(target)) {
      evict();
    }
  }

  void prefilled(long now, TruthRequest request) {
    int index = line.indexOf(request);
    if (index == 0) {
      headSince = now;
    }
    if (index >= 0) {
      line.remove(index);
    }
  }

  void leaves(long now, TruthRequest request) {
    advance(now);
    prefilled(now, request);
    requests.remove(request);
    if (onAdapters.remove(request)) {
      int left = adapterRequests.merge(request.target, -1, Integer::sum);
      if (left == 0) {
        adapterEnds.put(request.target, now);
      }
      if (left == 0 && !proven.contains(request.target)) {
        resident.remove(request.target);
      }
      evict();
    }
  }

  /** Must come before every change of what decodes and of the tokens in flight. */
  void advance(long now) {
    double passed = now - until;
    double decoding = decoding();
    double tokens = tokens();
    for (TruthRequest request : requests) {
      if (decodes(request)) {
        request.decodingArea += passed * decoding;
        request.tokensArea += passed * tokens;
      }
    }
    until = now;
  }

  /** Whether the server itself has said that nothing sheddable may come. */
  boolean saidFull() {
    return Math.max(0, metrics.waiting()) >= 5 || kvUsage() >= 0.8;
  }

  /**
   * Whether nothing sheddable may come. How fast prompts are computed is learned, so how many of
   * those sent wait is taken from what is shown, while nothing has been booked since. It is learned
   * for the pool, from any endpoint's first tokens: where prompts are in line, what was found when
   * this one's account changed last may differ from what would be found now.
   */
  boolean full() {
    boolean now = saidFull() || (shown == null ? awaiting() : shown.waiting()) >= 5;
    if (!(shown instanceof EndpointState state)) {
      return now;
    }
    boolean found = state.saturation() >= 1;
    TruthModel.hold(found == now || !line.isEmpty(), "how full it was found, it is");
    return found;
  }

  int queueDepth() {
    return Math.max(Math.max(0, metrics.waiting()), awaiting());
  }

  double kvUsage() {
    return metrics.kvUsage() >= 0 ? Math.min(1, metrics.kvUsage()) : Double.NaN;
  }

  int decoding() {
    return counted().size() - awaiting();
  }

  long tokens() {
    return sum(counted(), r -> r.tokens);
  }

  Account account() {
    int custom = metrics.values().getOrDefault("custom", -1.0).intValue();
    List<TruthRequest> counted = counted();
    return new Account(
        counted.size(),
        awaiting(),
        decoding(),
        (int) sum(counted, r -> r.criticality == Criticality.CRITICAL ? 1 : 0),
        (int) sum(counted, r -> r.criticality == Criticality.SHEDDABLE ? 1 : 0),
        tokens(),
        sum(counted, TruthRequest::uncached),
        queueDepth(),
        line(),
        new Account.Scrape(
            Math.max(0, metrics.waiting()),
            Math.max(0, metrics.running()),
            kvUsage(),
            kvTokens(),
            custom < 0 ? Double.NaN : custom),
        new Account.Lora(
            adapterSlots,
            Math.min(resident.size(), adapterSlots),
            (int)
                Account.TARGETS.stream()
                    .filter(
                        t ->
                            metrics.runningAdapters().contains(t)
                                || metrics.waitingAdapters().contains(t))
                    .count(),
            Account.targets(this::needsAdapter),
            Account.targets(resident::contains),
            Account.targets(metrics.runningAdapters()::contains),
            Account.targets(metrics.waitingAdapters()::contains)));
  }

  EndpointSnapshot snapshot(boolean leaving) {
    return new EndpointSnapshot(
        spec.name(),
        requests.size(),
        awaiting(),
        Math.max(0, metrics.waiting()),
        kvUsage(),
        sent,
        matchedBlocks,
        promptBlocks,
        leaving,
        Pool.WELL,
        Long.MIN_VALUE);
  }

  private Account.Line line() {
    if (line.isEmpty()) {
      return Account.Line.EMPTY;
    }
    TruthRequest head = line.getFirst();
    return new Account.Line(
        line.size(),
        sum(line, TruthRequest::uncached),
        total(line, TruthRequest::attention),
        head.uncached(),
        head.attention(),
        headSince);
  }

  private int awaiting() {
    return (int) sum(requests, r -> decodes(r) ? 0 : 1);
  }

  private boolean decodes(TruthRequest request) {
    return request.at == this && request.firstToken;
  }

  private boolean needsAdapter(String target) {
    boolean known = !baseModel.isEmpty();
    boolean reported =
        metrics.runningAdapters().contains(target) || metrics.waitingAdapters().contains(target);
    return adapterSlots > 0
        && !target.isEmpty()
        && !target.equals(baseModel)
        && (known || reported);
  }

  /** The first come that no request in flight uses. */
  private void evict() {
    while (proven.size() > adapterSlots) {
      String unused =
          resident.stream()
              .filter(adapter -> adapterRequests.getOrDefault(adapter, 0) == 0)
              .filter(adapter -> !adaptersOfOthers.contains(adapter))
              .findFirst()
              .orElse(null);
      if (unused == null) {
        return;
      }
      resident.remove(unused);
      proven.remove(unused);
      adapterRequests.remove(unused);
    }
  }

  private static long sum(List<TruthRequest> requests, ToLongFunction<TruthRequest> part) {
    long sum = 0;
    for (TruthRequest request : requests) {
      sum += part.applyAsLong(request);
    }
    return sum;
  }

  private static double total(List<TruthRequest> requests, ToDoubleFunction<TruthRequest> part) {
    double sum = 0;
    for (TruthRequest request : requests) {
      sum += part.applyAsDouble(request);
    }
    return sum;
  }
}
