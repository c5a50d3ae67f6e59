package io.fairlead.cli.simulate;

import io.fairlead.lab.simulator.SimulationSpec.Front;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.Preset;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How runs are run. */
final class RunOptions {

  @Option(
      names = "--seconds",
      description = "Simulated time in which requests arrive. Default: the workload's own.")
  private @Nullable Double seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      description = "Arrivals of that first time are not measured. Default: the workload's own.")
  private @Nullable Double warmUp;

  @Option(
      names = "--scrape",
      paramLabel = "MILLIS",
      description = "Time between two scrapes of an engine; 0 for none ever.",
      defaultValue = "50")
  private double scrapeMillis = 50;

  @Option(
      names = "--pickers",
      description = "Replicas of the endpoint picker; each knows what it sent itself.",
      defaultValue = "1")
  private int pickers = 1;

  @Option(
      names = "--front",
      description = "How requests are spread over the pickers: ${COMPLETION-CANDIDATES}.",
      defaultValue = "RANDOM")
  private Front front = Front.RANDOM;

  @Option(names = "--labels", description = "Endpoints carry a label that tells their hardware.")
  private boolean labels;

  @Option(
      names = "--ttft-objective",
      paramLabel = "MILLIS",
      description = "A good request has its first token by then.",
      defaultValue = "1000")
  private double ttftObjective = 1_000;

  @Option(
      names = "--tpot-objective",
      paramLabel = "MILLIS",
      description = "A good request takes no longer per token after the first.",
      defaultValue = "100")
  private double tpotObjective = 100;

  @Option(
      names = "--handicap",
      paramLabel = "hit-rate=SHARE",
      description =
          "An injected loss, to see that it is noticed: this share of requests finds nothing in"
              + " an engine's cache.")
  private @Nullable String handicap;

  /** What a report says of it. */
  Map<String, String> described() {
    Map<String, String> parameters = new LinkedHashMap<>();
    parameters.put("scrapes", scrapeMillis == 0 ? "none" : "every " + scrapeMillis + " ms");
    parameters.put("pickers", pickers == 1 ? "1" : pickers + ", front " + front);
    parameters.put("hardware labels", labels ? "yes" : "no");
    parameters.put("objective", "TTFT " + ttftObjective + " ms, TPOT " + tpotObjective + " ms");
    if (handicap != null) {
      parameters.put("handicap", handicap);
    }
    return parameters;
  }

  Settings settings(Preset preset) {
    double length = seconds == null ? preset.seconds() : seconds;
    double ignored = warmUp == null ? preset.warmUpSeconds() * length / preset.seconds() : warmUp;
    return new Settings(
        length,
        ignored,
        scrapeMillis,
        pickers,
        front,
        labels,
        ttftObjective,
        tpotObjective,
        lostHits());
  }

  private double lostHits() {
    if (handicap == null) {
      return 0;
    }
    String prefix = "hit-rate=";
    try {
      if (handicap.startsWith(prefix)) {
        return Double.parseDouble(handicap.substring(prefix.length()));
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new IllegalArgumentException(
        "--handicap is \"" + handicap + "\"; set a share of requests, as in hit-rate=0.05");
  }
}
