package io.fairlead.epp.frontend.extproc;

import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import org.jspecify.annotations.Nullable;

/** Reads header maps of the wire. */
final class Headers {

  private Headers() {}

  /** First value of a header, or "". */
  static String value(HeaderMap headers, String name) {
    String value = first(headers, name);
    return value == null ? "" : value;
  }

  /** First value of a header. Proxies fill {@code raw_value}, older ones {@code value}. */
  static @Nullable String first(HeaderMap headers, String name) {
    for (int i = 0; i < headers.getHeadersCount(); i++) {
      HeaderValue header = headers.getHeaders(i);
      if (header.getKey().equalsIgnoreCase(name)) {
        return header.getRawValue().isEmpty()
            ? header.getValue()
            : header.getRawValue().toStringUtf8();
      }
    }
    return null;
  }

  /** A header that holds a number, or -1 if it is missing or holds none. */
  static long number(HeaderMap headers, String name) {
    String value = value(headers, name);
    if (value.isEmpty() || value.length() > 18) {
      return -1;
    }
    long number = 0;
    for (int i = 0; i < value.length(); i++) {
      int digit = value.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      number = number * 10 + digit;
    }
    return number;
  }
}
