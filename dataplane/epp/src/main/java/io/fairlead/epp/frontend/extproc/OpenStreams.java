package io.fairlead.epp.frontend.extproc;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** The streams of a server that are open, so that all can be told of its end. Any thread. */
final class OpenStreams {

  private final Set<ExtProcStream> open = ConcurrentHashMap.newKeySet();
  private volatile boolean leaving;

  /** Added before the flag is read, as the flag is set before all are told: none is missed. */
  void opened(ExtProcStream stream) {
    open.add(stream);
    if (leaving) {
      stream.leave();
    }
  }

  void closed(ExtProcStream stream) {
    open.remove(stream);
  }

  /** Tells those that are open and those that will be: the proxy is to go on alone. */
  void leave() {
    leaving = true;
    tell(ExtProcStream::leave);
  }

  /** Tells those whose requests were sent before the end began, and that have no answer yet. */
  void leaveUnanswered() {
    tell(ExtProcStream::leaveUnanswered);
  }

  /** Tells those that are open: end now, as well as can be. */
  void endNow() {
    tell(ExtProcStream::endNow);
  }

  private void tell(Consumer<ExtProcStream> what) {
    for (ExtProcStream stream : open) {
      stream.onLoop(what);
    }
  }
}
