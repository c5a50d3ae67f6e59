package io.fairlead.epp;

import java.net.InetSocketAddress;
import java.nio.file.Path;

/** A folder of resources for tests in other packages: a pool with its model and endpoints. */
public final class PoolFolder {

  private PoolFolder() {}

  /** The model {@code chat}, served as {@code a} by {@code one} and {@code two}. */
  public static void write(Path folder, InetSocketAddress one, InetSocketAddress two) {
    new Resources(folder)
        .pool()
        .model("Critical", "{name: a, weight: 1}")
        .endpoint("one", one, true)
        .endpoint("two", two, true);
  }
}
