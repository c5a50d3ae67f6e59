package io.fairlead.crds.fairlead.v1alpha1;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a picker is to those who send requests. */
public enum Frontend {
  /** Gateways ask it where to send each request, by the Endpoint Picker Protocol. */
  EXT_PROC("ExtProc"),
  /** It takes the requests itself, over HTTP. */
  GATEWAY("Gateway");

  private final String wireName;

  Frontend(String wireName) {
    this.wireName = wireName;
  }

  /** The spelling used in resources. */
  public String wireName() {
    return wireName;
  }

  /** All spellings. */
  public static List<String> wireNames() {
    return Arrays.stream(values()).map(Frontend::wireName).toList();
  }

  /** The one of that name, the first where there is none; empty where nobody knows the name. */
  public static Optional<Frontend> of(@Nullable String name) {
    return name == null
        ? Optional.of(EXT_PROC)
        : Arrays.stream(values()).filter(one -> one.wireName.equals(name)).findFirst();
  }
}
