package io.fairlead.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fairlead.lab.load.LoadReport;
import io.fairlead.lab.load.LoadRun;
import io.fairlead.lab.load.LoadSettings;
import io.fairlead.lab.trace.PicksReplay;
import io.fairlead.lab.trace.PicksReport;
import io.fairlead.lab.trace.TraceWorkload;
import io.fairlead.lab.workload.Workload;
import io.fairlead.lab.workload.Workloads;
import io.fairlead.plugin.PluginFactory;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Sends a trace or a named workload to a real server, or a capture through the core. */
@Command(
    name = "replay",
    description = {
      "With --url: sends a trace's requests, or a named workload's, to an OpenAI endpoint at their own"
          + " times. Prompts are made up so that they share what the trace's shared.",
      "With --picks: tells a new core all that a captured one was told, and compares every pick."
    },
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class ReplayCommand implements Callable<Integer> {

  @Parameters(
      arity = "0..1",
      paramLabel = "TRACE",
      description =
          "Mooncake's JSON lines, Azure's CSV, or a capture: its folder, or what its files' names"
              + " begin with.")
  private @Nullable Path trace;

  @Option(
      names = "--url",
      paramLabel = "URL",
      description = "Where to send the requests, e.g. http://127.0.0.1:8080.")
  private @Nullable URI url;

  @Option(
      names = "--picks",
      description =
          "Replay a capture through the core. Exits 1 when a pick that must come out the same does"
              + " not.")
  private boolean picks;

  @Option(
      names = "--workload",
      paramLabel = "NAME",
      description = "In place of a trace: one of the lab's workloads, e.g. gsp-high.")
  private @Nullable String workload;

  @Option(
      names = "--load",
      paramLabel = "N",
      description = "With --workload: its requests or sessions a second, or requests in flight.")
  private @Nullable Double load;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "With --workload: its seed.",
      defaultValue = "1")
  private long seed = 1;

  @Option(
      names = "--speed",
      paramLabel = "FACTOR",
      description = "Seconds of the trace in a second.",
      defaultValue = "1")
  private double speed = 1;

  @Option(names = "--limit", paramLabel = "N", description = "Most requests to send.")
  private @Nullable Long limit;

  @Option(
      names = "--duration",
      paramLabel = "DURATION",
      description =
          "Time of the trace after which nothing is sent, e.g. 10m. Without it: all of a trace, and"
              + " of a workload as long as the lab simulates it.",
      converter = Tuning.GoDuration.class)
  private @Nullable Duration duration;

  @Option(
      names = "--model",
      paramLabel = "NAME",
      description = "Ask for this model, whatever the trace or the workload asks for.")
  private @Nullable String model;

  @Option(
      names = "--timeout",
      paramLabel = "DURATION",
      description = "Longest wait for a whole answer.",
      converter = Tuning.GoDuration.class,
      defaultValue = "10m")
  private Duration timeout = Duration.ofMinutes(10);

  @Option(
      names = "--stream-share",
      paramLabel = "SHARE",
      description = "Share of requests that ask for a stream.",
      defaultValue = "1")
  private double streamShare = 1;

  @Option(
      names = "--ignore-eos",
      paramLabel = "true|false",
      arity = "0..1",
      fallbackValue = "true",
      description =
          "Ask for answers of exactly the trace's length by ignore_eos, a field of vLLM and SGLang;"
              + " --ignore-eos=false for servers that refuse it. max_tokens is set either way.",
      defaultValue = "true")
  private boolean ignoreEos = true;

  @Option(names = "--json", description = "Print the report as JSON.")
  private boolean json;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (picks == (url != null)) {
      throw wrong("Say where to: either --url URL, or --picks for a capture through the core.");
    }
    return picks ? comparePicks() : send();
  }

  private int comparePicks() {
    if (trace == null || workload != null) {
      throw wrong("--picks needs a capture, and no --workload.");
    }
    GivenOptions.refuse(
        spec,
        List.of(
            "--load",
            "--seed",
            "--speed",
            "--limit",
            "--duration",
            "--model",
            "--timeout",
            "--stream-share",
            "--ignore-eos",
            "--json"),
        "goes without --picks, which sends nothing");
    List<PluginFactory> plugins =
        ServiceLoader.load(PluginFactory.class).stream().map(ServiceLoader.Provider::get).toList();
    PicksReport report = PicksReplay.run(trace, plugins);
    print(ReplayText.lines(report));
    out().flush();
    return report.agrees() ? 0 : 1;
  }

  private int send() throws IOException, InterruptedException {
    if (limit != null && limit < 1) {
      throw wrong("--limit is " + limit + "; set 1 or more");
    }
    Workload asked = asked();
    LoadSettings settings =
        new LoadSettings(
            timeout, speed, streamShare, ignoreEos, named -> model == null ? named : model);
    if (url == null) {
      throw wrong("--url is missing.");
    }
    HttpUrl.check("--url", url, "http://localhost:8000");
    try (LoadRun run = new LoadRun(url, settings)) {
      Duration took = send(run, asked);
      LoadReport report = run.report();
      if (json) {
        out()
            .println(
                new ObjectMapper()
                    .writerWithDefaultPrettyPrinter()
                    .writeValueAsString(
                        Map.of(
                            "workload",
                            asked.name(),
                            "seconds",
                            took.toNanos() / 1e9,
                            "load",
                            report)));
      } else {
        if (asked instanceof TraceWorkload whole) {
          print(whole.remark().stream().toList());
        }
        print(ReplayText.lines(asked.name(), took, report));
      }
      out().flush();
      return report.failed() == 0 && report.succeeded() > 0 ? 0 : 1;
    }
  }

  private Duration send(LoadRun run, Workload asked) throws InterruptedException {
    Duration longest = longest();
    long most = limit == null ? Long.MAX_VALUE : limit;
    Sending sending = new Sending(run, asked.start(seed), most, longest);
    long known = asked instanceof TraceWorkload whole ? Math.min(whole.size(), most) : most;
    return known < Long.MAX_VALUE && duration == null
        ? sending.untilDone((double) known, seconds -> run.report().over())
        : sending.untilDone(Math.max(1e-3, longest.toNanos() / 1e9 / speed), seconds -> seconds);
  }

  private Duration longest() {
    if (duration != null) {
      return duration;
    }
    return workload == null
        ? Duration.ofDays(365)
        : Duration.ofNanos((long) (1e9 * Workloads.preset(workload).seconds()));
  }

  private Workload asked() {
    if ((trace == null) == (workload == null)) {
      throw wrong("Say what to send: either a trace, or --workload NAME.");
    }
    if (trace != null) {
      GivenOptions.refuse(
          spec, List.of("--load"), "goes with --workload; a trace is sent faster by --speed.");
      GivenOptions.refuse(spec, List.of("--seed"), "goes with --workload");
      return TraceWorkload.read(trace);
    }
    return Workloads.named(
        workload == null ? "" : workload,
        new Workloads.Options(load == null ? OptionalDouble.empty() : OptionalDouble.of(load), 1));
  }

  private void print(List<String> lines) {
    lines.stream().map(ShownText::line).forEach(out()::println);
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
