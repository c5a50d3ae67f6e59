package io.fairlead.lab.hop;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.lab.NamedArguments;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The program of {@code hack/load sizes}, {@code prompts} and {@code chunks}: several ways to the
 * same servers, which take turns under the same closed loop; what each costs by size of request.
 *
 * <p>A closed loop shows what a hop costs and carries; latency under a given load is another
 * question, see {@link PickRun}.
 */
public final class HopRun {

  private final List<Way> ways;
  private final List<Integer> sizes;
  private final int clients;
  private final int chunks;
  private final int everyMillis;
  private final Duration turn;
  private final Duration warmUp;
  private final int rounds;
  private final ArrayNode report = new ObjectMapper().createArrayNode();
  private long failed;

  private HopRun(NamedArguments given) {
    ways = given.all("--way").stream().map(Way::parse).toList();
    sizes = Programs.sizes(given.text("--sizes"));
    clients = Math.toIntExact(given.whole("--in-flight"));
    chunks = Math.toIntExact(given.whole("--chunks"));
    everyMillis = Math.toIntExact(given.whole("--every-millis"));
    turn = Duration.ofMillis(Math.round(given.number("--seconds") * 1_000));
    warmUp = Duration.ofMillis(Math.round(given.number("--warmup") * 1_000));
    rounds = Math.toIntExact(given.whole("--rounds"));
    if (ways.isEmpty() || clients < 1 || rounds < 1) {
      throw new IllegalArgumentException("--way, --in-flight and --rounds need at least one");
    }
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
      table(size, measure(size));
    }
    new ObjectMapper().writerWithDefaultPrettyPrinter().writeValue(file.toFile(), report);
    return failed == 0;
  }

  private List<Turn> measure(int size) throws InterruptedException {
    List<byte[]> requests = Prompts.requests(size, chunks, everyMillis);
    List<Turn> turns = new ArrayList<>();
    for (Way way : ways) {
      Turn unused = Turn.run(way, requests, clients, warmUp);
      failed += unused.failed();
      turns.add(Turn.nothing());
    }
    for (int round = 0; round < rounds; round++) {
      for (int i = 0; i < ways.size(); i++) {
        // Whoever is first is another one each time: what else happens weighs on all alike.
        int at = (i + round) % ways.size();
        turns.set(at, turns.get(at).and(Turn.run(ways.get(at), requests, clients, turn)));
      }
    }
    return turns;
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
            + ", µs | MiB |");
    System.out.println("|---|---|---|---|---|---|---|---|");
    double direct = rate(turns.getFirst());
    for (int i = 0; i < ways.size(); i++) {
      Turn turn = turns.get(i);
      failed += turn.failed();
      System.out.printf(
          Locale.ROOT,
          "| %s | %.0f | %.2f | %.2f | %.2f | %d | %s | %s |%n",
          ways.get(i).name(),
          rate(turn),
          rate(turn) / direct,
          turn.micros().getValueAtPercentile(50) / 1e3,
          turn.micros().getValueAtPercentile(99) / 1e3,
          turn.failed(),
          cpu(turn),
          resident(ways.get(i)));
      ObjectNode row = report.addObject();
      row.put("bytes", size).put("way", ways.get(i).name()).put("requests", turn.requests());
      row.put("perSecond", rate(turn)).put("failed", turn.failed());
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
