package io.fairlead.epp.frontend.gateway;

import io.netty.channel.Channel;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;

/**
 * The way from a client to here, as it is told to endpoints. What proxies before this one told is
 * kept; this one only adds to it.
 *
 * @param client the client's address, without its port
 * @param scheme {@code http} or {@code https}
 * @param protocol version of HTTP that the client speaks
 */
record Hop(String client, String scheme, String protocol) {

  private static final String FORWARDED_FOR = "x-forwarded-for";
  private static final String FORWARDED_PROTO = "x-forwarded-proto";
  private static final String FORWARDED_HOST = "x-forwarded-host";
  private static final String NAME = "fairlead";

  /** The way of a connection. */
  static Hop of(Channel channel, boolean secure, String protocol) {
    String address =
        channel.remoteAddress() instanceof InetSocketAddress from
            ? NetUtil.toAddressString(from.getAddress())
            : "unknown";
    return new Hop(address, secure ? "https" : "http", protocol);
  }

  /** Adds it to what an endpoint gets. */
  void addTo(HttpHeaders headers) {
    append(headers, FORWARDED_FOR, client);
    append(headers, HttpHeaderNames.VIA, protocol + " " + NAME);
    if (!headers.contains(FORWARDED_PROTO)) {
      headers.set(FORWARDED_PROTO, scheme);
    }
    String host = headers.get(HttpHeaderNames.HOST, "");
    if (!host.isEmpty() && !headers.contains(FORWARDED_HOST)) {
      headers.set(FORWARDED_HOST, host);
    }
  }

  private static void append(HttpHeaders headers, CharSequence name, String value) {
    headers.set(
        name,
        headers.contains(name) ? String.join(", ", headers.getAll(name)) + ", " + value : value);
  }
}
