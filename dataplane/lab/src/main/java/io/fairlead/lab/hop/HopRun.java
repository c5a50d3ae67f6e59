package io.fairlead.lab.hop;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.lab.NamedArguments;
import io.fairlead.lab.Way;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * The program of {@code hack/load sizes}, {@code prompts}, {@code chunks} and {@code extras}:
 * several ways to the same servers, which take turns under the same closed loop; what each costs by
 * size of request. With {@code --pair NAME/NAME}, how many times as much CPU time the first takes
 * as the second, from the turns of each round; ways may also be one process with {@link Settings}
 * that take turns.
 *
 * <p>A closed loop shows what a hop costs and carries; latency under a given load is another
 * question, see {@link PickRun}.
 */
public final class HopRun {

  /** Ways are warm when compilers take less, in so many turns of each one after the other. */
  private static final double COMPILING = 0.01;

  private static final int IDLE_TURNS = 3;
  private static final int MOST_WARMUPS = 20;

  private final List<Way> ways;
  private final List<Pair> pairs;
  private final Settings settings;
  private final List<Integer> sizes;
  private final int clients;
  private final int chunks;
  private final int everyMillis;
  private final Duration turn;
  private final Duration warmUp;

  /** Under load, before the turn of a way with settings: such as until a shadow has its share. */
  private final Duration settling;

  private final int rounds;
  private final ArrayNode report = new ObjectMapper().createArrayNode();
  private long failed;

  private HopRun(NamedArguments given) {
    ways = given.all("--way").stream().map(Way::parse).toList();
    pairs = given.all("--pair").stream().map(this::pair).toList();
    settings = new Settings(given);
    sizes = Programs.sizes(given.text("--sizes"));
    clients = Math.toIntExact(given.whole("--in-flight"));
    chunks = Math.toIntExact(given.whole("--chunks"));
    everyMillis = Math.toIntExact(given.whole("--every-millis"));
    turn = Duration.ofMillis(Math.round(given.number("--seconds") * 1_000));
    warmUp = Duration.ofMillis(Math.round(given.number("--warmup") * 1_000));
    settling = Duration.ofMillis(Math.round(given.number("--settle") * 1_000));
    rounds = Math.toIntExact(given.whole("--rounds"));
    if (ways.isEmpty() || clients < 1 || rounds < 1) {
      throw new IllegalArgumentException("--way, --in-flight and --rounds need at least one");
    }
    if (!pairs.isEmpty() && rounds < PairedRatios.FEWEST) {
      throw new IllegalArgumentException(
          "--rounds must be at least " + PairedRatios.FEWEST + " for an interval, not " + rounds);
    }
  }

  /** Places of two ways that are compared. */
  private record Pair(int way, int beside) {}

  private Pair pair(String text) {
    List<String> names = ways.stream().map(Way::name).toList();
    String[] parts = text.split("/", -1);
    if (parts.length != 2 || !names.containsAll(List.of(parts))) {
      throw new IllegalArgumentException("expected --pair NAME/NAME of " + names + ", got " + text);
    }
    return new Pair(names.indexOf(parts[0]), names.indexOf(parts[1]));
  }

  /** Prints a table in Markdown for each size, and fails when a request did. */
  public static void main(String[] args) throws Exception {
    Programs.main(
        args,
        given -> {
          Path report = Path.of(given.text("--report"));
          HopRun run = new HopRun(given);
          given.nothingElse();
          return run.run(report);
        });
  }

  private boolean run(Path file) throws IOException, InterruptedException {
    for (int size : sizes) {
      List<PairedRatios> ratios = pairs.stream().map(pair -> new PairedRatios()).toList();
      table(size, measure(size, ratios));
      compare(size, ratios);
    }
    new ObjectMapper().writerWithDefaultPrettyPrinter().writeValue(file.toFile(), report);
    return failed == 0;
  }

  private List<Turn> measure(int size, List<PairedRatios> ratios)
      throws IOException, InterruptedException {
    List<byte[]> requests = Prompts.requests(size, chunks, everyMillis);
    List<Turn> turns = new ArrayList<>();
    warm(requests);
    ways.forEach(_ -> turns.add(Turn.nothing()));
    for (int round = 0; round < rounds; round++) {
      List<Turn> now = new ArrayList<>(turns);
      for (int at : order(round)) {
        now.set(at, turn(ways.get(at), requests, turn));
        turns.set(at, turns.get(at).and(now.get(at)));
      }
      for (int i = 0; i < pairs.size(); i++) {
        Pair pair = pairs.get(i);
        ratios.get(i).add(now.get(pair.way()).ownMicros(), now.get(pair.beside()).ownMicros());
      }
    }
    return turns;
  }

  /** What is compared is warmed until its compilers are idle; the others for the time given. */
  private void warm(List<byte[]> requests) throws IOException, InterruptedException {
    int idle = 0;
    for (int times = 0;
        times < (pairs.isEmpty() ? 1 : MOST_WARMUPS) && idle < IDLE_TURNS;
        times++) {
      idle++;
      for (Way way : ways) {
        Turn unused = turn(way, requests, warmUp);
        failed += unused.failed();
        if (unused.compiling() >= COMPILING) {
          idle = 0;
        }
      }
    }
  }

  /** Another one each time: what else happens, and what those before leave, weighs on all alike. */
  private List<Integer> order(int round) {
    List<Integer> order = new ArrayList<>(IntStream.range(0, ways.size()).boxed().toList());
    Collections.shuffle(order, new Random(round));
    return order;
  }

  private Turn turn(Way way, List<byte[]> requests, Duration lasting)
      throws IOException, InterruptedException {
    settings.putInForce(way);
    if (settings.differ(way)) {
      failed += Turn.run(way, requests, clients, settling).failed();
    }
    return Turn.run(way, requests, clients, lasting);
  }

  private void compare(int size, List<PairedRatios> ratios) {
    for (int i = 0; i < ratios.size(); i++) {
      PairedRatios of = ratios.get(i);
      String way = ways.get(pairs.get(i).way()).name();
      String beside = ways.get(pairs.get(i).beside()).name();
      System.out.printf(
          Locale.ROOT,
          "%nCPU per request of %s beside %s: × %.3f (95 %%: %.3f to %.3f, of %d pairs)%n",
          way,
          beside,
          of.median(),
          of.low(),
          of.high(),
          of.count());
      report
          .addObject()
          .put("bytes", size)
          .put("way", way)
          .put("beside", beside)
          .put("cpuRatio", of.median())
          .put("low", of.low())
          .put("high", of.high());
    }
  }

  private void table(int size, List<Turn> turns) throws IOException {
    System.out.printf(
        Locale.ROOT,
        "%n%d bytes, %d in flight%s%n%n",
        size,
        clients,
        chunks == 0 ? "" : ", " + chunks + " chunks an answer");
    System.out.println(
        "| way | requests/s | of direct | p50, ms | p99, ms | failed | CPU per "
            + (chunks == 0 ? "request" : "chunk")
            + ", µs | compilers | MiB |");
    System.out.println("|---|---|---|---|---|---|---|---|---|");
    double direct = rate(turns.getFirst());
    for (int i = 0; i < ways.size(); i++) {
      Turn turn = turns.get(i);
      failed += turn.failed();
      System.out.printf(
          Locale.ROOT,
          "| %s | %.0f | %.2f | %.2f | %.2f | %d | %s | %.1f %% | %s |%n",
          ways.get(i).name(),
          rate(turn),
          rate(turn) / direct,
          turn.micros().getValueAtPercentile(50) / 1e3,
          turn.micros().getValueAtPercentile(99) / 1e3,
          turn.failed(),
          cpu(turn),
          100 * turn.compiling(),
          resident(ways.get(i)));
      ObjectNode row = report.addObject();
      row.put("bytes", size).put("way", ways.get(i).name()).put("requests", turn.requests());
      row.put("perSecond", rate(turn)).put("failed", turn.failed());
      row.put("compilersShare", turn.compiling());
      row.put("p50Micros", turn.micros().getValueAtPercentile(50));
      row.put("p99Micros", turn.micros().getValueAtPercentile(99));
      ObjectNode cpu = row.putObject("cpuMicrosPerRequest");
      turn.cpuMicros().forEach((name, used) -> cpu.put(name, used / Math.max(1, turn.requests())));
    }
  }

  private static double rate(Turn turn) {
    return turn.requests() / turn.seconds();
  }

  private String cpu(Turn turn) {
    double each = Math.max(1.0, turn.requests() * Math.max(1.0, chunks));
    List<String> shown = new ArrayList<>();
    turn.cpuMicros()
        .forEach(
            (name, used) ->
                shown.add(
                    String.format(
                        Locale.ROOT, chunks == 0 ? "%s %.0f" : "%s %.1f", name, used / each)));
    return shown.isEmpty() ? "–" : String.join(", ", shown);
  }

  private static String resident(Way way) throws IOException {
    List<String> shown = new ArrayList<>();
    for (Map.Entry<String, Long> process : way.processes().entrySet()) {
      shown.add(process.getKey() + " " + (Programs.memory(process.getValue(), "VmRSS") >> 20));
    }
    return shown.isEmpty() ? "–" : String.join(", ", shown);
  }
}
