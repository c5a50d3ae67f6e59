package io.fairlead.epp.capture;

import io.fairlead.core.RequestHeaders;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A request's headers as plugins read them: those that may be written down with their values, of
 * others only which a plugin has found. Used on the pool's loop.
 */
final class ReadHeaders implements RequestHeaders {

  private static final SortedMap<String, String> NONE = Collections.emptySortedMap();

  private final RequestHeaders given;
  private final Set<String> allowed;
  private final SortedMap<String, String> written;
  private List<String> withheld = List.of();

  ReadHeaders(RequestHeaders given, Set<String> allowed) {
    this.given = given;
    this.allowed = allowed;
    written = allowed.isEmpty() ? NONE : new TreeMap<>();
    for (String name : allowed) {
      String value = given.first(name);
      if (value != null) {
        written.put(name, value);
      }
    }
  }

  @Override
  public @Nullable String first(String name) {
    String value = given.first(name);
    if (value != null && !allowed.contains(name) && !withheld.contains(name)) {
      List<String> more = new ArrayList<>(withheld);
      more.add(name);
      withheld = List.copyOf(more);
    }
    return value;
  }

  SortedMap<String, String> written() {
    return written;
  }

  /** Names of those that a plugin has found and that are not written. */
  List<String> withheld() {
    return withheld;
  }
}
