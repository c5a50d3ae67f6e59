package io.fairlead.epp.frontend.gateway;

import io.fairlead.epp.director.PickerHeaders;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which headers pass. Those of one hop end here in both directions; so do those that steer a picker
 * or a model server's sidecar, which a client must not be able to set.
 */
final class HeaderRules {

  static final String REQUEST_ID = "x-request-id";

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

  private static final HeaderNames NOT_TO_CLIENT = names(ONE_HOP);
  private static final HeaderNames NOT_TO_BACKEND = names(ONE_HOP, OWN);

  /** What headers begin with that belong to a gateway, to the picker and to Netty's codec. */
  private static final List<AsciiString> INTERNAL =
      List.of(
          AsciiString.of("x-gateway-"), AsciiString.of("x-fairlead-"), AsciiString.of("x-http2-"));

  private HeaderRules() {}

  @SafeVarargs
  private static HeaderNames names(Set<String>... kinds) {
    Set<String> all = new HashSet<>(PickerHeaders.NOT_FROM_CLIENTS);
    for (Set<String> kind : kinds) {
      all.addAll(kind);
    }
    return new HeaderNames(all);
  }

  /**
   * What a value says: people write names in UTF-8, and the decoder makes a character of each byte.
   * As it is where it is no UTF-8.
   */
  static String text(String value) {
    boolean ascii = true;
    for (int i = 0; i < value.length(); i++) {
      ascii &= value.charAt(i) < 0x80;
    }
    if (ascii) {
      return value;
    }
    try {
      byte[] bytes = value.getBytes(StandardCharsets.ISO_8859_1);
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      return value;
    }
  }

  /** No headers yet; values are not checked again: they come from the decoder or from here. */
  static HttpHeaders none() {
    return DefaultHttpHeadersFactory.headersFactory().withValidation(false).newHeaders();
  }

  static HttpHeaders toBackend(HttpHeaders from) {
    return copy(from, NOT_TO_BACKEND);
  }

  static HttpHeaders toClient(HttpHeaders from) {
    return copy(from, NOT_TO_CLIENT);
  }

  /**
   * A request's trailers as an endpoint may have them; from the decoder's own, which are reused.
   */
  static HttpHeaders trailersToBackend(HttpHeaders from) {
    return from.isEmpty() ? EmptyHttpHeaders.INSTANCE : copy(from, NOT_TO_BACKEND);
  }

  /** Leaves in a response's trailers what may pass. */
  static void filterTrailers(HttpHeaders trailers) {
    if (!trailers.isEmpty()) {
      HttpHeaders passing = copy(trailers, NOT_TO_BACKEND);
      trailers.clear().add(passing);
    }
  }

  private static HttpHeaders copy(HttpHeaders from, HeaderNames dropped) {
    Set<String> listed = from.contains(HttpHeaderNames.CONNECTION) ? listed(from) : Set.of();
    HttpHeaders to = none();
    Iterator<Map.Entry<CharSequence, CharSequence>> headers = from.iteratorCharSequence();
    while (headers.hasNext()) {
      Map.Entry<CharSequence, CharSequence> header = headers.next();
      CharSequence name = header.getKey();
      if (!dropped.contains(name)
          && !isInternal(name)
          && (listed.isEmpty() || !listed.contains(name.toString()))) {
        to.add(name, header.getValue());
      }
    }
    return to;
  }

  /** Those that the sender says are of one hop: a tree, as it can choose names of equal hashes. */
  private static Set<String> listed(HttpHeaders from) {
    Set<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
    for (String value : from.getAll(HttpHeaderNames.CONNECTION)) {
      for (String name : value.split(",", -1)) {
        names.add(name.strip());
      }
    }
    return names;
  }

  private static boolean isInternal(CharSequence name) {
    for (int i = 0; i < INTERNAL.size(); i++) {
      AsciiString start = INTERNAL.get(i);
      if (AsciiString.regionMatches(name, true, 0, start, 0, start.length())) {
        return true;
      }
    }
    return false;
  }
}
