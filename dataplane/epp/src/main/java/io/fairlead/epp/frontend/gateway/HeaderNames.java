package io.fairlead.epp.frontend.gateway;

import io.netty.util.AsciiString;
import java.util.Arrays;
import java.util.Collection;

/**
 * A set of header names in any case. Is asked about names as the codec has them, and makes no
 * string of one.
 */
final class HeaderNames {

  /** By the last bits of the names' hashes, in which case does not count. */
  private final AsciiString[][] chains;

  HeaderNames(Collection<String> names) {
    chains = new AsciiString[4 * Integer.highestOneBit(names.size() + 1)][0];
    for (String name : names) {
      AsciiString added = AsciiString.of(name);
      int at = place(added);
      int length = chains[at].length;
      chains[at] = Arrays.copyOf(chains[at], length + 1);
      chains[at][length] = added;
    }
  }

  boolean contains(CharSequence name) {
    for (AsciiString one : chains[place(name)]) {
      if (one.contentEqualsIgnoreCase(name)) {
        return true;
      }
    }
    return false;
  }

  private int place(CharSequence name) {
    return AsciiString.hashCode(name) & (chains.length - 1);
  }
}
