package io.fairlead.core;

import static io.fairlead.core.TruthModel.hold;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.TruthPlugins.Broken;
import io.fairlead.core.TruthPlugins.Fault;
import io.fairlead.core.receipt.DecidedRequest;
import io.fairlead.core.receipt.KeptRequest;
import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.plugin.Endpoint;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** One core with its truth, driven by random events from a seed. */
final class RandomEvents {

  static final int ENDPOINTS = 8;

  private static final long MILLISECOND = 1_000_000;
  private static final long STREAM = 15 * 60 * 1000 * MILLISECOND;
  private static final int MOST_OPEN = 250;
  private static final List<String> MODELS = List.of("", "base", "critical", "split", "unknown");
  private static final List<Failure> FAILURES = List.of(Failure.values());

  /** Those that there can be once an answer has begun. */
  private static final List<Failure> LATE_FAILURES =
      FAILURES.stream().filter(failure -> !failure.answered()).toList();

  private static final List<Outcome> OUTCOMES = List.of(Outcome.values());

  final PoolCore core;
  final TruthModel truth;

  /** How many events of each kind there were. */
  final Map<String, Integer> counts = new TreeMap<>();

  private final SplittableRandom random;
  private final TruthPlugins plugins;
  private final RandomConfigs configs;

  /** Tickets in flight, some over since; those of streams, until when they stream. */
  private final List<Long> open = new ArrayList<>();

  private final Map<Long, Long> streams = new HashMap<>();
  private final List<Long> over = new ArrayList<>();
  private final int[] incarnations = new int[ENDPOINTS];
  private final int[] addresses = new int[ENDPOINTS];
  private final int[] labels = new int[ENDPOINTS];
  private int steps;

  RandomEvents(long seed) {
    random = new SplittableRandom(seed);
    int retries = random.nextInt(4);
    core = new PoolCore(new PoolLimits(retries, 40, 400, 1 << 20, 1 << 20, 1 << 20));
    truth = new TruthModel(retries);
    plugins = new TruthPlugins(truth);
    configs = new RandomConfigs(random, plugins, truth);
    // The clock's origin means nothing: it may be below zero, and pass it.
    truth.now = random.nextLong(4_000_000 * MILLISECOND) - 2_000_000 * MILLISECOND;
  }

  void step() {
    pass();
    // Busy and quiet times take turns, so that endpoints fill up and run empty.
    int arrivals = steps++ / 1000 % 2 == 0 ? 400 : 200;
    int kind = random.nextInt(1000);
    if (kind < arrivals && open.size() < MOST_OPEN) {
      arrive();
    } else if (kind < arrivals + 200) {
      firstToken(anyTicket());
    } else if (kind < 830) {
      end(anyTicket());
    } else if (kind < 850) {
      heldUp(anyTicket());
    } else if (kind < 930) {
      attemptFailed(anyTicket());
    } else if (kind < 980) {
      scrape();
    } else if (kind < 995) {
      endpoints();
    } else {
      configure();
    }
    if (truth.wrong != null) {
      throw truth.wrong;
    }
  }

  private void pass() {
    truth.now +=
        switch (random.nextInt(500)) {
          case 0 -> random.nextLong(60_000 * MILLISECOND);
          case 1, 2, 3, 4, 5, 6, 7, 8, 9 -> random.nextLong(200 * MILLISECOND);
          default -> random.nextLong(2 * MILLISECOND);
        };
  }

  private void count(String kind) {
    counts.merge(kind, 1, Integer::sum);
  }

  private void arrive() {
    TruthRequest request = new TruthRequest(facts());
    truth.arrived();
    truth.expectDecision(request);
    if (random.nextInt(200) == 0) {
      plugins.breakNext(Fault.SCORE);
    }
    guarded(() -> core.arrive(truth.now, request.facts, truth));
    truth.expectDecided();
    checkReceipt(request);
    if (!truth.live.containsKey(request.ticket)) {
      count("refused");
      over.add(request.ticket);
      return;
    }
    count("dispatch");
    if (random.nextInt(300) == 0) {
      streams.put(request.ticket, truth.now + STREAM);
    } else {
      open.add(request.ticket);
    }
  }

  /** One is there where the log keeps it, and says what has happened. */
  private void checkReceipt(TruthRequest request) {
    KeptRequest kept = core.receipts().find(request.facts.id());
    if (kept == null) {
      return;
    }
    count("receipt");
    ReceiptChecks.check(kept, truth.eligible.keySet());
    DecidedRequest receipt = kept.request();
    TruthServer at = truth.live.containsKey(request.ticket) ? request.at : null;
    if (at != null) {
      hold(receipt.endpoint().equals(at.spec.name()), "the receipt names the endpoint");
      hold(receipt.outcome().equals("open"), "the receipt is open");
      hold(receipt.promptTokens() == request.tokens, "the receipt's prompt tokens");
    } else {
      hold(!receipt.outcome().equals("open"), "the receipt of a refused request is closed");
    }
    hold(core.receipts().size() <= 500, "no more receipts than allowed");
    hold(core.receipts().bytes() <= 1 << 20, "no more bytes of receipts than allowed");
  }

  private RequestFacts facts() {
    long[] blocks = new long[random.nextInt(60)];
    long chain = random.nextInt(5);
    for (int i = 0; i < blocks.length; i++) {
      chain = chain * 31 + 7 + (random.nextInt(20) == 0 ? random.nextInt(3) : 0);
      blocks[i] = chain;
    }
    int tokens =
        switch (random.nextInt(8)) {
          case 0 -> 0;
          case 1 -> random.nextInt(1_000_000);
          default -> blocks.length * 16 + random.nextInt(16);
        };
    Subset subset = null;
    if (random.nextInt(20) == 0) {
      List<String> allowed = new ArrayList<>();
      for (int i = random.nextInt(3); i > 0; i--) {
        allowed.add(address(random.nextInt(ENDPOINTS)));
      }
      subset = new Subset(allowed);
      count("subset");
    }
    String model = MODELS.get(random.nextInt(MODELS.size()));
    return RequestFactsBuilder.of(model, random.nextLong(), blocks)
        .id("r" + steps)
        .prompt(new PromptSize(4L * tokens, random.nextInt(8) == 0 ? random.nextInt(20_000) : 0))
        .maxOutputTokens(random.nextInt(100) - 1)
        .bodyBytes(tokens * 4L)
        .subset(subset)
        .build();
  }

  private void firstToken(long ticket) {
    TruthRequest request = truth.live.get(ticket);
    if (request != null) {
      count(request.firstToken ? "later chunk" : "first token");
      truth.firstToken(request);
    }
    core.firstByte(truth.now, ticket);
  }

  private void heldUp(long ticket) {
    TruthRequest request = truth.live.get(ticket);
    if (request == null) {
      core.heldUp(truth.now, ticket, random.nextBoolean());
    } else if (request.firstToken) {
      boolean held = !request.heldUp || random.nextInt(4) > 0;
      count(held ? "held up" : "held up no more");
      request.heldUp(truth.now, held);
      core.heldUp(truth.now, ticket, held);
    }
  }

  private void end(long ticket) {
    if (streams.getOrDefault(ticket, truth.now) > truth.now) {
      firstToken(ticket);
      return;
    }
    TruthRequest request = truth.live.remove(ticket);
    Outcome outcome = OUTCOMES.get(random.nextInt(OUTCOMES.size()));
    Usage usage =
        switch (random.nextInt(4)) {
          case 0 -> Usage.UNKNOWN;
          case 1 -> new Usage(random.nextInt(1000), -1, -1);
          default -> new Usage(random.nextInt(), random.nextInt(), random.nextInt());
        };
    if (request != null) {
      if (streams.remove(ticket) != null) {
        count("stream of 15 minutes");
      }
      count(request.firstToken ? outcome.code() : outcome.code() + " before a token");
      Usage believed = usage.plausible(request.facts.maxOutputTokens());
      truth.ending = request.end(truth.now, outcome, believed);
      truth.learn(request, believed);
      if (outcome == Outcome.COMPLETED) {
        truth.served(request);
      }
      truth.leave(request);
      over.add(ticket);
    }
    tellObservers(request != null, () -> core.ended(truth.now, ticket, outcome, usage));
    if (random.nextInt(10) == 0) {
      count("end again");
      tellObservers(false, () -> core.ended(truth.now, ticket, outcome, usage));
    }
  }

  private void attemptFailed(long ticket) {
    TruthRequest request = streams.containsKey(ticket) ? null : truth.live.get(ticket);
    if (request == null || request.passed) {
      if (!truth.live.containsKey(ticket)) {
        core.attemptFailed(truth.now, ticket, Failure.DIED);
      }
      return;
    }
    count("attempt failed");
    List<Failure> possible = request.firstToken ? LATE_FAILURES : FAILURES;
    Failure failure = possible.get(random.nextInt(possible.size()));
    truth.ending = request.end(truth.now, Outcome.FAILED, Usage.UNKNOWN);
    truth.expectDecisionAfter(failure, request);
    long told = truth.told;
    if (random.nextInt(50) == 0) {
      plugins.breakNext(Fault.SCORE);
    }
    guarded(() -> core.attemptFailed(truth.now, ticket, failure));
    truth.expectDecided();
    boolean again = truth.live.containsKey(ticket);
    hold(
        truth.told - told == (request.passed ? 0 : truth.observers),
        "each observer is told that the attempt is over, unless its answer is passed");
    count(request.passed ? "passed" : again ? "retry" : "given up");
    if (!again) {
      over.add(ticket);
    }
  }

  /** Each observer is told once, also when one of them breaks. */
  private void tellObservers(boolean expected, Runnable event) {
    long told = truth.told;
    if (random.nextInt(100) == 0) {
      plugins.breakNext(Fault.COMPLETED);
    }
    guarded(event);
    hold(truth.told - told == (expected ? truth.observers : 0), "each observer is told once");
  }

  private void guarded(Runnable event) {
    truth.thrown = false;
    boolean caught = false;
    try {
      event.run();
    } catch (Broken e) {
      caught = true;
      count("plugin broke");
    }
    plugins.breakNext(Fault.NONE);
    hold(caught == truth.thrown, "a plugin's failure is passed on");
  }

  private void scrape() {
    int number = random.nextInt(ENDPOINTS);
    int age = random.nextInt(2);
    count(age == 0 ? "scrape" : "scrape of a former life");
    EndpointSpec scraped = spec(number, incarnations[number] - age);
    long begunAt = truth.now - random.nextLong(random.nextInt(10) == 0 ? STREAM : 50 * MILLISECOND);
    EndpointMetrics metrics = RandomScrapes.next(random, this::count);
    TruthServer server = truth.eligible.get(scraped.name());
    if (server != null) {
      int before = server.unread;
      server.scraped(truth.now, scraped, begunAt, metrics);
      counts.merge("through before its client", server.unread - before, Integer::sum);
    }
    core.scraped(truth.now, scraped, begunAt, metrics);
  }

  private void endpoints() {
    List<EndpointSpec> specs = new ArrayList<>();
    for (int i = 0; i < ENDPOINTS; i++) {
      switch (random.nextInt(36)) {
        case 0, 1, 2 -> {
          incarnations[i]++;
          count("restart");
        }
        case 3 -> {
          addresses[i]++;
          count("new address");
        }
        case 4 -> {
          labels[i]++;
          count("new labels");
        }
        default -> {}
      }
      if (random.nextInt(4) != 0) {
        specs.add(spec(i, incarnations[i]));
      }
    }
    if (random.nextInt(20) == 0) {
      specs.clear();
    }
    count("flap");
    endpoints(specs);
  }

  private void endpoints(List<EndpointSpec> specs) {
    truth.endpoints(specs);
    core.endpoints(truth.now, specs);
  }

  private EndpointSpec spec(int number, int incarnation) {
    return new EndpointSpec(
        "e" + number,
        "i" + incarnation,
        address(number),
        8000,
        Map.of("label", "v" + labels[number]));
  }

  private String address(int number) {
    return "10.0." + addresses[number] % 4 + "." + number;
  }

  private void configure() {
    count("config");
    core.configure(truth.now, configs.next());
    truth.configured = true;
  }

  /** Everything is as it should be, to the last number. */
  void compare() {
    count("quiesce");
    assertThat(core.active()).isEqualTo(truth.live.size());
    assertThat(core.ready()).isEqualTo(truth.configured && !truth.eligible.isEmpty());
    assertThat(TruthModel.sorted(core.snapshot())).isEqualTo(truth.snapshot());
    Set<Integer> slots = new HashSet<>();
    for (TruthServer server : truth.servers()) {
      Endpoint shown = server.shown;
      if (shown != null) {
        assertThat(Account.shown(shown)).as(server.spec.name()).isEqualTo(server.account());
        int slot = PoolEndpoint.slot(shown);
        assertThat(slots.add(slot)).as("a slot of its own").isTrue();
        assertThat(slot).as("slots are used again").isLessThan(truth.mostServers);
        assertThat(shown.labels()).isEqualTo(server.spec.labels());
      }
    }
    long entry = truth.live.keySet().stream().mapToLong(t -> t & 0xFFFFFF).max().orElse(0);
    assertThat(entry).as("entries are used again").isLessThan(Math.max(64, 2 * truth.mostLive));
  }

  /** Ends all that is live; nothing may be left. */
  void drain() {
    truth.now += STREAM;
    List.copyOf(truth.live.keySet()).forEach(this::end);
    compare();
    assertThat(core.active()).isZero();
    assertThat(core.snapshot())
        .allMatch(s -> s.inFlight() == 0 && s.awaitingFirstToken() == 0 && !s.leaving());
    assertThat(truth.servers()).allMatch(s -> s.account().tokens() == 0);
    endpoints(List.of());
    compare();
    assertThat(core.snapshot()).isEmpty();
  }

  /** Mostly a live ticket, sometimes one that is over, sometimes none that ever was. */
  private long anyTicket() {
    int kind = random.nextInt(20);
    if (kind == 0) {
      count("ticket that never was");
      return neverATicket();
    }
    if (kind <= 2 && !over.isEmpty()) {
      count("ticket that is over");
      return over.get(over.size() - 1 - random.nextInt(Math.min(over.size(), 500)));
    }
    if (kind == 3 && !streams.isEmpty()) {
      return streams.keySet().stream()
          .sorted()
          .skip(random.nextInt(streams.size()))
          .findFirst()
          .orElseThrow();
    }
    while (!open.isEmpty()) {
      int index = random.nextInt(open.size());
      long ticket = open.get(index);
      if (truth.live.containsKey(ticket)) {
        return ticket;
      }
      open.set(index, open.getLast());
      open.removeLast();
    }
    return 0;
  }

  private long neverATicket() {
    long some = open.isEmpty() ? 1 : open.getFirst();
    return switch (random.nextInt(5)) {
      case 0 -> 0;
      case 1 -> -some;
      case 2 -> some | 1L << 62;
      case 3 -> some & 0xFFFFFF;
      default -> random.nextLong();
    };
  }
}
