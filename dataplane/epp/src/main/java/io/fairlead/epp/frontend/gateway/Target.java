package io.fairlead.epp.frontend.gateway;

import io.fairlead.epp.openai.BadRequestException;
import io.fairlead.epp.openai.ErrorCodes;
import io.fairlead.epp.openai.JsonMediaType;
import io.fairlead.epp.openai.OpenAiError;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.QueryStringDecoder;
import org.jspecify.annotations.Nullable;

/** What may be asked of the gateway. Model servers have more paths; those stay out of reach. */
enum Target {
  INFERENCE("POST"),
  MODELS("GET"),
  HEALTH("GET"),
  VERSION("GET"),
  READY("GET");

  /** What a single model's path begins with; a name may have slashes itself. */
  private static final String MODEL = "/v1/models/";

  private final String method;

  Target(String method) {
    this.method = method;
  }

  static @Nullable Target of(String path) {
    return switch (path) {
      case "/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/responses" ->
          INFERENCE;
      case "/v1/models" -> MODELS;
      case "/healthz" -> HEALTH;
      // As model servers have them, for clients that ask before they begin.
      case "/readyz", "/health", "/ping" -> READY;
      case "/version" -> VERSION;
      default -> path.startsWith(MODEL) && path.length() > MODEL.length() ? MODELS : null;
    };
  }

  /** The name that a path asks about; empty where it is all of them. */
  static String model(String path) {
    return path.startsWith(MODEL)
        ? QueryStringDecoder.decodeComponent(path.substring(MODEL.length()).replace("+", "%2B"))
        : "";
  }

  /** The path without its query; of an absolute URI too. */
  static String path(String uri) {
    String relative = pathAndQuery(uri);
    int query = relative.indexOf('?');
    return query < 0 ? relative : relative.substring(0, query);
  }

  /** The form that endpoints understand, from an absolute URI too. */
  static String pathAndQuery(String uri) {
    int authority = uri.startsWith("/") ? -1 : uri.indexOf("://");
    if (authority < 0) {
      return uri;
    }
    int path = uri.indexOf('/', authority + 3);
    return path < 0 ? "/" : uri.substring(path);
  }

  /** Why this request is refused before its body is read, or null. */
  static @Nullable OpenAiError refusal(HttpRequest request, int maxBodyBytes) {
    if (request.decoderResult().isFailure()) {
      return error(400, ErrorCodes.INVALID_HTTP, "The request is not valid HTTP/1.1.");
    }
    Target target = of(path(request.uri()));
    if (target == null) {
      return error(
          404,
          ErrorCodes.UNKNOWN_PATH,
          "There is nothing here; see /v1/models, /v1/chat/completions, /v1/completions,"
              + " /v1/embeddings and /v1/responses.");
    }
    if (!request.method().name().equals(target.method)) {
      return error(
          405, ErrorCodes.METHOD_NOT_ALLOWED, "This path takes " + target.method + " only.");
    }
    if (target == INFERENCE) {
      try {
        JsonMediaType.require(
            request.headers().get(HttpHeaderNames.CONTENT_TYPE, ""),
            request.headers().get(HttpHeaderNames.CONTENT_ENCODING, ""));
      } catch (BadRequestException e) {
        return OpenAiError.of(e);
      }
    }
    if (HttpUtil.getContentLength(request, 0L) > maxBodyBytes) {
      return tooLarge(maxBodyBytes);
    }
    return null;
  }

  static OpenAiError tooLarge(int maxBodyBytes) {
    return error(
        413, ErrorCodes.BODY_TOO_LARGE, "The body is longer than " + maxBodyBytes + " bytes.");
  }

  static OpenAiError error(int status, String code, String message) {
    return OpenAiError.of(new BadRequestException(status, code, message));
  }
}
