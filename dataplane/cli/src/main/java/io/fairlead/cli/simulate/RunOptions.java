package io.fairlead.cli.simulate;

import io.fairlead.lab.simulator.Perception;
import io.fairlead.lab.simulator.SimulationSpec.Client;
import io.fairlead.lab.simulator.SimulationSpec.Front;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.Preset;
import io.fairlead.stub.engine.Imperfection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** How runs are run. */
final class RunOptions {

  @Option(
      names = "--seconds",
      paramLabel = "SECONDS",
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
      paramLabel = "N",
      description = "Replicas of the endpoint picker, see --no-following.",
      defaultValue = "1")
  private int pickers = 1;

  @Option(
      names = "--front",
      paramLabel = "NAME",
      description = "How requests are spread over the pickers: ${COMPLETION-CANDIDATES}.",
      defaultValue = "RANDOM")
  private Front front = Front.RANDOM;

  @Option(
      names = "--no-following",
      negatable = true,
      description =
          "Pickers tell one another nothing of what they send, as those that share no hand-over"
              + " secret.")
  private boolean following = true;

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

  @Option(
      names = "--client",
      paramLabel = "NAME",
      description =
          "What the picker sits in: a GATEWAY can send a request again, EXT_PROC can't."
              + " One of ${COMPLETION-CANDIDATES}.",
      defaultValue = "GATEWAY")
  private Client client = Client.GATEWAY;

  @Option(
      names = "--unstreamed",
      paramLabel = "SHARE",
      showDefaultValue = CommandLine.Help.Visibility.NEVER,
      description =
          "Share of requests whose answers come in one piece. Default: as --perception says.")
  private @Nullable Double unstreamed;

  @Option(
      names = "--engine-noise",
      description =
          "Engines are less ideal than their profiles: steps take a little more or less, batches as"
              + " long as the next CUDA graph, and the CPU its own time.")
  private boolean engineNoise;

  @Option(
      names = "--perception",
      paramLabel = "ideal|real[,KEY=VALUE…]",
      description =
          "What a picker sees of it: ideal is all, at once; real what a real one would. Settings by"
              + " themselves: token-error=0.3, usage=0.7, cached-tokens=false, metrics-ms=5,"
              + " jitter-ms=1, unstreamed=0.2, images=0.1.",
      defaultValue = "ideal")
  private String perception = "ideal";

  /** Whether something is injected that a gate must notice. */
  boolean handicapped() {
    return handicap != null;
  }

  /** What a report says of it. */
  Map<String, String> described() {
    Map<String, String> parameters = new LinkedHashMap<>();
    parameters.put("scrapes", scrapeMillis == 0 ? "none" : "every " + scrapeMillis + " ms");
    parameters.put(
        "pickers",
        pickers == 1
            ? "1"
            : pickers + ", front " + front + (following ? "" : ", that tell one another nothing"));
    parameters.put("hardware labels", labels ? "yes" : "no");
    parameters.put("objective", "TTFT " + ttftObjective + " ms, TPOT " + tpotObjective + " ms");
    if (handicap != null) {
      parameters.put("handicap", handicap);
    }
    if (client != Client.GATEWAY) {
      parameters.put("client", client.toString());
    }
    if (engineNoise) {
      parameters.put("engine noise", "yes");
    }
    Perception seen = perception();
    if (!seen.withUnstreamed(0).equals(Perception.IDEAL)) {
      parameters.put("perception", seen.toString());
    } else if (seen.unstreamed() > 0) {
      parameters.put("unstreamed", Double.toString(seen.unstreamed()));
    }
    return parameters;
  }

  private Perception perception() {
    Perception seen = Perception.parse(perception);
    return unstreamed == null ? seen : seen.withUnstreamed(unstreamed);
  }

  Settings settings(Preset preset) {
    double length = seconds == null ? preset.seconds() : seconds;
    double ignored = warmUp == null ? preset.warmUpSeconds() * length / preset.seconds() : warmUp;
    return Settings.builder(length, ignored)
        .scrapeMillis(scrapeMillis)
        .pickers(pickers)
        .front(front)
        .following(following)
        .labelled(labels)
        .objectives(ttftObjective, tpotObjective)
        .lostHits(lostHits())
        .client(client)
        .imperfection(engineNoise ? Imperfection.REAL : Imperfection.NONE)
        .perception(perception())
        .build();
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
