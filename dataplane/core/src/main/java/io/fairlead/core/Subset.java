package io.fairlead.core;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The endpoints that a gateway allows for one request, as the protocol's subset hint names them:
 * {@code ip:port}, {@code [ip]:port}, or an IP alone for each of its ports. Empty allows none.
 */
public final class Subset {

  /** Stands for every port of an address. */
  private static final Integer ANY = -1;

  private final List<String> entries;
  private final Map<String, Set<Integer>> ports = new HashMap<>();

  /** Of entries as they come; one that names no address allows nothing. */
  public Subset(Collection<String> entries) {
    this.entries = List.copyOf(entries);
    this.entries.forEach(entry -> add(entry.strip()));
  }

  /** What it was made of. */
  public List<String> entries() {
    return entries;
  }

  private void add(String entry) {
    int colon = entry.lastIndexOf(':');
    boolean bracketed = entry.startsWith("[") && entry.indexOf(']') > 0;
    boolean plain = !bracketed && entry.indexOf(':') == colon;
    int port = ANY;
    String address = entry;
    if (bracketed) {
      int close = entry.indexOf(']');
      address = entry.substring(1, close);
      port = close + 1 < entry.length() ? port(entry, close + 2) : ANY;
    } else if (plain && colon >= 0) {
      address = entry.substring(0, colon);
      port = port(entry, colon + 1);
    }
    if (!address.isEmpty() && port != 0) {
      ports.computeIfAbsent(address, a -> new HashSet<>()).add(port);
    }
  }

  /** 0 when there is none. */
  private static int port(String entry, int from) {
    int port = 0;
    for (int i = from; i < entry.length(); i++) {
      int digit = entry.charAt(i) - '0';
      if (digit < 0 || digit > 9 || port > 6553) {
        return 0;
      }
      port = port * 10 + digit;
    }
    return port;
  }

  /** Whether the endpoint may get the request. */
  boolean allows(String address, int port) {
    Set<Integer> allowed = ports.get(address);
    return allowed != null && (allowed.contains(ANY) || allowed.contains(port));
  }
}
