package io.fairlead.lab.load;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fairlead.crds.config.Criticality;
import io.fairlead.lab.Way;
import io.fairlead.lab.load.OverloadReport.Phase;
import io.fairlead.lab.load.OverloadReport.Served;
import io.fairlead.lab.workload.ServedModel;
import io.fairlead.lab.workload.Workload;
import io.fairlead.lab.workload.Workloads;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.UnaryOperator;

/**
 * The program of {@code hack/load overload}: more requests of three criticalities than model
 * servers can serve, on several ways to them in turn, and what becomes of whom.
 */
public final class OverloadRun {

  private static final Duration TIMEOUT = Duration.ofMinutes(10);

  /** Before the first load, on each way: processes that have just begun are slow. Not counted. */
  private static final long WARM_UP_SECONDS = 15;

  private static final double WARM_UP_FACTOR = 0.7;

  private final OverloadOptions options;

  private OverloadRun(OverloadOptions options) {
    this.options = options;
  }

  /**
   * Prints a table line by line as loads end, writes a report, and exits 0 if the first way did
   * what it must: see {@link OverloadReport#problems()}.
   *
   * @param args see {@link OverloadOptions}
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    OverloadOptions options;
    try {
      options = OverloadOptions.parse(args);
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(2);
      return;
    }
    OverloadReport report = new OverloadRun(options).run();
    new ObjectMapper()
        .writerWithDefaultPrettyPrinter()
        .writeValue(options.report().toFile(), report);
    List<String> problems = report.problems();
    problems.forEach(System.err::println);
    System.exit(problems.isEmpty() ? 0 : 1);
  }

  private OverloadReport run() throws InterruptedException {
    for (Way way : options.ways()) {
      phase(way, WARM_UP_FACTOR, WARM_UP_SECONDS);
    }
    List<Phase> phases = new ArrayList<>();
    OverloadReport.HEAD.forEach(System.out::println);
    for (double factor : options.factors()) {
      for (Way way : options.ways()) {
        System.err.printf("%s × what can be served: %s%n", factor, way.name());
        Phase phase = phase(way, factor, options.seconds());
        OverloadReport.lines(phase, options.seconds()).forEach(System.out::println);
        phases.add(phase);
      }
    }
    return new OverloadReport(
        options.ratePerSecond(), options.seconds(), options.streamShare(), options.seed(), phases);
  }

  private Phase phase(Way way, double factor, long seconds) throws InterruptedException {
    double rate = options.ratePerSecond() * factor;
    Workload workload =
        Workloads.named("priority", new Workloads.Options(OptionalDouble.of(rate), 1));
    LoadSettings settings =
        new LoadSettings(TIMEOUT, 1, options.streamShare(), true, UnaryOperator.identity());
    Queue<Answered> answers = new ConcurrentLinkedQueue<>();
    EngineQueues.Waiting waiting;
    try (var engines = new EngineQueues(options.servers());
        var run = new LoadRun(way.url(), settings, answers::add)) {
      run.send(workload.start(options.seed()), Long.MAX_VALUE, Duration.ofSeconds(seconds));
      waiting = engines.seen();
    }
    Map<Criticality, Served> models = new EnumMap<>(Criticality.class);
    for (ServedModel model : workload.models()) {
      List<Answered> own =
          answers.stream().filter(each -> each.request().model().equals(model.name())).toList();
      models.put(model.criticality(), Served.of(own));
    }
    return new Phase(factor, way.name(), models, waiting);
  }
}
