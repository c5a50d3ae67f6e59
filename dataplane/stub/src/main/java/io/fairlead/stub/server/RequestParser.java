package io.fairlead.stub.server;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufInputStream;
import java.io.IOException;
import java.io.InputStream;
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

  private final ModelServerConfig config;
  private final ServedModels models;

  RequestParser(ModelServerConfig config, ServedModels models) {
    this.config = config;
    this.models = models;
  }

  ParsedRequest parse(boolean chat, @Nullable String contentType, ByteBuf body) {
    if (!isJson(contentType)) {
      return ApiError.badRequest(
          "Unsupported media type: send the body as 'application/json'.", "content-type");
    }
    try (InputStream in = new ByteBufInputStream(body)) {
      JsonNode root = JSON.readTree(in);
      if (root == null || !root.isObject()) {
        return ApiError.badRequest("The body is not a JSON object.", null);
      }
      return completion(chat, root);
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

  private ParsedRequest completion(boolean chat, JsonNode root) {
    JsonNode model = root.path("model");
    if (!model.isTextual()) {
      throw new InvalidField("model", "a string is needed");
    }
    if (!models.serves(model.textValue())) {
      return ApiError.noSuchModel(model.textValue());
    }
    if (integer(root, "n", 1) != 1) {
      throw new InvalidField("n", "this server gives one choice");
    }
    boolean stream = bool(root, "stream", "stream");
    boolean includeUsage =
        bool(root.path("stream_options"), "include_usage", "stream_options.include_usage");
    int outputTokens =
        integer(
            root, "max_completion_tokens", integer(root, "max_tokens", config.defaultMaxTokens()));
    BlockHasher hasher = new BlockHasher(model.textValue(), config.profile().blockTokens());
    Prompt.addTo(hasher, chat, root);
    int promptTokens = hasher.tokens();
    long room = (long) config.profile().blocks() * config.profile().blockTokens();
    if ((long) promptTokens + outputTokens > room) {
      return ApiError.badRequest(
          "This model's maximum context length is %d tokens, but %d prompt and %d output tokens were asked for."
              .formatted(room, promptTokens, outputTokens),
          chat ? "messages" : "prompt");
    }
    hasher.add(Filler.text(outputTokens));
    return new CompletionRequest(
        chat,
        model.textValue(),
        models.adapterOf(model.textValue()),
        stream,
        includeUsage,
        promptTokens,
        outputTokens,
        hasher.blocks());
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
