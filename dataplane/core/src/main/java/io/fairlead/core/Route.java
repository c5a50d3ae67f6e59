package io.fairlead.core;

import io.fairlead.crds.config.Criticality;
import java.util.ArrayList;
import java.util.List;

/**
 * Where a request is to be sent.
 *
 * @param targetModel what the body's {@code model} must say; empty when the request named none
 * @param criticality of its objective, or else of the model asked for
 * @param endpoint name of the endpoint
 * @param address its IP address, without brackets
 * @param port its port
 * @param matchedBlocks leading prompt blocks believed to be cached there
 * @param promptTokens length of the prompt, as it was estimated when the request was sent
 * @param expectedCachedTokens those of {@code promptTokens} believed to be cached by whoever
 *     computes the prompt
 * @param attempt 1 for the first send, 2 for a retry, …
 * @param fallbacks further endpoints that a proxy may try by itself, best first, each in the form
 *     of {@link #destination()}
 * @param requestHeaders to be set on the request that the endpoint gets
 * @param responseHeaders to be set on the response that the client gets
 */
public record Route(
    String targetModel,
    Criticality criticality,
    String endpoint,
    String address,
    int port,
    int matchedBlocks,
    int promptTokens,
    int expectedCachedTokens,
    int attempt,
    List<String> fallbacks,
    List<Header> requestHeaders,
    List<Header> responseHeaders) {

  /** Tells who decodes at which {@link #destination} the prompt is computed, if elsewhere. */
  public static final String PREFILLER_HEADER = "x-prefiller-host-port";

  public Route {
    fallbacks = List.copyOf(fallbacks);
    requestHeaders = List.copyOf(requestHeaders);
    responseHeaders = List.copyOf(responseHeaders);
  }

  /** A route without fallbacks and headers, of a prompt without tokens. */
  public Route(
      String targetModel,
      Criticality criticality,
      String endpoint,
      String address,
      int port,
      int matchedBlocks,
      int attempt) {
    this(
        targetModel,
        criticality,
        endpoint,
        address,
        port,
        matchedBlocks,
        0,
        0,
        attempt,
        List.of(),
        List.of(),
        List.of());
  }

  /**
   * A header to set.
   *
   * @param name lower case
   * @param value printable ASCII
   */
  public record Header(String name, String value) {}

  /** The same with one more header on the response. */
  Route withResponseHeader(String name, String value) {
    List<Header> more = new ArrayList<>(responseHeaders);
    more.removeIf(header -> header.name().equals(name));
    more.add(new Header(name, value));
    return new Route(
        targetModel,
        criticality,
        endpoint,
        address,
        port,
        matchedBlocks,
        promptTokens,
        expectedCachedTokens,
        attempt,
        fallbacks,
        requestHeaders,
        more);
  }

  /** {@code ip:port}, an IPv6 address in brackets: the form of the destination header. */
  public String destination() {
    return destination(address, port);
  }

  /** The destination and the fallbacks, separated by commas. */
  public String destinations() {
    return fallbacks.isEmpty() ? destination() : destination() + "," + String.join(",", fallbacks);
  }

  /** {@code ip:port}, an IPv6 address in brackets. */
  public static String destination(String address, int port) {
    return address.indexOf(':') >= 0 ? "[" + address + "]:" + port : address + ":" + port;
  }
}
