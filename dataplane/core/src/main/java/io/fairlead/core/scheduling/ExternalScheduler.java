package io.fairlead.core.scheduling;

import io.fairlead.crds.config.GoDuration;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Setting;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A scheduler outside of the process that is asked where requests go, before the plugins listed
 * beside it are.
 *
 * @param address {@code host:port}, or {@code unix:} and a path
 * @param timeout how long a request waits for its word: then the plugins decide
 * @param batchDelay how long a batch grows at most while the one before it is being answered
 * @param batchRequests requests in a batch at most
 * @param refresh how often it is asked again about a request that waits for room
 * @param state whether it is told of endpoints' loads
 * @param prefixMatches whether it is told what each endpoint holds of a prompt
 * @param headers names of the requests' headers that it is told, in lower case
 * @param tls whether it is spoken to over TLS
 * @param caFile certificates that its own must come from; empty for those that the machine trusts
 */
public record ExternalScheduler(
    String address,
    Duration timeout,
    Duration batchDelay,
    int batchRequests,
    Duration refresh,
    boolean state,
    boolean prefixMatches,
    List<String> headers,
    boolean tls,
    String caFile)
    implements Setting {

  /** Its type in a config. */
  public static final String TYPE = "external-scheduler";

  private static final String UNIX = "unix:";
  private static final Pattern HOST_AND_PORT = Pattern.compile("[^\\s/]+:([0-9]{1,5})");
  private static final int MOST_PORTS = 65_535;

  static ExternalScheduler read(Parameters parameters) {
    boolean tls = parameters.flag("tls", false);
    String caFile = parameters.text("caFile", "");
    if (!caFile.isEmpty() && !tls) {
      throw parameters.invalid("caFile", "is set without tls; set tls: true, or remove it");
    }
    return new ExternalScheduler(
        address(parameters),
        duration(parameters, "timeout", "20ms", Duration.ofMillis(1), Duration.ofSeconds(10)),
        duration(parameters, "batchDelay", "500us", Duration.ZERO, Duration.ofMillis(100)),
        parameters.integer("batchRequests", 64, 1, 1_024),
        duration(parameters, "refresh", "1s", Duration.ofMillis(100), Duration.ofMinutes(1)),
        parameters.flag("state", true),
        parameters.flag("prefixMatches", true),
        parameters.texts("headers").stream().map(name -> name.toLowerCase(Locale.ROOT)).toList(),
        tls,
        caFile);
  }

  private static String address(Parameters parameters) {
    String address = parameters.text("address", "");
    boolean right =
        address.startsWith(UNIX)
            ? address.length() > UNIX.length()
            : HOST_AND_PORT.matcher(address).matches()
                && port(address) >= 1
                && port(address) <= MOST_PORTS;
    if (!right) {
      throw parameters.invalid(
          "address",
          "is \""
              + address
              + "\"; set host:port, such as localhost:9100, or a socket's path, such as"
              + " unix:/run/scheduler/socket");
    }
    return address;
  }

  private static int port(String address) {
    return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
  }

  private static Duration duration(
      Parameters parameters, String field, String absent, Duration least, Duration most) {
    String text = parameters.text(field, absent);
    Duration duration = GoDuration.parse(text);
    if (duration == null || duration.compareTo(least) < 0 || duration.compareTo(most) > 0) {
      throw parameters.invalid(
          field,
          "is \"%s\"; set %d ms to %d ms, e.g. %s"
              .formatted(text, least.toMillis(), most.toMillis(), absent));
    }
    return duration;
  }

  /** The path of its socket; empty where it is reached over TCP. */
  public String socket() {
    if (!address.startsWith(UNIX)) {
      return "";
    }
    String path = address.substring(UNIX.length());
    return path.startsWith("//") ? path.substring(2) : path;
  }

  /** Its host, where it is reached over TCP. */
  public String host() {
    return address.substring(0, address.lastIndexOf(':'));
  }

  /** Its port, where it is reached over TCP. */
  public int port() {
    return port(address);
  }
}
