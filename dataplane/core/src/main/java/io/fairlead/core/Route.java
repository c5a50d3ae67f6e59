package io.fairlead.core;

import io.fairlead.crds.config.Criticality;

/**
 * Where a request is to be sent.
 *
 * @param targetModel what the body's {@code model} must say; empty when the request named none
 * @param criticality of the model asked for
 * @param endpoint name of the endpoint
 * @param address its IP address, without brackets
 * @param port its port
 * @param matchedBlocks leading prompt blocks believed to be cached there
 * @param attempt 1 for the first send, 2 for a retry, …
 */
public record Route(
    String targetModel,
    Criticality criticality,
    String endpoint,
    String address,
    int port,
    int matchedBlocks,
    int attempt) {

  /** {@code ip:port}, an IPv6 address in brackets: the form of the destination header. */
  public String destination() {
    return address.indexOf(':') >= 0 ? "[" + address + "]:" + port : address + ":" + port;
  }
}
