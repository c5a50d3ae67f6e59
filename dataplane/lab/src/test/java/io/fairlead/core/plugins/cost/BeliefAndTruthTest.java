package io.fairlead.core.plugins.cost;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.stub.engine.EngineProfile;
import io.fairlead.stub.profile.EngineProfiles;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;

/**
 * What the product believes of engines by default is not what is true of the engines that it is
 * judged on: else a verdict shows how well it does when it need not learn. In the package of the
 * beliefs, since they are nobody else's business.
 */
final class BeliefAndTruthTest {

  private static final double CLOSE = 0.01;

  private static final List<Coefficient> COEFFICIENTS =
      List.of(
          new Coefficient("a", EngineClass::a, EngineProfile::a),
          new Coefficient("b", EngineClass::b, EngineProfile::b),
          new Coefficient("c", EngineClass::c, EngineProfile::c),
          new Coefficient("d0", EngineClass::d0, EngineProfile::d0),
          new Coefficient("d1", EngineClass::d1, EngineProfile::d1),
          new Coefficient("d2", EngineClass::d2, EngineProfile::d2));

  private record Coefficient(
      String name, ToDoubleFunction<EngineClass> belief, ToDoubleFunction<EngineProfile> truth) {}

  /** Classes and the engines of the same model on the same hardware. */
  private static final Map<String, String> SAME =
      Map.of(
          "8b-h100", "h100-8b",
          "8b-h100-fp8", "h100-8b-fp8",
          "8b-a100", "a100-8b",
          "8b-l40s", "l40s-8b",
          "8b-l4", "l4-8b",
          "32b-2xh100", "h100x2-32b",
          "70b-4xh100", "h100x4-70b",
          "deepseek-v3-8xh200", "h200x8-deepseek-v3");

  @Test
  void noCoefficientOfADefaultBeliefIsThatOfTheSameEngine() {
    assertThat(SAME.keySet()).containsExactlyInAnyOrderElementsOf(EngineClass.names());
    SAME.forEach(
        (name, engine) ->
            assertThat(inCommon(name, EngineProfiles.shipped().named(engine)))
                .as("of class %s and engine %s", name, engine)
                .isEmpty());
  }

  /** One number may be another by chance; two are a copy. */
  @Test
  void noDefaultBeliefIsThatOfAnyEngine() {
    for (String name : EngineClass.names()) {
      for (EngineProfile engine : EngineProfiles.shipped().all()) {
        assertThat(inCommon(name, engine))
            .as("of class %s and engine %s", name, engine.name())
            .hasSizeLessThan(2);
      }
    }
  }

  private static List<String> inCommon(String name, EngineProfile engine) {
    List<String> same = new ArrayList<>();
    for (Coefficient of : COEFFICIENTS) {
      double believed = of.belief().applyAsDouble(EngineClass.builtIn(name));
      double is = of.truth().applyAsDouble(engine);
      if (Math.abs(believed / is - 1) < CLOSE) {
        same.add("%s is %s, and in truth %s".formatted(of.name(), believed, is));
      }
    }
    return same;
  }

  /** Else the test above would hold of nothing. */
  @Test
  void thereAreBeliefsAndTruthsToCompare() {
    assertThat(EngineClass.names()).isNotEmpty();
    assertThat(EngineProfiles.shipped().all())
        .isNotEmpty()
        .allSatisfy(engine -> assertThat(engine.d0()).isPositive());
  }
}
