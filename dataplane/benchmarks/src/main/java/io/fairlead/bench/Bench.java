package io.fairlead.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.Main;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.profile.JavaFlightRecorderProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Runs the benchmarks of a name in sampling mode: each call is timed, so that there are
 * percentiles. Called by {@code hack/bench}.
 */
public final class Bench {

  /** What is run in turn where no name is given. */
  static final List<String> NAMES =
      List.of("decision", "flow", "read", "watch", "page", "hash", "lookup", "index", "reload");

  /** What the names stand for. */
  private static final Map<String, String> CLASSES =
      Map.of(
          "decision", "DecisionBench",
          "flow", "FlowBench",
          "read", "ReadBench",
          "watch", "WatchBench",
          "page", "PageBench",
          "hash", "HashBench",
          "lookup", "LookupBench",
          "index", "IndexBench",
          "reload", "ReloadBench");

  /** As in production, with a heap of fixed size, so that neither it nor its pages grow. */
  private static final String[] JVM = {
    "-Xms2g",
    "-Xmx2g",
    "-XX:+AlwaysPreTouch",
    "-XX:+UseG1GC",
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow"
  };

  private static final TimeValue PROFILED = TimeValue.seconds(3);

  private Bench() {}

  /**
   * Runs.
   *
   * @param args folder for what is written; {@code --update-docs} with the document, or a name or
   *     regular expression, then {@code --profile} and options of JMH as wanted
   */
  public static void main(String[] args) throws Exception {
    Path out = Path.of(args[0]);
    if (args[1].equals("--update-docs")) {
      ResultsInDocs.update(Path.of(args[2]), out);
      return;
    }
    List<String> options = Arrays.asList(args).subList(2, args.length);
    if (options.contains("-l") || options.contains("-lp") || options.contains("-h")) {
      Main.main(Arrays.copyOfRange(args, 1, args.length));
      return;
    }
    run(out, args[1], options);
  }

  private static void run(Path out, String name, List<String> options)
      throws CommandLineOptionException, RunnerException, IOException {
    boolean profile = options.contains("--profile");
    CommandLineOptions given =
        new CommandLineOptions(
            options.stream().filter(o -> !o.equals("--profile")).toArray(String[]::new));
    String file = fileName(name) + (profile ? "-profile" : "");
    Files.createDirectories(out);
    ChainedOptionsBuilder builder =
        new OptionsBuilder()
            .parent(given)
            .include(CLASSES.containsKey(name) ? "\\." + CLASSES.get(name) + "\\." : name)
            .mode(Mode.SampleTime)
            .shouldFailOnError(true)
            .jvmArgsAppend(given.getJvmArgsAppend().orElse(List.of(JVM)).toArray(String[]::new))
            .resultFormat(ResultFormatType.JSON)
            .result(out.resolve(file + ".json").toString());
    Path recordings = out.resolve(file);
    if (profile) {
      HotMethods.clear(recordings);
      builder
          .addProfiler(
              JavaFlightRecorderProfiler.class, "dir=" + recordings + ";configName=profile")
          .measurementTime(given.getMeasurementTime().orElse(PROFILED));
    } else {
      builder.addProfiler(GCProfiler.class);
    }
    Collection<RunResult> results = new Runner(builder.build()).run();
    if (profile) {
      HotMethods.print(recordings);
      return;
    }
    Report report = new Report(results);
    report.lines().forEach(System.out::println);
    String table = report.markdown();
    if (name.equals("index")) {
      IndexSize size = IndexSize.measure();
      size.lines().forEach(System.out::println);
      table += System.lineSeparator() + size.markdown();
    }
    if (name.equals("flow")) {
      FlowSize size = FlowSize.measure();
      size.lines().forEach(System.out::println);
      table += System.lineSeparator() + size.markdown();
    }
    Path markdown = out.resolve(file + ".md");
    Files.writeString(markdown, Machine.description() + "\n\n" + table);
    System.out.println("JSON: " + out.resolve(file + ".json") + ", table: " + markdown);
  }

  private static String fileName(String name) {
    String letters = name.replaceAll("[^A-Za-z0-9_-]", "");
    return letters.isEmpty() ? "all" : letters;
  }
}
