package io.fairlead.crds.document;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class QuantityTest {

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "-0, 0",
    "5000, 5000",
    "+5, 5",
    "1k, 1000",
    "1.5M, 1500000",
    ".5G, 500000000",
    "1.Ki, 1024",
    "2Gi, 2147483648",
    "0.5Ki, 512",
    "1e9, 1000000000",
    "1E3, 1000",
    "1E, 1000000000000000000",
    "2000m, 2",
    "3e0, 3",
    "30e-1, 3",
    "9223372036854775807, 9223372036854775807"
  })
  void readsWholeNumbers(String text, long value) {
    assertThat(Quantity.parse(JsonNodeFactory.instance.textNode(text))).isEqualTo(value);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "-1",
        "1.5",
        "100m",
        "1KB",
        "1 Gi",
        "Gi",
        "1ki",
        "1e",
        "0x10",
        "1_000",
        "9223372036854775808",
        "8Ei",
        "1e99",
        "1e999",
        "many",
        "."
      })
  void refusesTheRest(String text) {
    assertThat(Quantity.parse(JsonNodeFactory.instance.textNode(text))).isNull();
  }

  @Test
  void readsNumbersToo() {
    JsonNodeFactory nodes = JsonNodeFactory.instance;
    assertThat(Quantity.parse(nodes.numberNode(1.5e9))).isEqualTo(1_500_000_000L);
    assertThat(Quantity.parse(nodes.numberNode(7L))).isEqualTo(7);
    for (JsonNode none : new JsonNode[] {nodes.booleanNode(true), nodes.arrayNode()}) {
      assertThat(Quantity.parse(none)).isNull();
    }
  }
}
