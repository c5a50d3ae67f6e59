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
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.multipart.Attribute;
import io.netty.handler.codec.http.multipart.DefaultHttpDataFactory;
import io.netty.handler.codec.http.multipart.FileUpload;
import io.netty.handler.codec.http.multipart.HttpPostRequestDecoder;
import io.netty.handler.codec.http.multipart.InterfaceHttpData;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the body of a request for work. What the stub can't honour is an error, never ignored in
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

  private static final int USUAL_DIMENSIONS = 8;
  private static final int MAX_DIMENSIONS = 16_384;

  private final ModelServerConfig config;
  private final ServedModels models;

  RequestParser(ModelServerConfig config, ServedModels models) {
    this.config = config;
    this.models = models;
  }

  ParsedRequest parse(Api api, FullHttpRequest request) {
    try {
      return api == Api.TRANSCRIPTIONS
          ? transcription(request)
          : json(api, request.headers().get(HttpHeaderNames.CONTENT_TYPE), request.content());
    } catch (InvalidField invalid) {
      return ApiError.badRequest(invalid.field + ": " + invalid.problem, invalid.field);
    }
  }

  private ParsedRequest json(Api api, @Nullable String contentType, ByteBuf body) {
    if (!isJson(contentType)) {
      return ApiError.badRequest(
          "Unsupported media type: send the body as 'application/json'.", "content-type");
    }
    try (InputStream in = new ByteBufInputStream(body)) {
      JsonNode root = JSON.readTree(in);
      if (root == null || !root.isObject()) {
        return ApiError.badRequest("The body is not a JSON object.", null);
      }
      return api == Api.EMBEDDINGS ? embedding(root) : completion(api, root);
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

  private static String model(JsonNode root) {
    JsonNode model = root.path("model");
    if (!model.isTextual()) {
      throw new InvalidField("model", "a string is needed");
    }
    return model.textValue();
  }

  private BlockHasher hasher(String model) {
    return new BlockHasher(model, config.profile().blockTokens(), config.kvEvents() != null);
  }

  private Prompt prompt(String model) {
    return new Prompt(() -> hasher(model), config.multimodal());
  }

  private ParsedRequest embedding(JsonNode root) {
    String model = model(root);
    if (!models.serves(model)) {
      return ApiError.noSuchModel(model);
    }
    String encoding = root.path("encoding_format").asText("float");
    if (!encoding.equals("float") && !encoding.equals("base64")) {
      throw new InvalidField("encoding_format", "\"float\" or \"base64\" is needed");
    }
    int dimensions = integer(root, "dimensions", USUAL_DIMENSIONS);
    if (dimensions > MAX_DIMENSIONS) {
      throw new InvalidField("dimensions", "at most " + MAX_DIMENSIONS + " is allowed");
    }
    List<BlockHasher> prompts = prompt(model).read(Api.EMBEDDINGS, root);
    int most = prompts.stream().mapToInt(BlockHasher::tokens).max().orElseThrow();
    if (prompts.size() > MAX_CHOICES || most >= config.maxModelLen()) {
      return ApiError.badRequest(
          "At most %d prompts of fewer than %d tokens each are taken, but %d of up to %d were sent."
              .formatted(MAX_CHOICES, config.maxModelLen(), prompts.size(), most),
          Api.EMBEDDINGS.promptField());
    }
    // The engine model ends with a first token: one that nobody is told of.
    return new EmbeddingRequest(
        whole(Api.EMBEDDINGS, model, prompts, 1), dimensions, encoding.equals("base64"));
  }

  private ParsedRequest transcription(FullHttpRequest request) {
    if (!HttpPostRequestDecoder.isMultipart(request)) {
      return ApiError.badRequest(
          "Unsupported media type: send a form, 'multipart/form-data'.", "content-type");
    }
    Map<String, String> fields = new HashMap<>();
    byte[] sound = null;
    try {
      HttpPostRequestDecoder form =
          new HttpPostRequestDecoder(new DefaultHttpDataFactory(false), request);
      try {
        for (InterfaceHttpData part : form.getBodyHttpDatas()) {
          if (part instanceof Attribute field) {
            fields.put(field.getName(), field.getValue());
          } else if (part instanceof FileUpload file && file.getName().equals("file")) {
            sound = file.get();
          }
        }
      } finally {
        form.destroy();
      }
    } catch (DecoderException | IOException broken) {
      return ApiError.badRequest("The body is not a valid form.", null);
    }
    if (sound == null || sound.length == 0) {
      throw new InvalidField("file", "a file is needed");
    }
    String model = fields.get("model");
    if (model == null) {
      throw new InvalidField("model", "a string is needed");
    }
    if (!models.serves(model)) {
      return ApiError.noSuchModel(model);
    }
    if (!fields.getOrDefault("response_format", "json").equals("json")) {
      throw new InvalidField("response_format", "only \"json\" is served here");
    }
    if (!fields.getOrDefault("stream", "false").equalsIgnoreCase("false")) {
      throw new InvalidField("stream", "no transcription is streamed here; leave it out");
    }
    BlockHasher hasher = hasher(model);
    hasher.addMedia(new String(sound, StandardCharsets.ISO_8859_1), Prompt.MEDIA_TOKENS);
    hasher.add(fields.getOrDefault("prompt", ""));
    int context = config.maxModelLen();
    if (hasher.tokens() >= context) {
      return ApiError.badRequest(
          "This model's maximum context length is %d tokens, but %d were sent."
              .formatted(context, hasher.tokens()),
          Api.TRANSCRIPTIONS.promptField());
    }
    int words = Math.min(config.defaultMaxTokens(), context - hasher.tokens());
    return new TranscriptionRequest(
        whole(Api.TRANSCRIPTIONS, model, List.of(hasher), words),
        TranscriptionRequest.seconds(sound.length));
  }

  /** One answer in one piece to each prompt. */
  private CompletionRequest whole(Api api, String model, List<BlockHasher> prompts, int tokens) {
    return new CompletionRequest(
        api,
        model,
        models.adapterOf(model),
        false,
        false,
        config.promptTokensDetails(),
        1,
        tokens,
        choices(prompts, 1, tokens));
  }

  private ParsedRequest completion(Api api, JsonNode root) {
    String model = model(root);
    if (!models.serves(model)) {
      return ApiError.noSuchModel(model);
    }
    boolean stream = bool(root, "stream", "stream");
    if (!stream && api != Api.RESPONSES && !root.path("stream_options").isEmpty()) {
      return ApiError.badRequest(
          "Stream options can only be defined when `stream=True`.", "stream_options");
    }
    boolean includeUsage =
        bool(root.path("stream_options"), "include_usage", "stream_options.include_usage");
    boolean greedy = temperature(root.path("temperature")) == 0;
    int n = api == Api.RESPONSES ? 1 : choicesOfEachPrompt(root, greedy);
    switch (api) {
      case CHAT -> tools(root);
      case RESPONSES -> onlyOneTurn(root);
      case COMPLETIONS, EMBEDDINGS, TRANSCRIPTIONS -> {}
    }
    String limit = limitField(api, root);
    int asked = integer(root, limit, 0);
    List<BlockHasher> prompts = prompt(model).read(api, root);
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
        model,
        models.adapterOf(model),
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
