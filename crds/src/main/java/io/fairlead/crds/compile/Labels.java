package io.fairlead.crds.compile;

import io.fairlead.crds.DnsSubdomain;
import java.util.regex.Pattern;

/** The syntax of Kubernetes labels. */
final class Labels {
  private static final Pattern NAME = Pattern.compile("([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]");

  private Labels() {}

  /** {@code name} or {@code domain/name}. */
  static boolean isKey(String key) {
    int slash = key.indexOf('/');
    String name = key.substring(slash + 1);
    boolean domain = slash < 0 || DnsSubdomain.isOne(key.substring(0, slash));
    return domain && name.length() <= 63 && NAME.matcher(name).matches();
  }

  static boolean isValue(String value) {
    return value.isEmpty() || (value.length() <= 63 && NAME.matcher(value).matches());
  }

  /** A name that a Service can have. */
  static boolean isServiceName(String name) {
    return name.length() <= 63 && name.matches("[a-z]([-a-z0-9]*[a-z0-9])?");
  }
}
