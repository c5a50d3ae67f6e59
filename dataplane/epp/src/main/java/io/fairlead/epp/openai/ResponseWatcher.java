package io.fairlead.epp.openai;

import io.fairlead.core.Usage;
import io.netty.buffer.ByteBuf;

/**
 * Watches a response's bytes go by for its token counts; keeps a bounded tail, never the text. One
 * per response.
 */
public final class ResponseWatcher {

  /**
   * A watcher for one response.
   *
   * @param contentType the response's header; {@code text/event-stream} is read as events
   */
  public ResponseWatcher(String contentType) {}

  /** Looks at the next bytes of the body without consuming them. */
  public void watch(ByteBuf body) {
    throw new UnsupportedOperationException();
  }

  /** Token counts seen so far. */
  public Usage usage() {
    return Usage.UNKNOWN;
  }
}
