package io.fairlead.tokenizers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fairlead.plugin.PromptTokenizer;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The folders in the resources are made by {@code golden.py} with the Python libraries. */
class HuggingFaceFactoryTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path empty;

  @ParameterizedTest
  @ValueSource(strings = {"chatml", "headers", "alternate"})
  void requestsGetTheIdsThatPythonMakes(String model) throws Exception {
    Path folder = folder(model);
    List<String> wrong = new ArrayList<>();
    int right = 0;
    try (PromptTokenizer tokenizer = open(folder)) {
      for (JsonNode each : JSON.readTree(folder.resolve("cases.json").toFile())) {
        int[] ids =
            tokenizer.tokenize(
                each.path("path").textValue(), JSON.writeValueAsBytes(each.path("body")));
        int[] expected =
            each.path("ids").isNull() ? null : JSON.convertValue(each.path("ids"), int[].class);
        if (Arrays.equals(ids, expected)) {
          right++;
        } else {
          wrong.add(each.path("body") + ": " + Arrays.toString(ids));
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(right).isGreaterThan(15);
  }

  @Test
  void severalThreadsMayAskAtOnce() throws Exception {
    byte[] body = "{\"prompt\": \"Where does the rope run?\"}".getBytes(StandardCharsets.UTF_8);
    try (PromptTokenizer tokenizer = open(folder("chatml"))) {
      int[] once = tokenizer.tokenize("/v1/completions", body);
      List<int[]> all =
          IntStream.range(0, 200)
              .parallel()
              .mapToObj(i -> tokenizer.tokenize("/v1/completions", body))
              .toList();
      assertThat(all).allSatisfy(ids -> assertThat(ids).isEqualTo(once));
    }
  }

  @Test
  void specialTokensAreAddedAsTheRequestSays() throws Exception {
    try (PromptTokenizer tokenizer = open(folder("headers"))) {
      String text = "{\"prompt\": \"Where does the rope run?\"%s}";
      int[] with = Objects.requireNonNull(tokenize(tokenizer, text.formatted("")));
      int[] without =
          Objects.requireNonNull(
              tokenize(tokenizer, text.formatted(", \"add_special_tokens\": false")));

      assertThat(Arrays.copyOfRange(with, 1, with.length)).isEqualTo(without);
      assertThat(tokenize(tokenizer, text.formatted(", \"truncate_prompt_tokens\": 3"))).isNull();
      assertThat(tokenize(tokenizer, text.formatted(", \"truncate_prompt_tokens\": null")))
          .isEqualTo(with);
    }
  }

  private static int @Nullable [] tokenize(PromptTokenizer tokenizer, String body) {
    return tokenizer.tokenize("/v1/completions", body.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void aBodyThatIsNoJsonHasNoTokens() throws Exception {
    try (PromptTokenizer tokenizer = open(folder("chatml"))) {
      assertThat(tokenizer.tokenize("/v1/completions", new byte[] {'{'})).isNull();
      assertThat(tokenizer.tokenize("/v1/completions", new byte[0])).isNull();
    }
  }

  @Test
  void aFolderOfAnotherKindIsNone() throws IOException {
    assertThat(new HuggingFaceFactory().open(empty.toString())).isNull();
  }

  @Test
  void aBrokenFileIsNamed() throws IOException {
    Files.writeString(empty.resolve("tokenizer.json"), "{}");
    assertThatThrownBy(() -> new HuggingFaceFactory().open(empty.toString()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("tokenizer.json");

    Files.writeString(empty.resolve("tokenizer_config.json"), "{");
    assertThatThrownBy(() -> new HuggingFaceFactory().open(empty.toString()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("tokenizer_config.json");
  }

  /** As the picker finds it. */
  private static PromptTokenizer open(Path folder) throws IOException {
    for (PromptTokenizer.Factory factory : ServiceLoader.load(PromptTokenizer.Factory.class)) {
      PromptTokenizer tokenizer = factory.open(folder.toString());
      if (tokenizer != null) {
        return tokenizer;
      }
    }
    throw new AssertionError("nobody opens " + folder);
  }

  private static Path folder(String model) throws URISyntaxException {
    return Path.of(Objects.requireNonNull(HuggingFaceFactoryTest.class.getResource(model)).toURI());
  }
}
