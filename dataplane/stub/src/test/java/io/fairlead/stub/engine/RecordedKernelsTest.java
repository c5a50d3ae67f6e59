package io.fairlead.stub.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.stub.profile.EngineProfiles;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.DoubleUnaryOperator;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/**
 * The formula of {@link EngineProfile} against times of an H100's kernels that others recorded, see
 * {@code h100-kernels.csv}: whether its form can say them, and whether the engine that ships keeps
 * clear of what no engine can do. They are kernels, not an engine: what lies between them is not in
 * them.
 */
final class RecordedKernelsTest {

  private static final int LAYERS = 32;

  /** Weights of a layer of Llama-3.1-8B over those of the matrix that was measured. */
  private static final double MATRICES =
      (4096.0 * 6144 + 4096.0 * 4096 + 3 * 4096.0 * 14_336) / (4096.0 * 11_008);

  private static final EngineProfile SHIPPED = EngineProfiles.shipped().named("h100-8b");

  private static final List<Recorded> ALL = recorded();
  private static final List<Recorded> DECODE = of("decode");
  private static final List<Recorded> PREFILL = of("prefill");
  private static final List<Recorded> GEMM = of("gemm");

  /** So many sequences or prompts of so many tokens each, and what all layers take, ms. */
  private record Recorded(String kernel, int count, int tokens, double millis) {

    static Recorded read(String line) {
      String[] cells = line.split(",", -1);
      double layers = cells[0].equals("gemm") ? LAYERS * MATRICES : LAYERS;
      return new Recorded(
          cells[0],
          Integer.parseInt(cells[1]),
          Integer.parseInt(cells[2]),
          Double.parseDouble(cells[3]) * layers / 1_000);
    }

    double allTokens() {
      return (double) count * tokens;
    }
  }

  /** A line, and how far off it is at worst and on average, as shares. */
  private record Fit(double at0, double slope, double worst, double mean) {}

  private static List<Recorded> recorded() {
    try (InputStream in =
            Objects.requireNonNull(
                RecordedKernelsTest.class.getResourceAsStream("h100-kernels.csv"));
        BufferedReader lines = new BufferedReader(new InputStreamReader(in, UTF_8))) {
      return lines.lines().filter(line -> !line.startsWith("#")).map(Recorded::read).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<Recorded> of(String kernel) {
    return ALL.stream().filter(each -> each.kernel().equals(kernel)).toList();
  }

  /** The line through the points that has the least sum of squares of relative errors. */
  private static Fit fit(List<Recorded> points) {
    double n = 0;
    double x = 0;
    double xx = 0;
    double y = 0;
    double xy = 0;
    for (Recorded point : points) {
      double weight = 1 / (point.millis() * point.millis());
      n += weight;
      x += weight * point.allTokens();
      xx += weight * point.allTokens() * point.allTokens();
      y += weight * point.millis();
      xy += weight * point.allTokens() * point.millis();
    }
    double slope = (n * xy - x * y) / (n * xx - x * x);
    double at0 = (y - slope * x) / n;
    return errors(points, at0, slope, tokens -> at0 + slope * tokens);
  }

  private static Fit errors(
      List<Recorded> points, double at0, double slope, DoubleUnaryOperator form) {
    double[] errors =
        points.stream()
            .mapToDouble(each -> Math.abs(form.applyAsDouble(each.allTokens()) / each.millis() - 1))
            .toArray();
    return new Fit(
        at0,
        slope,
        Arrays.stream(errors).max().orElseThrow(),
        Arrays.stream(errors).average().orElseThrow());
  }

  /** Of the context's size alone, however it is spread over sequences. */
  @Test
  void attentionOfDecodesIsALineOverTheContext() {
    Fit all = fit(DECODE);
    Fit large = fit(DECODE.stream().filter(each -> each.allTokens() >= 8_192).toList());

    assertThat(all.mean()).as("%s", all).isLessThan(0.09);
    assertThat(large.worst()).as("%s", large).isLessThan(0.17);
    assertThat(SHIPPED.d2() / large.slope())
        .as("d2 over the slope of %s", large)
        .isBetween(0.9, 1.1);
  }

  @Test
  void attentionOfAPromptGrowsWithItsSquare() {
    List<Recorded> large = PREFILL.stream().filter(each -> each.tokens() >= 4_096).toList();
    for (Recorded each : large) {
      double c = each.millis() / (each.allTokens() * each.allTokens() / 2);

      assertThat(SHIPPED.c() / c).as("c over that of %s", each).isBetween(0.95, 1.25);
    }
    assertThat(large).hasSize(3);
  }

  /** Weights are read once for few tokens, and multiplied for each of many. */
  @Test
  void matrixProductsAreAFloorAndThenALine() {
    Fit line = fit(GEMM.stream().filter(each -> each.tokens() >= 512).toList());
    double floor =
        GEMM.stream()
            .filter(each -> each.tokens() <= 128)
            .mapToDouble(Recorded::millis)
            .average()
            .orElseThrow();
    Fit all =
        errors(GEMM, floor, line.slope(), n -> Math.max(floor, line.at0() + line.slope() * n));

    assertThat(line.worst()).as("%s", line).isLessThan(0.08);
    assertThat(all.worst()).as("%s", all).isLessThan(0.16);
    assertThat(all.mean()).as("%s", all).isLessThan(0.05);
  }

  /** A step of the engine that ships takes longer than its kernels, and less than twice as long. */
  @Test
  void noStepIsFasterThanItsKernelsNorMuchSlower() {
    for (Recorded attention : DECODE) {
      double kernels = attention.millis() + matrices(attention.count());
      double step =
          SHIPPED.d0() + SHIPPED.d1() * attention.count() + SHIPPED.d2() * attention.allTokens();

      assertThat(step / kernels).as("%s: step over kernels", attention).isBetween(1.0, 1.7);
    }
    for (Recorded attention : PREFILL) {
      if (attention.tokens() <= SHIPPED.maxBatchedTokens()) {
        double kernels = attention.millis() + matrices(attention.tokens());
        double step = ClosedForm.prefillMillis(SHIPPED, attention.tokens());

        assertThat(step / kernels).as("%s: step over kernels", attention).isBetween(1.0, 1.7);
      }
    }
  }

  /** What the matrix products of so many tokens take, between those that were measured, ms. */
  private static double matrices(int tokens) {
    Recorded below = GEMM.getFirst();
    for (Recorded each : GEMM) {
      if (each.tokens() >= tokens) {
        double share =
            each.equals(below)
                ? 0
                : (double) (tokens - below.tokens()) / (each.tokens() - below.tokens());
        return below.millis() + Math.max(0, share) * (each.millis() - below.millis());
      }
      below = each;
    }
    throw new IllegalArgumentException(tokens + " tokens are more than were measured");
  }

  @Test
  void betweenTwoMeasurementsLiesWhatIsBetween() {
    assertThat(matrices(1)).isEqualTo(GEMM.getFirst().millis());
    assertThat(matrices(4_096)).isCloseTo(GEMM.get(8).millis(), Offset.offset(1e-9));
    assertThat(matrices(768))
        .isCloseTo((GEMM.get(6).millis() + GEMM.get(7).millis()) / 2, Offset.offset(1e-9));
  }
}
