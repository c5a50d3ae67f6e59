package io.fairlead.core.view;

import io.fairlead.plugin.Observer;

/**
 * An observer that may go by nothing but which endpoints there are: what it says of a request
 * follows from that and from what it is passed, whatever requests came before.
 */
public interface HistoryFree extends Observer {

  /** Whether it does. */
  boolean isHistoryFree();
}
