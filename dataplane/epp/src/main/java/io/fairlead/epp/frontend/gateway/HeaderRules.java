package io.fairlead.epp.frontend.gateway;

import io.fairlead.epp.director.PickerHeaders;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Which headers pass. Those of one hop end here in both directions; so do those that steer a picker
 * or a model server's sidecar, which a client must not be able to set.
 */
final class HeaderRules {

  static final String REQUEST_ID = "x-request-id";
  static final String ENDPOINT = "x-fairlead-endpoint";

  private static final Set<String> ONE_HOP =
      Set.of(
          "connection",
          "keep-alive",
          "proxy-connection",
          "proxy-authenticate",
          "proxy-authorization",
          "te",
          "transfer-encoding",
          "upgrade",
          "http2-settings");

  private static final Set<String> OWN = Set.of("content-length", "expect");

  private HeaderRules() {}

  /** No headers yet; values are not checked again: they come from the decoder or from here. */
  static HttpHeaders none() {
    return DefaultHttpHeadersFactory.headersFactory().withValidation(false).newHeaders();
  }

  static HttpHeaders toBackend(HttpHeaders from) {
    return copy(from, OWN);
  }

  static HttpHeaders toClient(HttpHeaders from) {
    return copy(from, Set.of());
  }

  /**
   * A request's trailers as an endpoint may have them; from the decoder's own, which are reused.
   */
  static HttpHeaders trailersToBackend(HttpHeaders from) {
    return from.isEmpty() ? EmptyHttpHeaders.INSTANCE : copy(from, OWN);
  }

  /** Leaves in a response's trailers what may pass. */
  static void filterTrailers(HttpHeaders trailers) {
    if (!trailers.isEmpty()) {
      HttpHeaders passing = copy(trailers, OWN);
      trailers.clear().add(passing);
    }
  }

  private static HttpHeaders copy(HttpHeaders from, Set<String> dropped) {
    Set<String> listed = Set.of();
    if (from.contains(HttpHeaderNames.CONNECTION)) {
      listed = new HashSet<>();
      for (String value : from.getAll(HttpHeaderNames.CONNECTION)) {
        for (String name : value.split(",", -1)) {
          listed.add(name.strip().toLowerCase(Locale.ROOT));
        }
      }
    }
    HttpHeaders to = none();
    Iterator<Map.Entry<CharSequence, CharSequence>> headers = from.iteratorCharSequence();
    while (headers.hasNext()) {
      Map.Entry<CharSequence, CharSequence> header = headers.next();
      String name = header.getKey().toString().toLowerCase(Locale.ROOT);
      boolean internal =
          name.startsWith("x-gateway-")
              || name.startsWith("x-fairlead-")
              || name.startsWith("x-http2-");
      if (!internal
          && !ONE_HOP.contains(name)
          && !dropped.contains(name)
          && !PickerHeaders.NOT_FROM_CLIENTS.contains(name)
          && !listed.contains(name)) {
        to.add(header.getKey(), header.getValue());
      }
    }
    return to;
  }
}
