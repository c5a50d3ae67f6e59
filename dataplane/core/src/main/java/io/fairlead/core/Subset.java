package io.fairlead.core;

import com.dynatrace.hash4j.hashing.HashStream128;
import com.dynatrace.hash4j.hashing.HashValue128;
import com.dynatrace.hash4j.hashing.Hashing;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The endpoints that a gateway allows for one request, as the protocol's subset hint names them:
 * {@code ip:port}, {@code [ip]:port}, or an IP alone for each of its ports. Empty allows none.
 */
public final class Subset {

  /** Stands for every port of an address. */
  private static final int ANY = -1;

  private static final int[] NONE = {};

  private final List<String> entries;

  /**
   * Of the entries in their order. A gateway sends its thousands of texts anew with each request:
   * told apart by these 128 bits, two are compared without a look at any of them.
   */
  private final HashValue128 digest;

  /** By address; made when it is asked for first, which is rarely of equal ones. */
  private volatile @Nullable Map<String, int[]> ports;

  /** Of entries as they come; one that names no address allows nothing. */
  public Subset(Collection<String> entries) {
    this.entries = List.copyOf(entries);
    HashStream128 stream = Hashing.murmur3_128().hashStream();
    for (String entry : this.entries) {
      stream.putString(entry);
    }
    digest = stream.get();
  }

  /** What it was made of. */
  public List<String> entries() {
    return entries;
  }

  private Map<String, int[]> ports() {
    Map<String, int[]> made = ports;
    if (made == null) {
      made = HashMap.newHashMap(entries.size());
      for (String entry : entries) {
        add(entry.strip(), made);
      }
      ports = made;
    }
    return made;
  }

  private static void add(String entry, Map<String, int[]> ports) {
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
      int[] before = ports.getOrDefault(address, NONE);
      int[] after = Arrays.copyOf(before, before.length + 1);
      after[before.length] = port;
      ports.put(address, after);
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
    for (int allowed : ports().getOrDefault(address, NONE)) {
      if (allowed == ANY || allowed == port) {
        return true;
      }
    }
    return false;
  }

  /** Of the same entries in the same order. */
  @Override
  public boolean equals(@Nullable Object other) {
    return this == other || (other instanceof Subset subset && digest.equals(subset.digest));
  }

  @Override
  public int hashCode() {
    return digest.hashCode();
  }
}
