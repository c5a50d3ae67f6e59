package io.fairlead.epp.transport;

import java.io.IOException;

/** A connection could not even be begun: there was nothing to begin it with. */
final class NoSocketException extends IOException {

  private static final long serialVersionUID = 1L;

  NoSocketException(Throwable cause) {
    super(String.valueOf(cause.getMessage()), cause);
  }
}
