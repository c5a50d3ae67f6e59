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
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Who may see the console and the debug pages: whoever is on this host, and from elsewhere those
 * with the token. Who shows wrong ones must wait before the next is looked at.
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
  private final WrongTokens wrong;

  private Access(@Nullable AccessToken token, LongSupplier clock) {
    this.token = token;
    wrong = new WrongTokens(clock);
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
            : new AccessToken(console.tokenFile(), System::nanoTime, InstantSource.system()),
        System::nanoTime);
  }

  /** With this token; null for none. */
  static Access with(@Nullable AccessToken token, LongSupplier clock) {
    return new Access(token, clock);
  }

  /** Whether this client may see all. */
  public boolean admits(@Nullable SocketAddress client, HttpHeaders headers) {
    return isOfThisHost(client, headers) || hasSession(headers) || bears(client, headers);
  }

  /** The same of who was admitted before: a token that has changed since is no wrong guess. */
  boolean stillAdmits(@Nullable SocketAddress client, HttpHeaders headers) {
    String shown = shown(headers);
    return isOfThisHost(client, headers)
        || hasSession(headers)
        || (token != null && shown != null && token.matches(shown));
  }

  /**
   * After how many seconds this client's token will be looked at again, since too many wrong ones
   * were shown; 0 where it is now.
   */
  public long secondsToWait(@Nullable SocketAddress client) {
    return wrong.secondsToWait(client);
  }

  /** Whether a request shows a token, right or wrong. */
  public static boolean showsToken(HttpHeaders headers) {
    return shown(headers) != null;
  }

  /** Why nobody of another host can get in; empty where they can, with the token. */
  String closed() {
    return token == null
        ? "it is shown to this host alone, by the name localhost: kubectl port-forward, then ask"
            + " localhost; or set a token"
        : token.problem();
  }

  /**
   * A session for who has shown this token; null if it isn't the right one, or its client has to
   * wait.
   */
  @Nullable String login(@Nullable SocketAddress client, String shown) {
    return token != null && isRight(client, token, shown) ? token.newSession() : null;
  }

  private boolean isRight(@Nullable SocketAddress client, AccessToken known, String shown) {
    if (wrong.secondsToWait(client) > 0) {
      return false;
    }
    boolean right = known.matches(shown);
    if (!right) {
      wrong.count(client);
    }
    return right;
  }

  /** Whether a browser has logged in, and still may look. */
  boolean hasSession(HttpHeaders headers) {
    return token != null && sessions(headers).anyMatch(token::isOpen);
  }

  /** A browser logs out: whoever has its session is out, too. */
  void logout(HttpHeaders headers) {
    if (token != null) {
      sessions(headers).forEach(token::end);
    }
  }

  /** What a browser shows for sessions, of whatever kind. */
  private static Stream<String> sessions(HttpHeaders headers) {
    return headers.getAll(HttpHeaderNames.COOKIE).stream()
        .flatMap(line -> ServerCookieDecoder.STRICT.decodeAll(line).stream())
        .filter(cookie -> cookie.name().equals(COOKIE))
        .map(Cookie::value);
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

  private static boolean isOfThisHost(@Nullable SocketAddress client, HttpHeaders headers) {
    return isLocal(client) && isNamedSo(headers);
  }

  /** No browser leaves the name out. */
  private static boolean isNamedSo(HttpHeaders headers) {
    if (FROM_A_PROXY.stream().anyMatch(headers::contains)) {
      return false;
    }
    return headers.getAll(HttpHeaderNames.HOST).stream()
        .allMatch(name -> LOCAL_NAME.matcher(name.toLowerCase(Locale.ROOT)).matches());
  }

  private boolean bears(@Nullable SocketAddress client, HttpHeaders headers) {
    String shown = shown(headers);
    return token != null && shown != null && isRight(client, token, shown);
  }

  private static @Nullable String shown(HttpHeaders headers) {
    String shown = headers.get(HttpHeaderNames.AUTHORIZATION);
    return shown != null && shown.regionMatches(true, 0, BEARER, 0, BEARER.length())
        ? shown.substring(BEARER.length()).strip()
        : null;
  }
}
