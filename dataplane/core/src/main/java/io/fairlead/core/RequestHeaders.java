package io.fairlead.core;

import org.jspecify.annotations.Nullable;

/** A request's headers, for plugins that look at one. Read on the pool's loop: must not change. */
@FunctionalInterface
public interface RequestHeaders {

  /** No headers. */
  RequestHeaders NONE = name -> null;

  /** First value of the header with this lower-case name, or null. */
  @Nullable String first(String name);
}
