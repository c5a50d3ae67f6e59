package io.fairlead.stub.server;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fairlead.stub.server.CompletionRequest.Choice;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the body of a completion request. What the stub can't honour is an error, never ignored in
 * silence.
 */
final class RequestParser {

  /**
   * Jackson caps strings at 20 MB by itself; the server's own limit on bodies is the one that
   * counts.
   */
  static final ObjectMapper JSON =
      new ObjectMapper(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build())
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  /** vLLM's {@code VLLM_MAX_N_SEQUENCES}. */
  private static final int MAX_CHOICES = 16_384;

  private final ModelServerConfig config;
  private final ServedModels models;

  RequestParser(ModelServerConfig config, ServedModels models) {
    this.config = config;
    this.models = models;
  }

  ParsedRequest parse(Api api, @Nullable String contentType, ByteBuf body) {
    if (!isJson(contentType)) {
      return ApiError.badRequest(
          "Unsupported media type: send the body as 'application/json'.", "content-type");
    }
    try (InputStream in = new ByteBufInputStream(body)) {
      JsonNode root = JSON.readTree(in);
      if (root == null || !root.isObject()) {
        return ApiError.badRequest("The body is not a JSON object.", null);
      }
      return completion(api, root);
    } catch (InvalidField invalid) {
      return ApiError.badRequest(invalid.field + ": " + invalid.problem, invalid.field);
    } catch (JsonProcessingException broken) {
      // The parser's own message may quote the body; its place is enough to find the mistake.
      var place = broken.getLocation();
      return ApiError.badRequest(
          place == null
              ? "The body is not valid JSON."
              : "The body is not valid JSON at line %d, column %d."
                  .formatted(place.getLineNr(), place.getColumnNr()),
          null);
    } catch (IOException broken) {
      return ApiError.badRequest("The body is not valid JSON in UTF-8.", null);
    }
  }

  private ParsedRequest completion(Api api, JsonNode root) {
    JsonNode model = root.path("model");
    if (!model.isTextual()) {
      throw new InvalidField("model", "a string is needed");
    }
    if (!models.serves(model.textValue())) {
      return ApiError.noSuchModel(model.textValue());
    }
    boolean stream = bool(root, "stream", "stream");
    boolean includeUsage =
        bool(root.path("stream_options"), "include_usage", "stream_options.include_usage");
    boolean greedy = temperature(root.path("temperature")) == 0;
    int n = api == Api.RESPONSES ? 1 : choicesOfEachPrompt(root, greedy);
    switch (api) {
      case CHAT -> tools(root);
      case RESPONSES -> onlyOneTurn(root);
      case COMPLETIONS -> {}
    }
    String limit = limitField(api, root);
    int asked = integer(root, limit, 0);
    int blockTokens = config.profile().blockTokens();
    var prompt =
        new Prompt(
            () -> new BlockHasher(model.textValue(), blockTokens, config.kvEvents() != null),
            config.multimodal());
    List<BlockHasher> prompts = prompt.read(api, root);
    if ((long) prompts.size() * n > MAX_CHOICES) {
      throw new InvalidField(
          n > 1 ? "n" : api.promptField(),
          "at most %d choices are given to a request, but %d prompts with n = %d were sent"
              .formatted(MAX_CHOICES, prompts.size(), n));
    }
    int most = prompts.stream().mapToInt(BlockHasher::tokens).max().orElseThrow();
    int context = config.maxModelLen();
    if (most >= context || asked > context - most) {
      return ApiError.badRequest(
          "This model's maximum context length is %d tokens, but %d prompt and %d output tokens were asked for."
              .formatted(context, most, Math.max(1, asked)),
          most >= context ? api.promptField() : limit);
    }
    int outputTokens = asked > 0 ? asked : Math.min(config.defaultMaxTokens(), context - most);
    return new CompletionRequest(
        api,
        model.textValue(),
        models.adapterOf(model.textValue()),
        stream,
        includeUsage,
        config.promptTokensDetails(),
        n,
        outputTokens,
        choices(prompts, n, outputTokens));
  }

  private static List<Choice> choices(List<BlockHasher> prompts, int n, int outputTokens) {
    List<Choice> choices = new ArrayList<>();
    for (BlockHasher each : prompts) {
      int promptTokens = each.tokens();
      each.add(Filler.text(outputTokens));
      choices.addAll(
          Collections.nCopies(n, new Choice(promptTokens, each.blocks(), each.tokenIds())));
    }
    return choices;
  }

  /** The field that says how many output tokens are asked for; the old name is still read. */
  private static String limitField(Api api, JsonNode root) {
    if (api == Api.RESPONSES) {
      return "max_output_tokens";
    }
    return root.hasNonNull("max_completion_tokens") ? "max_completion_tokens" : "max_tokens";
  }

  private static int choicesOfEachPrompt(JsonNode root, boolean greedy) {
    int n = integer(root, "n", 1);
    if (n > MAX_CHOICES) {
      throw new InvalidField("n", "at most " + MAX_CHOICES + " is allowed, got " + n);
    }
    if (n > 1 && greedy) {
      throw new InvalidField("n", "must be 1 when using greedy sampling (temperature 0), got " + n);
    }
    return n;
  }

  /** A response is one text to one input: nothing is stored, and no tool is called. */
  private static void onlyOneTurn(JsonNode root) {
    if (root.hasNonNull("previous_response_id")) {
      throw new InvalidField(
          "previous_response_id", "no response is stored here; send the conversation as input");
    }
    if (bool(root, "background", "background")) {
      throw new InvalidField("background", "no response is stored here; leave it out");
    }
    if (!root.path("tools").isEmpty()) {
      throw new InvalidField("tools", "there are none on this path; leave them out");
    }
  }

  /** NaN if the request doesn't say. */
  private static double temperature(JsonNode temperature) {
    if (temperature.isMissingNode() || temperature.isNull()) {
      return Double.NaN;
    }
    double value = temperature.asDouble(Double.NaN);
    if (!temperature.isNumber() || !(value >= 0 && value <= 2)) {
      throw new InvalidField("temperature", "a number in 0..2 is needed");
    }
    return value;
  }

  /** A named tool and none need no parser of the model's calls. */
  private void tools(JsonNode root) {
    JsonNode choice = root.path("tool_choice");
    boolean parsed = !choice.isObject() && !choice.asText("auto").equals("none");
    if (!root.path("tools").isEmpty() && parsed && !config.autoToolChoice()) {
      throw new InvalidField(
          "tools",
          "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set");
    }
  }

  private static boolean isJson(@Nullable String contentType) {
    if (contentType == null) {
      return false;
    }
    int end = contentType.indexOf(';');
    String media = end < 0 ? contentType : contentType.substring(0, end);
    return media.strip().equalsIgnoreCase("application/json");
  }

  private static boolean bool(JsonNode parent, String field, String path) {
    JsonNode node = parent.path(field);
    if (node.isMissingNode() || node.isNull()) {
      return false;
    }
    if (!node.isBoolean()) {
      throw new InvalidField(path, "true or false is needed");
    }
    return node.booleanValue();
  }

  private static int integer(JsonNode parent, String field, int otherwise) {
    JsonNode node = parent.path(field);
    if (node.isMissingNode() || node.isNull()) {
      return otherwise;
    }
    if (!node.isIntegralNumber() || !node.canConvertToInt() || node.intValue() < 1) {
      throw new InvalidField(field, "an integer >= 1 is needed");
    }
    return node.intValue();
  }

  /** A field that is not what it must be; carries no stack, as clients cause it at will. */
  static final class InvalidField extends RuntimeException {

    final String field;
    final String problem;

    InvalidField(String field, String problem) {
      super(field + ": " + problem, null, false, false);
      this.field = field;
      this.problem = problem;
    }
  }
}
