package io.fairlead.epp.frontend.gateway;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The pages that a browser lets call the gateway from elsewhere, by their origins (the Fetch
 * standard's CORS protocol). The gateway says so before a call, and in its own answers; what an
 * endpoint says in its answers is the endpoint's. Never with credentials: nothing here goes by
 * cookies.
 *
 * @param origins such as {@code https://chat.example}; {@code *} for any, and none for none
 */
public record AllowedOrigins(Set<String> origins) {

  /** Any page: what model servers allow unless told otherwise. */
  public static final AllowedOrigins ANY = of("*");

  /** Seconds for which a browser need not ask again. */
  private static final int MAX_AGE = 600;

  private static final String ANYONE = "*";

  /**
   * The same, in small letters, as browsers send them.
   *
   * @throws IllegalArgumentException if one is no origin, as it could never be met
   */
  public AllowedOrigins {
    origins =
        origins.stream()
            .map(origin -> origin.toLowerCase(Locale.ROOT))
            .collect(Collectors.toUnmodifiableSet());
    for (String origin : origins) {
      int host = origin.indexOf("://") + 3;
      boolean whole = host > 3 && host < origin.length() && origin.indexOf('/', host) < 0;
      if (!whole && !origin.equals(ANYONE)) {
        throw new IllegalArgumentException(
            "'" + origin + "' is no origin; say scheme://host or scheme://host:port, or * for any");
      }
    }
  }

  /** These. */
  public static AllowedOrigins of(String... origins) {
    return new AllowedOrigins(Set.of(origins));
  }

  private boolean any() {
    return origins.contains(ANYONE);
  }

  /** Whether a browser asks, and is to be told, that a page may call. */
  boolean mayCall(HttpRequest request) {
    return request.method().equals(HttpMethod.OPTIONS)
        && request.headers().contains(HttpHeaderNames.ACCESS_CONTROL_REQUEST_METHOD)
        && allowed(request) != null;
  }

  /** What a browser is told that asks, beside what {@link #addTo} says. */
  HttpHeaders answer(HttpRequest request, Target target) {
    HttpHeaders headers = HeaderRules.none();
    headers.set(HttpHeaderNames.ACCESS_CONTROL_ALLOW_METHODS, target.allowed());
    headers.set(HttpHeaderNames.ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    String wanted = request.headers().get(HttpHeaderNames.ACCESS_CONTROL_REQUEST_HEADERS);
    if (wanted != null) {
      headers.set(HttpHeaderNames.ACCESS_CONTROL_ALLOW_HEADERS, wanted);
    }
    return headers;
  }

  /** Lets the page that asked, if one did, read an answer of ours. */
  void addTo(HttpHeaders headers, HttpRequest request) {
    String allowed = allowed(request);
    if (allowed != null) {
      headers.set(HttpHeaderNames.ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
    }
    if (!any() && !origins.isEmpty()) {
      headers.set(HttpHeaderNames.VARY, HttpHeaderNames.ORIGIN);
    }
  }

  /** As whom the page that asks is allowed; null where none asks, or it is not. */
  private @Nullable String allowed(HttpRequest request) {
    String origin = request.headers().get(HttpHeaderNames.ORIGIN);
    if (origin == null) {
      return null;
    }
    return any() ? ANYONE : origins.contains(origin) ? origin : null;
  }
}
