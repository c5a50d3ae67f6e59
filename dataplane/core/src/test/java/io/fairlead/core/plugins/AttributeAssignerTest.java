package io.fairlead.core.plugins;

import static io.fairlead.core.plugins.Settings.assertRefused;
import static io.fairlead.core.plugins.Settings.make;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.plugin.Assigner;
import io.fairlead.plugin.EndpointAttributes;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class AttributeAssignerTest {

  private static final long ALL = -1;

  @Test
  void firstRuleWhoseConditionsHoldSaysWhereARequestMayGo() {
    Assigner assigner =
        make(
            Assigner.class,
            "attribute-assigner",
            Map.of(
                "attribute",
                "latencyClass",
                "rules",
                List.of(
                    Map.of("header", "X-Tier", "is", "batch", "values", List.of("batch")),
                    Map.of("model", "big", "profile", "decode", "values", List.of("large")),
                    Map.of("criticality", "Critical", "values", List.of("fast", "large")))));
    int batch = assigner.partition(ofClass("batch"));
    int large = assigner.partition(ofClass("large"));
    int fast = assigner.partition(ofClass("fast"));
    int other = assigner.partition(ofClass("elsewhere"));
    assertThat(List.of(batch, large, fast, other)).doesNotHaveDuplicates();
    assertThat(assigner.partition(ofClass(""))).isEqualTo(other);

    TestRequest plain = new TestRequest(1, 0);
    assertThat(assigner.allowed(plain, "decode", ALL)).isEqualTo(ALL);
    TestRequest tier = new TestRequest(1, 0);
    tier.headers.put("x-tier", "batch");
    tier.model = "big";
    assertThat(assigner.allowed(tier, "decode", ALL)).isEqualTo(1L << batch);
    TestRequest model = new TestRequest(1, 0);
    model.model = "big";
    model.critical = true;
    assertThat(assigner.allowed(model, "decode", ALL)).isEqualTo(1L << large);
    assertThat(assigner.allowed(model, "prefill", ALL)).isEqualTo(1L << fast | 1L << large);
  }

  @Test
  void whenNobodyIsThereAllOrNoneMayServe() {
    for (boolean all : new boolean[] {true, false}) {
      Assigner assigner =
          make(
              Assigner.class,
              "attribute-assigner",
              Map.of(
                  "label",
                  "tier",
                  "whenEmpty",
                  all ? "all" : "none",
                  "rules",
                  List.of(Map.of("criticality", "Standard", "values", List.of("a", "b")))));
      TestEndpoint b = new TestEndpoint("b");
      b.labels = Map.of("tier", "b");
      int partition = assigner.partition(b);
      long others = ~(1L << partition | 1L << assigner.partition(labelled("a")));
      TestRequest request = new TestRequest(1, 0);
      assertThat(assigner.allowed(request, "p", 1L << partition) & 1L << partition).isNotZero();
      assertThat(assigner.allowed(request, "p", others)).isEqualTo(all ? ALL : ~others);
      request.sheddable = true;
      assertThat(assigner.allowed(request, "p", others)).isEqualTo(ALL);
    }
  }

  @Test
  void settingsAreChecked() {
    String type = "attribute-assigner";
    List<Object> rules = List.of(Map.of("values", List.of("a")));
    assertRefused(type, Map.of("rules", rules), "attribute");
    assertRefused(type, Map.of("attribute", "zone", "label", "l", "rules", rules), "attribute");
    assertRefused(type, Map.of("attribute", "mood", "rules", rules), "attribute");
    assertRefused(type, Map.of("attribute", "zone"), "rules");
    assertRefused(type, Map.of("attribute", "zone", "rules", List.of(Map.of())), "rules[0].values");
    assertRefused(
        type,
        Map.of("attribute", "zone", "rules", List.of(Map.of("is", "x", "values", List.of("a")))),
        "rules[0].header");
    List<String> many = IntStream.range(0, 64).mapToObj(i -> "v" + i).toList();
    assertRefused(
        type, Map.of("attribute", "zone", "rules", List.of(Map.of("values", many))), "rules");
  }

  private static TestEndpoint labelled(String tier) {
    TestEndpoint endpoint = new TestEndpoint(tier);
    endpoint.labels = Map.of("tier", tier);
    return endpoint;
  }

  private static TestEndpoint ofClass(String latencyClass) {
    TestEndpoint endpoint = new TestEndpoint("e");
    endpoint.attributes = new EndpointAttributes("", "", latencyClass, "", "", "");
    return endpoint;
  }
}
