package io.fairlead.plugin;

/**
 * What an endpoint's labels say of it; each is empty when they say nothing.
 *
 * @param role {@code prefill}, {@code decode}, {@code prefill-decode}, …
 * @param accelerator class of hardware, e.g. {@code h100}
 * @param latencyClass what kind of traffic it is meant for, e.g. {@code interactive}
 * @param zone where it runs
 * @param rack where in the zone
 * @param host on which machine
 */
public record EndpointAttributes(
    String role, String accelerator, String latencyClass, String zone, String rack, String host) {

  /** Nothing known. */
  public static final EndpointAttributes NONE = new EndpointAttributes("", "", "", "", "", "");
}
