package io.fairlead.epp.openai;

import io.fairlead.core.Rejection;
import java.nio.charset.StandardCharsets;

/**
 * An error as clients of the OpenAI API know it, or those of the Messages API.
 *
 * @param status HTTP status
 * @param type {@code invalid_request_error}, {@code rate_limit_error} or {@code server_error}
 * @param code machine-readable name; also the value of {@link #REASON_HEADER}
 * @param message for people
 * @param retryAfterSeconds for {@code Retry-After}, or -1 for none
 */
public record OpenAiError(
    int status, String type, String code, String message, int retryAfterSeconds) {

  /** Response header that tells an error of ours from one of a model server. */
  public static final String REASON_HEADER = "x-fairlead-reject-reason";

  /** The {@code Content-Type} of {@link #body()}. */
  public static final String CONTENT_TYPE = "application/json";

  /** The answer to a request that the pool turned away. */
  public static OpenAiError of(Rejection rejection) {
    Rejection.Reason reason = rejection.reason();
    return new OpenAiError(
        reason.status(),
        type(reason.status()),
        reason.code(),
        rejection.message(),
        rejection.retryAfterSeconds());
  }

  /** The answer to a request that no endpoint should see. */
  public static OpenAiError of(BadRequestException bad) {
    return new OpenAiError(
        bad.status(),
        type(bad.status()),
        bad.code(),
        String.valueOf(bad.getMessage()),
        bad.retryAfterSeconds());
  }

  private static String type(int status) {
    return status == 429
        ? "rate_limit_error"
        : status < 500 ? "invalid_request_error" : "server_error";
  }

  /** The response body for a call of this path, in UTF-8. */
  public byte[] body(String path) {
    return Operation.of(path).isMessages() ? messagesBody() : body();
  }

  private byte[] messagesBody() {
    StringBuilder json =
        new StringBuilder(message.length() + 128)
            .append("{\"type\":\"error\",\"error\":{\"type\":\"")
            .append(messagesType())
            .append("\",\"message\":\"");
    JsonString.append(json, message);
    return json.append("\"}}").toString().getBytes(StandardCharsets.UTF_8);
  }

  private String messagesType() {
    return switch (status) {
      case 404 -> "not_found_error";
      case 413 -> "request_too_large";
      case 429 -> "rate_limit_error";
      case 503 -> "overloaded_error";
      case 504 -> "timeout_error";
      default -> status < 500 ? "invalid_request_error" : "api_error";
    };
  }

  /** The response body, in UTF-8. */
  public byte[] body() {
    StringBuilder json =
        new StringBuilder(message.length() + 128).append("{\"error\":{\"message\":\"");
    JsonString.append(json, message);
    json.append("\",\"type\":\"").append(type).append("\",\"param\":null,\"code\":\"");
    JsonString.append(json, code);
    return json.append("\"}}").toString().getBytes(StandardCharsets.UTF_8);
  }
}
