package io.fairlead.epp.frontend.gateway;

import io.fairlead.epp.openai.ErrorCodes;
import io.fairlead.epp.openai.OpenAiError;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Looks at {@code Host}: two servers that read an ambiguous one differently are a way around
 * whatever stands before the second.
 */
final class Host {

  /** What a host and a port may have besides letters and digits, RFC 3986. */
  private static final String SIGNS = "-._~%!$&'()*+,;=:[]";

  private Host() {}

  /** Why this request is refused, or null. */
  static @Nullable OpenAiError refusal(HttpRequest request) {
    List<String> hosts = request.headers().getAll(HttpHeaderNames.HOST);
    if (hosts.isEmpty() && !request.protocolVersion().equals(HttpVersion.HTTP_1_0)) {
      return error("is missing; HTTP/1.1 needs it");
    }
    if (hosts.size() > 1) {
      return error("is there more than once; send it once");
    }
    if (!hosts.isEmpty() && !isGood(hosts.getFirst())) {
      return error("is not a host and a port");
    }
    String target = Target.authority(request.uri());
    return target == null || (!target.isEmpty() && isGood(target))
        ? null
        : Target.error(
            400, ErrorCodes.INVALID_HTTP, "The request's target has no proper host and port.");
  }

  /**
   * Has the header say what an absolute target says, which counts in its place (RFC 9112 3.2.2):
   * endpoints are asked for a mere path.
   */
  static void settle(HttpRequest request) {
    String target = Target.authority(request.uri());
    if (target != null) {
      request.headers().set(HttpHeaderNames.HOST, target);
    }
  }

  private static boolean isGood(String host) {
    for (int i = 0; i < host.length(); i++) {
      char c = host.charAt(i);
      boolean plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (!plain && SIGNS.indexOf(c) < 0) {
        return false;
      }
    }
    return true;
  }

  private static OpenAiError error(String problem) {
    return Target.error(400, ErrorCodes.INVALID_HTTP, "The header 'host' " + problem + ".");
  }
}
