package io.fairlead.lab.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.fairlead.crds.config.Criticality;
import io.fairlead.lab.workload.Preset.Unit;
import io.fairlead.lab.workload.Workloads.Options;
import io.fairlead.stub.profile.EngineProfiles;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

final class WorkloadsTest {

  private static final long SEED = 42;

  static Stream<String> names() {
    return Workloads.presets().stream().map(Preset::name);
  }

  @Test
  void unknownNameListsTheKnownOnes() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Workloads.named("chatt", Options.DEFAULT))
        .withMessageStartingWith("workload: \"chatt\" is none of gsp-high, gsp-low, b2b,")
        .withMessageContaining("priority");
  }

  @Test
  void refusesLoadsThatAreNone() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Options.times(0))
        .withMessage("factor is 0.0; set above 0 to 1000000");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Options(OptionalDouble.of(Double.NaN), 1))
        .withMessageStartingWith("load is NaN");
  }

  @ParameterizedTest
  @MethodSource("names")
  void presetsCanBeRun(String name) {
    Preset preset = Workloads.preset(name);

    assertThat(Workloads.named(name, Options.DEFAULT).name()).isEqualTo(name);
    assertThat(preset.warmUpSeconds()).isBetween(0.0, preset.seconds() / 2);
    for (String group : preset.pool().split("\\+", -1)) {
      assertThat(EngineProfiles.shipped().names())
          .contains(group.replaceFirst(":.*", "").substring(group.indexOf('x') + 1));
    }
  }

  @ParameterizedTest
  @MethodSource("names")
  void sameSeedSameRequests(String name) {
    List<String> first = fingerprints(play(name, SEED, 300));

    assertThat(fingerprints(play(name, SEED, 300))).isEqualTo(first);
    assertThat(fingerprints(play(name, SEED + 1, 300))).isNotEqualTo(first);
  }

  @ParameterizedTest
  @MethodSource("names")
  void arrivesInOrderOfTimeAndAsksForModelsThatItNames(String name) {
    List<Arrival> arrivals = play(name, SEED, 500).arrivals();

    assertThat(arrivals).extracting(Arrival::atNanos).isSortedAccordingTo(Long::compare);
    assertThat(Workloads.named(name, Options.DEFAULT).models())
        .extracting(ServedModel::name)
        .containsAll(arrivals.stream().map(a -> a.request().model()).toList());
  }

  @ParameterizedTest
  @CsvSource({
    "sharegpt-low-hit, 1, 400",
    "sharegpt-low-hit, 0.5, 200",
    "mixed-sharegpt, 1, 270",
    "mixed-shared, 1, 75",
    "b2b, 1, 7",
    "rag, 1, 8",
    "tasks, 1, 250",
    "lora-32, 1, 150",
    "lora-64, 1, 120",
    "priority, 1.5, 292.5"
  })
  void comesAtItsRate(String name, double factor, double rate) {
    Traffic traffic = Workloads.named(name, Options.times(factor)).start(SEED);
    int count = 4_000;
    long last = 0;
    for (int i = 0; i < count; i++) {
      last = next(traffic).atNanos();
    }

    assertThat(count / (last / 1e9)).isCloseTo(rate, within(rate * 5 / Math.sqrt(count)));
  }

  @Test
  void burstyHasGapsFourTimesAsSpreadAsTheirMean() {
    Traffic traffic = Workloads.named("bursty", Options.DEFAULT).start(SEED);
    int count = 100_000;
    double[] gaps = new double[count];
    long before = 0;
    for (int i = 0; i < count; i++) {
      long at = next(traffic).atNanos();
      gaps[i] = (at - before) / 1e9;
      before = at;
    }

    assertThat(SpreadTest.mean(gaps)).isCloseTo(1.0 / 450, within(5 * 4.0 / 450 / 316));
    assertThat(SpreadTest.sd(gaps) / SpreadTest.mean(gaps)).isCloseTo(4, within(0.2));
  }

  /** The table's own sizes; log-normal ones lose a little where they are clipped. */
  @ParameterizedTest
  @CsvSource({
    "gsp-high, 2304, 0, 256, 0",
    "gsp-low, 2304, 0, 256, 0",
    "mixed-shared, 2304, 0, 256, 0",
    "tasks, 2120, 120, 6, 0",
    "b2b, 7200, 360, 1000, 300",
    "sharegpt-low-hit, 248, 277, 219, 216",
    "bursty, 248, 277, 219, 216",
    "lora-64, 248, 277, 219, 216",
    "priority, 248, 277, 219, 216",
    "reasoning, 1000, 0, 4000, 4000",
    "long-answers, 248, 277, 2954, 2680",
    "bimodal, 248, 277, 2004, 1996"
  })
  void hasTheSizesOfTheTable(
      String name, double prompt, double promptSd, double output, double outputSd) {
    // of b2b only 750 prompts differ, so more requests would not tell more
    int count = name.equals("b2b") ? 750 : 4_000;
    List<RequestShape> requests = play(name, SEED, count).requests();

    assertSize(requests, RequestShape::promptTokens, prompt, promptSd);
    assertSize(requests, RequestShape::outputTokens, output, outputSd);
  }

  @Test
  void eachBandHasItsShareAndUnequalTenants() {
    List<RequestShape> requests = play("priority", SEED, 20_000).requests();

    Map<String, Double> shares = shares(requests, RequestShape::model);
    assertThat(shares.get("critical")).isCloseTo(0.2, within(0.015));
    assertThat(shares.get("standard")).isCloseTo(0.5, within(0.02));
    assertThat(shares.get("sheddable")).isCloseTo(0.3, within(0.02));
    Map<String, Double> tenants = shares(requests, RequestShape::tenant);
    assertThat(tenants).hasSize(12);
    assertThat(tenants.get("standard-1")).isCloseTo(0.5 * 0.4, within(0.015));
    assertThat(tenants.get("standard-4")).isCloseTo(0.5 * 0.1, within(0.01));
    assertThat(Workloads.named("priority", Options.DEFAULT).models())
        .contains(new ServedModel("critical", Criticality.CRITICAL, false));
  }

  @Test
  void adaptersAreAskedForByZipfsLaw() {
    List<RequestShape> requests = play("lora-32", SEED, 20_000).requests();

    Map<String, Double> shares = shares(requests, RequestShape::model);
    assertThat(shares).hasSize(32);
    assertThat(shares.get("adapter-0")).isCloseTo(1 / 4.0585, within(0.016));
    assertThat(shares.get("adapter-9")).isCloseTo(0.1 / 4.0585, within(0.006));
    assertThat(Workloads.named("lora-32", Options.DEFAULT).models())
        .allMatch(ServedModel::adapter)
        .hasSize(32);
  }

  @Test
  void unitsSayWhatIsCounted() {
    assertThat(Workloads.preset("gsp-high").unit()).isEqualTo(Unit.IN_FLIGHT);
    assertThat(Workloads.preset("agent").unit()).isEqualTo(Unit.SESSIONS_PER_SECOND);
    assertThat(Workloads.preset("rag").unit()).isEqualTo(Unit.REQUESTS_PER_SECOND);
  }

  static Traffics.Run play(String name, long seed, int count) {
    return Traffics.play(
        Workloads.named(name, Options.DEFAULT).start(seed),
        count,
        request -> 20_000_000L * request.outputTokens());
  }

  static Arrival next(Traffic traffic) {
    Arrival arrival = traffic.next();
    if (arrival == null) {
      throw new AssertionError("the traffic has ended");
    }
    return arrival;
  }

  /** All that there is to a request, its blocks by their last one, which stands for all. */
  static String fingerprint(RequestShape request) {
    long[] blocks = request.blocks();
    return "%s %s %d %d %d %x"
        .formatted(
            request.model(),
            request.tenant(),
            request.promptTokens(),
            request.outputTokens(),
            blocks.length,
            blocks.length == 0 ? 0 : blocks[blocks.length - 1]);
  }

  private static List<String> fingerprints(Traffics.Run run) {
    return run.arrivals().stream().map(a -> a.atNanos() + " " + fingerprint(a.request())).toList();
  }

  private static void assertSize(
      List<RequestShape> requests, ToIntFunction<RequestShape> size, double mean, double sd) {
    double[] values = requests.stream().mapToInt(size).asDoubleStream().toArray();
    assertThat(SpreadTest.mean(values))
        .isCloseTo(mean, within(4 * sd / Math.sqrt(values.length) + 1e-9));
    assertThat(SpreadTest.sd(values)).isCloseTo(sd, within(0.1 * sd + 1e-9));
  }

  private static Map<String, Double> shares(
      List<RequestShape> requests, Function<RequestShape, String> of) {
    return requests.stream()
        .collect(Collectors.groupingBy(of, Collectors.summingDouble(r -> 1.0 / requests.size())));
  }
}
