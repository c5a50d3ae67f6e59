package io.fairlead.epp.director;

import io.fairlead.core.RequestHeaders;

/** A request's headers with all that they say. */
public interface ReceivedHeaders extends RequestHeaders {

  /** Whether the header with this lower-case name is there more than once, and says two things. */
  boolean contradicts(String name);
}
