package io.fairlead.core.receipt;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The headers of a request that plugins have asked for. */
public final class HeaderReads {

  /**
   * Characters. A longer value is not kept: some of them would take the room of all other receipts,
   * and a part of one is another value.
   */
  public static final int LONGEST = 1_024;

  /** Are never kept: who reads them is told that the receipt has them not. */
  private static final Set<String> SECRET =
      Set.of("authorization", "proxy-authorization", "cookie", "x-api-key", "api-key");

  private final List<String> names = new ArrayList<>();
  private final List<@Nullable String> values = new ArrayList<>();

  /** One was asked for; null if the request has none of this name. */
  public void read(String name, @Nullable String value) {
    for (int i = 0; i < names.size(); i++) {
      if (names.get(i).equals(name)) {
        return;
      }
    }
    if (!SECRET.contains(name) && (value == null || value.length() <= LONGEST)) {
      names.add(name);
      values.add(value);
    }
  }

  /** None was. */
  public void clear() {
    names.clear();
    values.clear();
  }

  int size() {
    return names.size();
  }

  void each(BiConsumer<String, @Nullable String> to) {
    for (int i = 0; i < names.size(); i++) {
      to.accept(names.get(i), values.get(i));
    }
  }
}
