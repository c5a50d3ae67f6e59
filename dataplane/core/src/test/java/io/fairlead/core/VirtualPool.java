package io.fairlead.core;

import io.fairlead.core.RequestFacts.Delivery;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.FlowControlConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.SchedulerConfig;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A core among servers that may fail, clients, scrapes and probes, in virtual time: what the shell
 * would tell the core is told here. A request whose answer is not passed on can't be sent again by
 * a proxy, and is by a gateway.
 */
final class VirtualPool implements RequestListener, PoolListener {

  static final long MILLI = 1_000_000;
  static final long SECOND = 1_000 * MILLI;

  private static final long FIRST_TOKEN = 20 * MILLI;
  private static final long SLOW_HEAD = 350 * MILLI;
  private static final long ANSWER = 400 * MILLI;
  private static final long PIECE = 100 * MILLI;
  private static final String SHEDDABLE = "low";
  private static final long TICK = 100 * MILLI;

  /** Of a prompt that begins like others. */
  private static final int TOKENS = 272;

  /** In the place of a number of tokens: as many as others have. */
  private static final int USUAL = -1;

  /** The group of one client that makes nothing but mistakes. */
  private static final int OF_MISTAKES = 1_000;

  private static final long SCRAPE = 200 * MILLI;

  /** What a server does with what is sent to it. */
  enum Manner {
    WELL,
    /** Nobody listens on its port. */
    REFUSES,
    /** Connections to it come about never. */
    SWALLOWS,
    /** The same, and what it has stands still: its machine is gone. */
    VANISHES,
    /** Answers 500 at once. */
    FAILS_FAST,
    /** Answers 404 at once, as one that lacks the model. */
    TURNS_AWAY,
    /** Answers 400 at once. */
    FINDS_ALL_INVALID,
    /** The same to one in three. */
    FINDS_A_THIRD_INVALID,
    /** The same to what is new; what it has it finishes, and its pages are fine. */
    DRAINS,
    /** Takes requests and says nothing; its pages are fine. */
    FREEZES,
    /** The same, its pages too. */
    FREEZES_ALL,
    /** Serves; its pages don't. */
    LOSES_METRICS,
    /** Takes ten times as long. */
    SLOW,
    /** Serves requests, but answers probes with errors. */
    FAILS_PROBES,
    /** Fails requests, but answers probes. */
    PASSES_PROBES,
    /** Begins its answers, and breaks them off; to probes, too. */
    BREAKS_OFF,
    /** The same of every other request, and of half of the probes. */
    BREAKS_HALF_OFF,
    /** The same right after the head, of which nothing follows; the second is slow to begin. */
    BREAKS_HEAD_OFF,
    BREAKS_LATE_HEAD_OFF,
    /** The same of all requests; probes it answers. */
    BREAKS_REQUESTS_OFF,
    /** Sends heads at once and nothing else; probes it answers, and its pages are fine. */
    SENDS_HEADS_ALONE,
    /** The same, 300 ms after they were sent. */
    BREAKS_OFF_LATE,
    /** A token each five seconds; whoever has waited for half a minute leaves. */
    TRICKLES,
    /** Takes thirty times as long, and tells nobody. */
    CRAWLS,
    /** Fails the first request that it gets. */
    FAILS_ONCE,
    /** Fails one request in twenty. */
    FAILS_SOME
  }

  /** A model server. */
  static final class Server {
    final String name;
    Manner manner = Manner.WELL;
    int incarnation;
    double progress;
    double startedAt = 1_000;

    /** Whether every other page is of another worker, which began earlier and has done less. */
    boolean twoWorkers;

    int pages;
    int running;

    /** Until when it computes a long prompt, and says nothing. */
    long computesUntil = Long.MIN_VALUE;

    long lastSent = Long.MIN_VALUE;
    int sent;
    final List<Long> sentAt = new ArrayList<>();

    /** Of each of these, which model it was for. */
    final List<String> sentFor = new ArrayList<>();

    /** Models that it answers 404 for. */
    final Set<String> lacks = new HashSet<>();

    Server(String name) {
      this.name = name;
    }

    EndpointSpec spec() {
      return new EndpointSpec(name, "i" + incarnation, "10.0.0.1", 8000, Map.of());
    }

    int sentAfter(long time) {
      return (int) sentAt.stream().filter(at -> at >= time).count();
    }

    int sentFor(String model, long from, long to) {
      int count = 0;
      for (int i = 0; i < sentAt.size(); i++) {
        boolean then = sentAt.get(i) >= from && sentAt.get(i) < to;
        count += then && sentFor.get(i).equals(model) ? 1 : 0;
      }
      return count;
    }
  }

  /** A request as its client and the shell see it. */
  private static final class Exchange {
    private final Delivery delivery;
    private final boolean mistaken;
    private @Nullable Server at;

    /** Grows with each send: what was planned for an earlier one is void. */
    private int attempt;

    /** What its prompt takes. */
    private final long prefill;

    private boolean headSeen;
    private boolean over;
    private final long arrivedAt;

    Exchange(Delivery delivery, boolean mistaken, long arrivedAt, long prefill) {
      this.prefill = prefill;
      this.delivery = delivery;
      this.mistaken = mistaken;
      this.arrivedAt = arrivedAt;
    }

    private Server server() {
      return Objects.requireNonNull(at);
    }
  }

  final PoolCore core;
  final List<Server> servers = new ArrayList<>();
  final SplittableRandom random;
  long now;

  /** When requests failed, and how. */
  final List<String> failures = new ArrayList<>();

  final List<Long> failedAt = new ArrayList<>();
  final List<HealthChange> changes = new ArrayList<>();
  int arrived;
  int completed;
  int rejected;
  int disconnected;
  int waited;
  int events;
  boolean probing = true;

  /** How long an answer takes where nothing is wrong. */
  long answer = ANSWER;

  /** Share of requests whose answer is streamed. */
  double streamed = 1;

  /** Share of requests whose clients leave soon after their answers begin. */
  double impatient;

  /** Whether heads come at once, long before the first byte of a body. */
  boolean headsFirst;

  /**
   * Share of requests that a model thinks about before anything of its answer comes, and how long.
   */
  double thinking;

  long thought;

  /** How long clients wait for the first byte of a body. */
  long patience = 5 * SECOND;

  /** Whether a frontend leaves requests as soon as they are sent. */
  boolean leaves;

  /** Share of requests that are sheddable, of a model of their own. */
  double sheddable;

  boolean gateway = true;

  /** What requests ask for that are not sheddable, each as often. */
  List<String> models = List.of("m");

  /** Whether what a client asks by mistake is answered with errors. */
  private boolean poisoned;

  /** So many common beginnings prompts have; 0 for prompts that share nothing. */
  int groups;

  /** What requests ask for themselves. */
  Timeouts timeouts = Timeouts.UNSET;

  /** Longest time from a request's arrival to the first byte of its answer. */
  long longestWait;

  /** Whether requests still come. */
  boolean traffic = true;

  /** Whether a client whose request is over sends the next one. */
  boolean closedLoop;

  private final EventQueue queue = new EventQueue();
  private final Map<Long, Exchange> open = new HashMap<>();
  private Set<String> listed = new HashSet<>();

  VirtualPool(long seed, int size, String profile) {
    this(seed, size, profile, Criticality.STANDARD);
  }

  VirtualPool(long seed, int size, String profile, Criticality criticality) {
    this(seed, size, profile(profile), criticality);
  }

  VirtualPool(long seed, int size, SchedulerConfig scheduler, Criticality criticality) {
    random = new SplittableRandom(seed);
    core = new PoolCore(PoolLimits.DEFAULT, this);
    PoolConfig config =
        Pool.config(
            scheduler, Pool.model("m", criticality), Pool.model(SHEDDABLE, Criticality.SHEDDABLE));
    core.configure(now, new ConfigCompiler(List.of()).compile(config));
    for (int i = 0; i < size; i++) {
      servers.add(new Server("s" + i));
    }
    list(servers);
    every(TICK, () -> core.tick(now));
    for (int i = 0; i < size; i++) {
      Server server = servers.get(i);
      at(SCRAPE * i / size, () -> scrape(server));
    }
  }

  private static SchedulerConfig profile(String name) {
    return new SchedulerConfig(List.of(), List.of(new ProfileConfig(name, List.of())), null);
  }

  /**
   * A pool in which requests wait that find no room; there is room for so many at each.
   *
   * @param evicts whether sheddable requests in flight make room
   */
  static VirtualPool withQueue(long seed, int size, int room, boolean evicts) {
    SchedulerConfig scheduler =
        new SchedulerConfig(
            List.of(
                new PluginConfig("cost", "work-cost", Map.of()),
                new PluginConfig(
                    "room", "concurrency-detector", Map.of("maxConcurrency", (long) room))),
            List.of(),
            "room",
            Map.of("flowControl", true),
            new FlowControlConfig(
                null, null, null, null, evicts, null, null, null, null, List.of()),
            null,
            List.of());
    return new VirtualPool(seed, size, scheduler, Criticality.STANDARD);
  }

  /** These are the pool's endpoints from now on. */
  void list(List<Server> all) {
    listed = new HashSet<>();
    all.forEach(server -> listed.add(server.name));
    core.endpoints(now, all.stream().map(Server::spec).toList());
  }

  void at(long time, Runnable run) {
    queue.add(Math.max(now, time), run);
  }

  private void every(long pause, Runnable run) {
    at(
        now + pause,
        () -> {
          run.run();
          every(pause, run);
        });
  }

  /** Requests come at this rate until then, at random. */
  void traffic(double perSecond, long end) {
    long gap = (long) (-Math.log(1 - random.nextDouble()) * SECOND / perSecond);
    if (now + gap < end) {
      at(
          now + gap,
          () -> {
            if (traffic) {
              arrive();
              traffic(perSecond, end);
            }
          });
    }
  }

  /** One client sends requests of one beginning at this pace, which any server finds invalid. */
  void mistakes(double perSecond, long from, long end) {
    for (long time = from; time < end; time += (long) (SECOND / perSecond)) {
      at(time, () -> arrive(true));
    }
  }

  /** The same, so many at once, which any server answers with an error. */
  void poison(double perSecond, int atOnce, long from, long end) {
    poisoned = true;
    for (long time = from; time < end; time += (long) (SECOND * atOnce / perSecond)) {
      for (int i = 0; i < atOnce; i++) {
        at(time, () -> arrive(true));
      }
    }
  }

  /** From one time to another a server behaves like that, then well again. */
  void fault(int server, Manner manner, long from, long to) {
    at(from, () -> servers.get(server).manner = manner);
    at(to, () -> well(servers.get(server)));
  }

  /** The same of all servers. */
  void faultOfAll(Manner manner, long from, long to) {
    for (int i = 0; i < servers.size(); i++) {
      fault(i, manner, from, to);
    }
  }

  void well(Server server) {
    server.manner = Manner.WELL;
  }

  VirtualPool runUntil(long end) {
    queue.run(
        end,
        time -> {
          now = time;
          events++;
        });
    now = end;
    return this;
  }

  void arrive() {
    arrive(false);
  }

  private void arrive(boolean mistaken) {
    arrive(mistaken, USUAL, FIRST_TOKEN);
  }

  /** One request alone with a prompt of so many tokens, which takes its server that long. */
  void arrive(int tokens, long prefill) {
    arrive(false, tokens, prefill);
  }

  private void arrive(boolean mistaken, int tokens, long prefill) {
    arrived++;
    Delivery delivery = new Delivery(random.nextDouble() < streamed, gateway);
    Exchange exchange = new Exchange(delivery, mistaken, now, prefill);
    beginning = exchange;
    RequestFacts facts =
        RequestFactsBuilder.of(
                sheddable > 0 && random.nextDouble() < sheddable ? SHEDDABLE : model(),
                random.nextLong(),
                mistaken ? prompt(OF_MISTAKES) : prompt())
            .prompt(PromptSize.ofTokens(tokens == USUAL ? usualTokens() : tokens))
            .bodyBytes(1_000)
            .delivery(delivery)
            .timeouts(timeouts)
            .build();
    core.arrive(now, facts, this);
    beginning = null;
  }

  private int usualTokens() {
    return groups == 0 ? 100 + random.nextInt(200) : TOKENS;
  }

  private String model() {
    return models.size() == 1 ? models.getFirst() : models.get(random.nextInt(models.size()));
  }

  /** Blocks of a prompt: three quarters of it are its group's. */
  private long[] prompt() {
    return groups == 0 ? new long[0] : prompt(random.nextInt(groups));
  }

  private long[] prompt(int group) {
    long[] blocks = new long[TOKENS / 16];
    for (int i = 0; i < blocks.length; i++) {
      boolean common = i < blocks.length * 3 / 4;
      blocks[i] = common ? (group + 1) * 1_000L + i : random.nextLong();
    }
    return blocks;
  }

  /** The request whose first effect is to come. */
  private @Nullable Exchange beginning;

  @Override
  public void waits(long request, Criticality criticality) {
    open.put(request, Objects.requireNonNull(beginning));
    beginning = null;
    waited++;
  }

  @Override
  public void send(long request, Route route) {
    Exchange exchange = beginning;
    if (exchange != null) {
      open.put(request, exchange);
      beginning = null;
    } else {
      exchange = open.get(request);
    }
    if (exchange == null || exchange.over || exchange.headSeen) {
      throw new AssertionError("sent, though over or answered: " + request);
    }
    exchange.attempt++;
    Server to =
        servers.stream().filter(s -> s.name.equals(route.endpoint())).findFirst().orElseThrow();
    if (!listed.contains(to.name)) {
      throw new AssertionError("sent to one that has left");
    }
    exchange.at = to;
    to.sent++;
    to.lastSent = now;
    to.sentAt.add(now);
    to.sentFor.add(route.targetModel());
    if (leaves) {
      to.running++;
      open.remove(request);
      at(now + ANSWER, () -> to.running--);
      core.left(now, request, ticket -> completed++);
      return;
    }
    if (to.lacks.contains(route.targetModel())) {
      later(2 * MILLI, request, exchange.attempt, () -> turnAway(request, Outcome.REFUSED));
    } else if (exchange.mistaken && to.manner == Manner.WELL) {
      later(2 * MILLI, request, exchange.attempt, () -> mistaken(request));
    } else {
      if (impatient > 0 && random.nextDouble() < impatient) {
        long stays = 2 * FIRST_TOKEN + random.nextLong(100 * MILLI);
        later(stays, request, exchange.attempt, () -> leave(request));
      }
      serve(request, exchange, to, exchange.attempt);
    }
  }

  private void serve(long request, Exchange exchange, Server to, int attempt) {
    long pace = to.manner == Manner.SLOW ? 10 : to.manner == Manner.CRAWLS ? 30 : 1;
    switch (to.manner) {
      case REFUSES -> later(MILLI / 2, request, attempt, () -> failed(request, Failure.REFUSED));
      case SWALLOWS, VANISHES ->
          later(2 * SECOND, request, attempt, () -> failed(request, Failure.UNREACHABLE));
      case FAILS_FAST, PASSES_PROBES ->
          later(2 * MILLI, request, attempt, () -> failed(request, Failure.ERROR));
      case TURNS_AWAY ->
          later(2 * MILLI, request, attempt, () -> turnAway(request, Outcome.REFUSED));
      case FINDS_ALL_INVALID ->
          later(2 * MILLI, request, attempt, () -> turnAway(request, Outcome.INVALID));
      case FINDS_A_THIRD_INVALID -> {
        if (random.nextInt(3) == 0) {
          later(2 * MILLI, request, attempt, () -> turnAway(request, Outcome.INVALID));
        } else {
          answer(request, exchange, attempt, pace);
        }
      }
      case BREAKS_OFF, BREAKS_HALF_OFF, BREAKS_REQUESTS_OFF -> {
        if (to.manner == Manner.BREAKS_HALF_OFF && to.sent % 2 == 0) {
          answer(request, exchange, attempt, pace);
          return;
        }
        later(FIRST_TOKEN, request, attempt, () -> piece(request, attempt));
        later(FIRST_TOKEN * 2, request, attempt, () -> breakOff(request));
      }
      case BREAKS_HEAD_OFF, BREAKS_LATE_HEAD_OFF -> {
        long head = to.manner == Manner.BREAKS_HEAD_OFF ? FIRST_TOKEN : SLOW_HEAD;
        later(head, request, attempt, () -> core.progress(now, request));
        later(head + MILLI, request, attempt, () -> breakOff(request));
      }
      case SENDS_HEADS_ALONE -> {
        later(MILLI, request, attempt, () -> core.progress(now, request));
        later(patience, request, attempt, () -> leave(request));
      }
      case BREAKS_OFF_LATE -> {
        later(FIRST_TOKEN, request, attempt, () -> piece(request, attempt));
        later(300 * MILLI, request, attempt, () -> breakOff(request));
      }
      case FAILS_ONCE -> {
        to.manner = Manner.WELL;
        later(2 * MILLI, request, attempt, () -> failed(request, Failure.ERROR));
      }
      case DRAINS -> later(2 * MILLI, request, attempt, () -> failed(request, Failure.UNAVAILABLE));
      case FREEZES, FREEZES_ALL -> {}
      case TRICKLES -> {
        for (int i = 0; i < 6; i++) {
          long token = FIRST_TOKEN + 5L * i * SECOND;
          later(token, request, attempt, () -> piece(request, attempt));
        }
        later(30 * SECOND, request, attempt, () -> leave(request));
      }
      case FAILS_SOME -> {
        if (random.nextInt(20) == 0) {
          later(2 * MILLI, request, attempt, () -> failed(request, Failure.ERROR));
        } else {
          answer(request, exchange, attempt, pace);
        }
      }
      case WELL, SLOW, CRAWLS, LOSES_METRICS, FAILS_PROBES ->
          answer(request, exchange, attempt, pace);
    }
  }

  private void answer(long request, Exchange exchange, int attempt, long pace) {
    long longer = exchange.prefill - FIRST_TOKEN;
    long from = now + longer;
    if (headsFirst) {
      later(MILLI, request, attempt, () -> core.progress(now, request));
    }
    if (thinking > 0 && random.nextDouble() < thinking) {
      from += thought;
    }
    if (longer > 0) {
      Server server = exchange.server();
      server.computesUntil = Math.max(server.computesUntil, now + exchange.prefill);
    }
    if (exchange.delivery.streamed()) {
      for (long piece = FIRST_TOKEN; piece < answer; piece += PIECE) {
        at(from + piece * pace, () -> piece(request, attempt));
      }
    } else {
      for (long step = SECOND; step < answer; step += SECOND) {
        at(from + step * pace, () -> computes(request, attempt));
      }
    }
    at(from + answer * pace, () -> ended(request, attempt));
  }

  /** The request, if this attempt of it is still under way. */
  private @Nullable Exchange current(long request, int attempt) {
    Exchange exchange = open.get(request);
    return exchange != null && exchange.attempt == attempt ? exchange : null;
  }

  private boolean frozen(Server server) {
    return server.manner == Manner.FREEZES
        || server.manner == Manner.FREEZES_ALL
        || server.manner == Manner.VANISHES;
  }

  /** A part of an answer that comes in one piece. */
  private void computes(long request, int attempt) {
    Exchange exchange = current(request, attempt);
    if (exchange != null && !frozen(exchange.server())) {
      exchange.server().progress += 100;
    }
  }

  private void piece(long request, int attempt) {
    Exchange exchange = current(request, attempt);
    if (exchange == null) {
      return;
    }
    if (frozen(exchange.server())) {
      at(now + SECOND, () -> piece(request, attempt));
      return;
    }
    exchange.server().progress += 100;
    if (exchange.headSeen) {
      core.progress(now, request);
    } else {
      exchange.headSeen = true;
      longestWait = Math.max(longestWait, now - exchange.arrivedAt);
      if (!gateway) {
        core.progress(now, request); // a proxy tells of the head
      }
      core.firstByte(now, request);
    }
  }

  private void ended(long request, int attempt) {
    Exchange exchange = current(request, attempt);
    if (exchange == null) {
      return;
    }
    if (frozen(exchange.server())) {
      at(now + SECOND, () -> ended(request, attempt));
      return;
    }
    exchange.server().progress += 100;
    if (!exchange.headSeen) {
      longestWait = Math.max(longestWait, now - exchange.arrivedAt);
      core.firstByte(now, request);
    }
    over(request, exchange);
    completed++;
    core.ended(now, request, Outcome.COMPLETED, new Usage(-1, 20, -1, 22));
  }

  private void turnAway(long request, Outcome outcome) {
    Exchange exchange = Objects.requireNonNull(open.get(request));
    fail(request, exchange, "turned away");
    core.ended(now, request, outcome, Usage.UNKNOWN);
  }

  private void mistaken(long request) {
    if (poisoned) {
      failed(request, Failure.ERROR);
    } else {
      turnAway(request, Outcome.INVALID);
    }
  }

  private void leave(long request) {
    over(request, Objects.requireNonNull(open.get(request)));
    disconnected++;
    core.ended(now, request, Outcome.DISCONNECTED, new Usage(-1, -1, -1, 6));
  }

  /** A proxy's client can't be told from an endpoint: both end the stream in the same way. */
  private void breakOff(long request) {
    Exchange exchange = Objects.requireNonNull(open.get(request));
    fail(request, exchange, "broken off");
    core.ended(now, request, gateway ? Outcome.FAILED : Outcome.DISCONNECTED, Usage.UNKNOWN);
  }

  private void later(long nanos, long request, int attempt, Runnable run) {
    at(
        now + nanos,
        () -> {
          if (current(request, attempt) != null) {
            run.run();
          }
        });
  }

  private void failed(long request, Failure failure) {
    core.attemptFailed(now, request, failure);
  }

  /** A server's process is gone: what it had breaks. */
  void kill(Server server) {
    server.manner = Manner.REFUSES;
    for (long request : new ArrayList<>(open.keySet())) {
      Exchange exchange = open.get(request);
      if (exchange != null && exchange.at == server && !exchange.over) {
        if (exchange.headSeen) {
          fail(request, exchange, "broken off");
          core.ended(now, request, Outcome.FAILED, Usage.UNKNOWN);
        } else {
          core.attemptFailed(now, request, Failure.DIED);
        }
      }
    }
  }

  /** Another process takes its place. */
  void restart(Server server) {
    server.manner = Manner.WELL;
    server.progress = 0;
    server.startedAt += 100;
  }

  /** A client goes away. */
  void hangUp() {
    open.keySet().stream()
        .sorted()
        .skip(random.nextInt(Math.max(1, open.size())))
        .findFirst()
        .ifPresent(
            request -> {
              over(request, Objects.requireNonNull(open.get(request)));
              disconnected++;
              core.ended(now, request, Outcome.DISCONNECTED, Usage.UNKNOWN);
            });
  }

  private void scrape(Server server) {
    at(now + SCRAPE, () -> scrape(server));
    if (!listed.contains(server.name)) {
      return;
    }
    EndpointSpec spec = server.spec();
    long begun = now;
    switch (server.manner) {
      case REFUSES -> core.unreachable(now, spec, begun, Failure.REFUSED);
      case SWALLOWS, VANISHES ->
          at(now + SECOND, () -> core.unreachable(now, spec, begun, Failure.UNREACHABLE));
      case FREEZES_ALL, LOSES_METRICS, CRAWLS ->
          at(now + SECOND, () -> core.unreachable(now, spec, begun, Failure.FIRST_BYTE_LATE));
      default -> {
        boolean other = server.twoWorkers && server.pages++ % 2 == 0;
        core.scraped(
            now,
            spec,
            begun,
            new EndpointMetrics(
                0,
                server.running,
                0.1,
                16,
                1_000,
                "",
                -1,
                List.of(),
                List.of(),
                Map.of(),
                other ? server.startedAt - 0.4 : server.startedAt,
                other ? server.progress / 2 : server.progress));
      }
    }
  }

  @Override
  public boolean probe(Probe probe) {
    if (!probing) {
      return false;
    }
    Server server =
        servers.stream().filter(s -> s.name.equals(probe.endpoint().name())).findFirst().get();
    switch (server.manner) {
      case REFUSES -> at(now + MILLI, () -> core.probeFailed(now, probe.id(), Failure.REFUSED));
      case SWALLOWS, VANISHES ->
          at(now + 2 * SECOND, () -> core.probeFailed(now, probe.id(), Failure.UNREACHABLE));
      case FAILS_FAST, DRAINS, FAILS_PROBES ->
          at(now + MILLI, () -> core.probeFailed(now, probe.id(), Failure.ERROR));
      case FREEZES, FREEZES_ALL, CRAWLS -> {}
      case BREAKS_OFF, BREAKS_HALF_OFF, BREAKS_HEAD_OFF, BREAKS_LATE_HEAD_OFF -> {
        boolean breaks = server.manner != Manner.BREAKS_HALF_OFF || random.nextBoolean();
        at(
            now + 2 * FIRST_TOKEN,
            () -> {
              if (breaks) {
                core.probeFailed(now, probe.id(), Failure.BROKEN_OFF);
              } else {
                core.probed(now, probe.id());
              }
            });
      }
      default ->
          at(Math.max(now, server.computesUntil) + FIRST_TOKEN, () -> core.probed(now, probe.id()));
    }
    return true;
  }

  @Override
  public void healthChanged(HealthChange change) {
    changes.add(change);
  }

  @Override
  public void pass(long request) {
    fail(request, Objects.requireNonNull(open.get(request)), "passed");
    core.ended(now, request, Outcome.FAILED, Usage.UNKNOWN);
  }

  @Override
  public void reject(long request, Rejection rejection) {
    Exchange exchange = beginning;
    if (exchange == null) {
      exchange = open.get(request);
    }
    beginning = null;
    if (exchange == null || exchange.over) {
      throw new AssertionError("rejected, though over: " + request);
    }
    rejected++;
    fail(request, exchange, rejection.reason().code());
  }

  /** A frontend has a word with its loop before it says what becomes of the request. */
  @Override
  public void evict(long request, Rejection rejection) {
    at(
        now + MILLI,
        () -> {
          Exchange exchange = open.get(request);
          if (exchange != null && !exchange.headSeen) {
            fail(request, exchange, rejection.reason().code());
            core.ended(now, request, Outcome.DISCONNECTED, Usage.UNKNOWN);
          }
        });
  }

  private void fail(long request, Exchange exchange, String how) {
    over(request, exchange);
    failures.add(how);
    failedAt.add(now);
  }

  private void over(long request, Exchange exchange) {
    if (exchange.over) {
      throw new AssertionError("ends twice: " + request);
    }
    exchange.over = true;
    open.remove(request);
    if (closedLoop) {
      at(now + MILLI, this::arrive);
    }
  }

  int open() {
    return open.size();
  }

  int failedBetween(long from, long to) {
    return (int) failedAt.stream().filter(at -> at >= from && at < to).count();
  }

  HealthState health(int server) {
    String name = servers.get(server).name;
    return core.snapshot().stream()
        .filter(s -> s.name().equals(name) && !s.leaving())
        .findFirst()
        .orElseThrow()
        .health()
        .state();
  }
}
