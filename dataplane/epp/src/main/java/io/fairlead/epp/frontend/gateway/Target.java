package io.fairlead.epp.frontend.gateway;

import io.fairlead.epp.openai.BadRequestException;
import io.fairlead.epp.openai.ErrorCodes;
import io.fairlead.epp.openai.OpenAiError;
import io.fairlead.epp.openai.RequestContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What may be asked of the gateway. Model servers have more paths, such as those that load adapters
 * or put the engine to sleep, without asking who wants it; those stay out of reach.
 */
enum Target {
  INFERENCE("POST"),
  /** An answer that a model server keeps: to be read, deleted, or not computed any further. */
  STORED("GET", "HEAD", "DELETE", "POST"),
  TOKENIZER("GET", "HEAD"),
  MODELS("GET", "HEAD"),
  HEALTH("GET", "HEAD"),
  VERSION("GET", "HEAD"),
  READY("GET", "HEAD");

  /** What a single model's path begins with; a name may have slashes itself. */
  private static final String MODEL = "/v1/models/";

  private static final String AFTER_SCHEME = "://";

  private static final HexFormat HEX = HexFormat.of().withUpperCase();

  private static final Pattern STORED_ANSWER = Pattern.compile("/v1/responses/[\\w-]+(/cancel)?");

  @SuppressWarnings("ImmutableEnumChecker") // made by List.of
  private final List<String> methods;

  Target(String... methods) {
    this.methods = List.of(methods);
  }

  static @Nullable Target of(String path) {
    return switch (path) {
      case "/v1/chat/completions",
          "/v1/chat/completions/render",
          "/v1/completions",
          "/v1/completions/render",
          "/v1/embeddings",
          "/v1/responses",
          "/v1/messages",
          "/v1/messages/count_tokens",
          "/v1/audio/transcriptions",
          "/v1/audio/translations",
          "/v1/rerank",
          "/v2/rerank",
          "/rerank",
          "/v1/score",
          "/score",
          "/pooling",
          "/classify",
          "/tokenize",
          "/detokenize",
          "/inference/v1/generate",
          "/generate" ->
          INFERENCE;
      case "/tokenizer_info" -> TOKENIZER;
      case "/v1/models" -> MODELS;
      case "/healthz" -> HEALTH;
      // As model servers have them, for clients that ask before they begin.
      case "/readyz", "/health", "/ping" -> READY;
      case "/version" -> VERSION;
      default ->
          path.startsWith(MODEL) && path.length() > MODEL.length()
              ? MODELS
              : STORED_ANSWER.matcher(path).matches() ? STORED : null;
    };
  }

  /** What may be done with it, as the header {@code allow} says it. */
  String allowed() {
    return String.join(", ", methods);
  }

  /** Whether an endpoint answers it; else the gateway does. */
  boolean isServedByEndpoints() {
    return this == INFERENCE || this == STORED || this == TOKENIZER;
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
    int authority = authorityFrom(uri);
    if (authority < 0) {
      return uri;
    }
    String rest = uri.substring(authorityTo(uri, authority));
    return rest.startsWith("/") ? rest : "/" + rest;
  }

  /** The host, and a port where it has one, of an absolute URI; null of all others. */
  static @Nullable String authority(String uri) {
    int from = authorityFrom(uri);
    return from < 0 ? null : uri.substring(from, authorityTo(uri, from));
  }

  /** Where an absolute URI has its authority; -1 of one that is none, such as a mere path. */
  private static int authorityFrom(String uri) {
    int scheme = uri.startsWith("/") ? 0 : uri.indexOf(AFTER_SCHEME);
    for (int i = 0; i < scheme; i++) {
      if (!isOfScheme(uri.charAt(i))) {
        return -1;
      }
    }
    return scheme > 0 ? scheme + AFTER_SCHEME.length() : -1;
  }

  private static int authorityTo(String uri, int from) {
    int to = from;
    while (to < uri.length() && uri.charAt(to) != '/' && uri.charAt(to) != '?') {
      to++;
    }
    return to;
  }

  /** RFC 3986 3.1. */
  private static boolean isOfScheme(char c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || c == '+'
        || c == '-'
        || c == '.';
  }

  /**
   * The same with bytes that are no ASCII encoded, RFC 3986 2.1. Over one of them that is no UTF-8
   * there are servers that end a connection of HTTP/2, with the answers of all others.
   *
   * @param uri with a character for each byte, as the decoders make it
   */
  static String encoded(String uri) {
    int ascii = 0;
    while (ascii < uri.length() && uri.charAt(ascii) < 0x80) {
      ascii++;
    }
    if (ascii == uri.length()) {
      return uri;
    }
    StringBuilder encoded = new StringBuilder(uri.length() + 2).append(uri, 0, ascii);
    for (int i = ascii; i < uri.length(); i++) {
      char c = uri.charAt(i);
      if (c < 0x80) {
        encoded.append(c);
      } else {
        HEX.toHexDigits(encoded.append('%'), (byte) c);
      }
    }
    return encoded.toString();
  }

  /** Why this request is refused before its body is read, or null. */
  static @Nullable OpenAiError refusal(
      HttpRequest request, int maxBodyBytes, AllowedOrigins origins) {
    OpenAiError badForm = Framing.refusal(request);
    if (badForm != null) {
      return badForm;
    }
    OpenAiError badHost = Host.refusal(request);
    if (badHost != null) {
      return badHost;
    }
    Target target = of(path(request.uri()));
    if (target == null) {
      return error(
          404,
          ErrorCodes.UNKNOWN_PATH,
          "There is nothing here; see /v1/models, /v1/chat/completions, /v1/completions,"
              + " /v1/embeddings, /v1/responses and /v1/messages.");
    }
    if (!target.methods.contains(request.method().name()) && !origins.mayCall(request)) {
      return error(
          405, ErrorCodes.METHOD_NOT_ALLOWED, "This path takes " + target.allowed() + " only.");
    }
    if (HttpUtil.getContentLength(request, 0L) > maxBodyBytes) {
      return tooLarge(maxBodyBytes);
    }
    return null;
  }

  /**
   * How the body is to be read. A request whose head says that none follows is picked for without a
   * model, whatever its path, as behind a proxy, which shows nothing else of it: what is wrong with
   * it is the server's to say.
   *
   * @throws BadRequestException if it is declared as something that can't be served here
   */
  static RequestContent content(HttpRequest request) throws BadRequestException {
    String path = path(request.uri());
    Target target = of(path);
    return target != null && target.isServedByEndpoints() && mayHaveBody(request)
        ? RequestContent.of(
            path,
            everything(request, HttpHeaderNames.CONTENT_TYPE),
            everything(request, HttpHeaderNames.CONTENT_ENCODING))
        : RequestContent.NONE;
  }

  /** All that a header says, as proxies join it: the endpoint may go by another part of it. */
  private static String everything(HttpRequest request, CharSequence name) {
    List<String> values = request.headers().getAll(name);
    return values.size() <= 1
        ? request.headers().get(name, "")
        : values.stream().distinct().collect(Collectors.joining(","));
  }

  private static boolean mayHaveBody(HttpRequest request) {
    return HttpUtil.isTransferEncodingChunked(request)
        || HttpUtil.getContentLength(request, 0L) > 0;
  }

  static OpenAiError tooLarge(int maxBodyBytes) {
    return error(
        413, ErrorCodes.BODY_TOO_LARGE, "The body is longer than " + maxBodyBytes + " bytes.");
  }

  static OpenAiError error(int status, String code, String message) {
    return OpenAiError.of(new BadRequestException(status, code, message));
  }
}
