package io.fairlead.crds.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ConfigMapTextsTest {
  private static final String LONG = "größe: 1\n".repeat(300_000);

  private static ConfigMap map(String text, @Nullable String spare) {
    Map<String, String> data = new TreeMap<>();
    Map<String, String> binary = new TreeMap<>();
    ConfigMapTexts.put(data, binary, "a", text, "b", spare);
    return new ConfigMapBuilder().withData(data).withBinaryData(binary).build();
  }

  @Test
  void shortTextsStayReadable() throws IOException {
    ConfigMap map = map("x", "y");
    assertThat(map.getData()).containsOnly(Map.entry("a", "x"), Map.entry("b", "y"));
    assertThat(map.getBinaryData()).isEmpty();
    assertThat(ConfigMapTexts.read(map, "b")).isEqualTo("y");
    assertThat(ConfigMapTexts.read(map, "c")).isNull();
  }

  @Test
  void longTextsAreCompressedWithoutLoss() throws IOException {
    ConfigMap map = map(LONG, "y");
    assertThat(map.getData()).isEmpty();
    assertThat(map.getBinaryData()).containsOnlyKeys("a.gz", "b.gz");
    assertThat(ConfigMapTexts.read(map, "a")).isEqualTo(LONG);
    assertThat(ConfigMapTexts.read(map, "b")).isEqualTo("y");
    assertThat(map(LONG, "y"))
        .as("the same bytes again, or it would be written again")
        .isEqualTo(map);
  }

  @Test
  void theSpareOneGivesWayWhereBothDoNotFit() {
    String text = noise(800_000, 1);
    assertThat(map(text, noise(800_000, 2)).getBinaryData()).containsOnlyKeys("a.gz");
    assertThat(map(text, "y").getBinaryData()).containsOnlyKeys("a.gz", "b.gz");
  }

  @Test
  void whatFitsIsJudgedByWhatIsStored() {
    assertThat(ConfigMapTexts.fits(LONG)).isTrue();
    assertThat(ConfigMapTexts.fits(noise(1_000_000, 1))).isTrue();
    assertThat(ConfigMapTexts.fits(noise(2_000_000, 1))).isFalse();
    assertThat(ConfigMapTexts.fits("x".repeat(ConfigMapTexts.LONGEST))).isTrue();
    assertThat(ConfigMapTexts.fits("x".repeat(ConfigMapTexts.LONGEST + 1))).isFalse();
  }

  @Test
  void whatIsNoTextIsTold() throws IOException {
    assertThatThrownBy(() -> ConfigMapTexts.read(binary("%"), "a")).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> ConfigMapTexts.read(binary("AAAA"), "a"))
        .isInstanceOf(IOException.class);
    ByteArrayOutputStream bomb = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bomb)) {
      out.write(new byte[ConfigMapTexts.LONGEST + 1]);
    }
    String stored = Base64.getEncoder().encodeToString(bomb.toByteArray());
    assertThatThrownBy(() -> ConfigMapTexts.read(binary(stored), "a"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("is longer than");
  }

  private static ConfigMap binary(String stored) {
    return new ConfigMapBuilder().addToBinaryData("a.gz", stored).build();
  }

  /** Text of 64 letters at random: three quarters of it are left when it is compressed. */
  private static String noise(int length, long seed) {
    byte[] bytes = new byte[length / 4 * 3];
    new Random(seed).nextBytes(bytes);
    return new String(Base64.getEncoder().encode(bytes), StandardCharsets.US_ASCII);
  }
}
