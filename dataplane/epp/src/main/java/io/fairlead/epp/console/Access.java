package io.fairlead.epp.console;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.cookie.Cookie;
import io.netty.handler.codec.http.cookie.ServerCookieDecoder;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Who may see the console and the debug pages: whoever is on this host, and from elsewhere those
 * with the token.
 *
 * <p>A browser is made to ask on another page's behalf by a name that leads here: so a client of
 * this host must call it by a name of this host. What a proxy on this host passes on is from
 * elsewhere.
 *
 * <p>Used by one thread.
 */
public final class Access {

  static final String COOKIE = "fairlead-console";

  private static final Set<String> LOCAL = Set.of("127.0.0.1", "0:0:0:0:0:0:0:1");

  private static final Pattern LOCAL_NAME =
      Pattern.compile("(localhost|127(\\.[0-9]{1,3}){3}|\\[::1])(:[0-9]{1,5})?");
  private static final List<String> FROM_A_PROXY =
      List.of("forwarded", "x-forwarded-for", "x-forwarded-host");
  private static final String BEARER = "Bearer ";

  private final @Nullable AccessToken token;

  private Access(@Nullable AccessToken token) {
    this.token = token;
  }

  /**
   * As a console's config says.
   *
   * @param console null where there is none: then this host alone may see the debug pages
   */
  public static Access of(@Nullable ConsoleConfig console) {
    return new Access(
        console == null || console.tokenFile() == null
            ? null
            : new AccessToken(console.tokenFile(), System::nanoTime, InstantSource.system()));
  }

  /** With this token; null for none. */
  static Access with(@Nullable AccessToken token) {
    return new Access(token);
  }

  /** Whether this client may see all. */
  public boolean admits(@Nullable SocketAddress client, HttpHeaders headers) {
    if (isLocal(client) && isNamedSo(headers)) {
      return true;
    }
    return bears(headers) || hasSession(headers);
  }

  /** Why nobody of another host can get in; empty where they can, with the token. */
  String closed() {
    return token == null
        ? "it is shown to this host alone, by the name localhost: kubectl port-forward, then ask"
            + " localhost; or set a token"
        : token.problem();
  }

  /** A session for who has shown this token; null if it isn't the right one. */
  @Nullable String login(String shown) {
    return token != null && token.matches(shown) ? token.newSession() : null;
  }

  /** Whether a browser has logged in, and still may look. */
  boolean hasSession(HttpHeaders headers) {
    if (token != null) {
      for (String line : headers.getAll(HttpHeaderNames.COOKIE)) {
        for (Cookie cookie : ServerCookieDecoder.STRICT.decodeAll(line)) {
          if (cookie.name().equals(COOKIE) && token.isOpen(cookie.value())) {
            return true;
          }
        }
      }
    }
    return false;
  }

  /**
   * Whether a client is on this host: a port that is forwarded into the pod counts as that. Other
   * addresses of the loopback don't: sidecars of meshes pass strangers' requests on from there.
   */
  static boolean isLocal(@Nullable SocketAddress client) {
    return client instanceof InetSocketAddress address
        && address.getAddress() != null
        && LOCAL.contains(address.getAddress().getHostAddress());
  }

  /** No browser leaves the name out. */
  private static boolean isNamedSo(HttpHeaders headers) {
    if (FROM_A_PROXY.stream().anyMatch(headers::contains)) {
      return false;
    }
    return headers.getAll(HttpHeaderNames.HOST).stream()
        .allMatch(name -> LOCAL_NAME.matcher(name.toLowerCase(Locale.ROOT)).matches());
  }

  private boolean bears(HttpHeaders headers) {
    String shown = headers.get(HttpHeaderNames.AUTHORIZATION);
    return token != null
        && shown != null
        && shown.regionMatches(true, 0, BEARER, 0, BEARER.length())
        && token.matches(shown.substring(BEARER.length()).strip());
  }
}
