package io.fairlead.lab.simulator;

import io.fairlead.core.HealthChange;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.LatencyConfig;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.RequestShape;
import io.fairlead.lab.workload.ServedModel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Takes down what happens in a run. */
final class RunRecorder {

  private static final double NANOS_PER_MILLI = 1e6;
  private static final double NANOS_PER_SECOND = 1e9;

  /** Looks at the load in the course of a run. */
  private static final int LOOKS = 300;

  private final SimulationSpec spec;
  private final Settings settings;
  private final long warmUpNanos;
  private final long lookNanos;
  private final Map<String, Criticality> bands = new HashMap<>();
  private final Map<String, LatencyConfig> latencies = new HashMap<>();
  private final Samples ttft = new Samples();
  private final Samples tpot = new Samples();
  private final Samples endToEnd = new Samples();
  private final Samples normalised = new Samples();
  private final Map<String, Tenant> tenants = new TreeMap<>();
  private final Map<String, Answered> flows = new TreeMap<>();
  private final Map<Criticality, Band> waiting = new EnumMap<>(Criticality.class);
  private final List<List<Double>> load = new ArrayList<>();
  private final DisruptionRecorder disruption;
  private final CourseRecorder course;
  private long arrived;
  private long completed;
  private long rejected;
  private long failed;
  private long good;
  private long promptTokens;
  private long cachedTokens;
  private long believedTokens;
  private long believedTooMany;
  private long believedTooFew;
  private double shareErrors;
  private long outputTokens;
  private long lastMeasuredEnd;
  private long end;

  /** Tokens that a tenant asked for and got. */
  private static final class Tenant {
    private long asked;
    private long got;
  }

  /** Answers that one tenant had from one model. */
  private static final class Answered {
    private long arrived;
    private long rejected;
    private long good;
    private final Samples ttft = new Samples();
    private final Samples endToEnd = new Samples();
  }

  /** Requests of one criticality without a first token: now, and at each look. */
  private static final class Band {
    private int now;
    private final List<Double> looks = new ArrayList<>();
  }

  RunRecorder(SimulationSpec spec) {
    this.spec = spec;
    settings = spec.settings();
    warmUpNanos = (long) (settings.warmUpSeconds() * NANOS_PER_SECOND);
    lookNanos = Math.max(1, (long) (settings.seconds() * NANOS_PER_SECOND / LOOKS));
    disruption = new DisruptionRecorder(spec, lookNanos / NANOS_PER_SECOND);
    course = new CourseRecorder(warmUpNanos, lookNanos);
    for (ServedModel model : spec.workload().models()) {
      bands.put(model.name(), model.criticality());
      latencies.put(model.name(), model.latency());
    }
    Membership.of(spec.pool(), spec.events())
        .members()
        .forEach(server -> load.add(new ArrayList<>()));
    for (Criticality criticality : Criticality.values()) {
      waiting.put(criticality, new Band());
    }
  }

  /** Nanoseconds between two looks at the load. */
  long lookNanos() {
    return lookNanos;
  }

  void look(List<SimulatedServer> servers) {
    for (int i = 0; i < servers.size(); i++) {
      load.get(i).add((double) servers.get(i).inFlight());
    }
    for (Band band : waiting.values()) {
      band.looks.add((double) band.now);
    }
    disruption.look();
    course.look();
  }

  private static double millis(@Nullable Duration asked, double otherwise) {
    return asked == null ? otherwise : asked.toNanos() / NANOS_PER_MILLI;
  }

  private boolean measured(Flight flight) {
    return flight.arrivedAt >= warmUpNanos;
  }

  void arrived(Flight flight) {
    disruption.arrived(flight);
    course.arrived();
    band(flight).now++;
    if (measured(flight)) {
      arrived++;
      tenant(flight).asked += tokens(flight.shape);
      answered(flight).arrived++;
    }
  }

  void rejected(long now, Flight flight) {
    band(flight).now--;
    course.left();
    end = now;
    if (measured(flight)) {
      rejected++;
      answered(flight).rejected++;
    }
  }

  void failed(long now, Flight flight) {
    disruption.failed(flight);
    course.left();
    if (!flight.answered) {
      band(flight).now--;
    }
    end = now;
    if (measured(flight)) {
      failed++;
    }
  }

  void sent(long now, int server) {
    disruption.sent(now, server);
  }

  void healthChanged(int picker, HealthChange change) {
    disruption.healthChanged(picker, change);
  }

  void pickerLeft(int picker) {
    disruption.pickerLeft(picker);
  }

  void firstToken(Flight flight) {
    band(flight).now--;
  }

  void finished(long now, Flight flight) {
    end = now;
    course.completed(flight.shape.promptTokens(), flight.cachedTokens);
    if (!measured(flight)) {
      return;
    }
    RequestShape shape = flight.shape;
    double first = (flight.firstTokenAt - flight.arrivedAt) / NANOS_PER_MILLI;
    double all = (now - flight.arrivedAt) / NANOS_PER_MILLI;
    int others = shape.outputTokens() - 1;
    endToEnd.add(all);
    Answered answered = answered(flight);
    answered.endToEnd.add(all);
    normalised.add(all / shape.outputTokens());
    // Of an answer in one piece nobody sees the first token, nor how long each of the others took.
    if (flight.streamed) {
      ttft.add(first);
      answered.ttft.add(first);
      if (others > 0) {
        tpot.add((all - first) / others);
      }
    }
    LatencyConfig asked = latencies.getOrDefault(shape.model(), LatencyConfig.UNSET);
    double mostFirst = millis(asked.firstToken(), settings.ttftObjectiveMillis());
    double mostOthers = others * millis(asked.eachToken(), settings.tpotObjectiveMillis());
    boolean inTime =
        flight.streamed
            ? first <= mostFirst && all - first <= mostOthers
            : all <= mostFirst + mostOthers;
    if (inTime) {
      good++;
      answered.good++;
    }
    completed++;
    promptTokens += shape.promptTokens();
    cachedTokens += flight.cachedTokens;
    int error = flight.believedCached - flight.cachedTokens;
    believedTokens += flight.believedCached;
    believedTooMany += Math.max(0, error);
    believedTooFew += Math.max(0, -error);
    shareErrors += (double) Math.abs(error) / shape.promptTokens();
    outputTokens += shape.outputTokens();
    tenant(flight).got += tokens(shape);
    lastMeasuredEnd = now;
  }

  private Band band(Flight flight) {
    Criticality criticality = bands.getOrDefault(flight.shape.model(), Criticality.SHEDDABLE);
    return Objects.requireNonNull(waiting.get(criticality));
  }

  private Tenant tenant(Flight flight) {
    return tenants.computeIfAbsent(flight.shape.tenant(), name -> new Tenant());
  }

  /** A flow is there from its first request on, so that one that is never served is seen, too. */
  private Answered answered(Flight flight) {
    return flows.computeIfAbsent(flow(flight.shape), name -> new Answered());
  }

  private static long tokens(RequestShape shape) {
    return (long) shape.promptTokens() + shape.outputTokens();
  }

  /**
   * The run is over.
   *
   * @param lastArrival when arrivals ended, by themselves or by the clock
   */
  RunResult result(List<SimulatedServer> servers, long lastArrival) {
    double most = 0;
    double sum = 0;
    double squares = 0;
    long preemptions = 0;
    for (SimulatedServer server : servers) {
      double busy = server.engine().busyNanos();
      most = Math.max(most, busy);
      sum += busy;
      squares += busy * busy;
      preemptions += server.engine().preemptions();
    }
    long measuredUntil = Math.max(lastArrival, lastMeasuredEnd);
    return new RunResult(
        spec.workload().name(),
        spec.policy().name(),
        spec.pool().text(),
        spec.seed(),
        Math.max(end, lastArrival) / NANOS_PER_SECOND,
        (measuredUntil - warmUpNanos) / NANOS_PER_SECOND,
        arrived,
        completed,
        rejected,
        failed,
        ttft.distribution(),
        tpot.distribution(),
        endToEnd.distribution(),
        normalised.distribution(),
        promptTokens,
        cachedTokens,
        outputTokens,
        arrived == 0 ? 0 : (double) good / arrived,
        sum == 0 ? 1 : most * servers.size() / sum,
        jain(),
        squares == 0 ? 1 : sum * sum / (servers.size() * squares),
        preemptions,
        servers.stream().mapToLong(server -> server.engine().adapterLoads()).sum(),
        servers.stream().mapToLong(SimulatedServer::mostInQueue).max().orElse(0),
        series(load, servers.stream().map(server -> server.spec().name()).toList()),
        series(waiting.values().stream().map(band -> band.looks).toList(), bandNames()),
        disruption.result(servers, lookNanos / NANOS_PER_SECOND),
        flows(),
        course.result(lastArrival));
  }

  /** How well pickers knew caches. */
  BelievedRun.Beliefs beliefs() {
    return new BelievedRun.Beliefs(
        completed,
        promptTokens,
        believedTokens,
        cachedTokens,
        believedTooMany,
        believedTooFew,
        completed == 0 ? 0 : shareErrors / completed);
  }

  /** Models tell flows apart where there are several, and so do tenants. */
  private String flow(RequestShape shape) {
    return bands.size() < 2
        ? shape.tenant()
        : shape.tenant().isEmpty() ? shape.model() : shape.model() + " " + shape.tenant();
  }

  /** How each flow has fared so far. */
  List<Flow> flows() {
    List<Flow> all = new ArrayList<>();
    flows.forEach(
        (name, answered) -> {
          Distribution whole = answered.endToEnd.distribution();
          double first = answered.ttft.distribution().quantile(0.99);
          all.add(
              new Flow(
                  name,
                  answered.arrived,
                  whole.count(),
                  answered.rejected,
                  answered.good,
                  whole.mean(),
                  first));
        });
    return all;
  }

  private List<String> bandNames() {
    return waiting.keySet().stream().map(band -> band.name().toLowerCase(Locale.ROOT)).toList();
  }

  private TimeSeries series(List<List<Double>> lines, List<String> names) {
    List<TimeSeries.Line> all = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      all.add(new TimeSeries.Line(names.get(i), lines.get(i)));
    }
    return new TimeSeries(lookNanos / NANOS_PER_SECOND, all);
  }

  /** (sum of x)^2 / (n · sum of x^2) over tenants, x being the share of its tokens that one got. */
  private double jain() {
    double sum = 0;
    double squares = 0;
    for (Tenant tenant : tenants.values()) {
      double share = (double) tenant.got / tenant.asked;
      sum += share;
      squares += share * share;
    }
    return squares == 0 ? 1 : sum * sum / (tenants.size() * squares);
  }
}
