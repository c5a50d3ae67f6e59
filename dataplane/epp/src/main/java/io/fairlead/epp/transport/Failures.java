package io.fairlead.epp.transport;

import io.fairlead.core.Failure;
import java.net.ConnectException;

/** Tells failures of endpoints by what the network shows of them. */
public final class Failures {

  /** As epoll tells it, whatever the machine's language. */
  private static final String ECONNREFUSED = "error(-111)";

  /** The same of a want of local ports. */
  private static final String EADDRNOTAVAIL = "error(-99)";

  /** Causes may go round in a circle. */
  private static final int DEEPEST = 16;

  private Failures() {}

  /**
   * Why no connection came about. Only a refusal says that the machine is there and nobody listens.
   * Netty tells a timeout, and most errors of the kernel, in a {@link ConnectException} as well: of
   * these the message alone says which it is. What this process lacks itself is not the endpoint's
   * fault.
   */
  public static Failure ofConnect(Throwable cause) {
    String message = cause.getMessage();
    if (cause instanceof NoSocketException
        || isOutOfMemory(cause)
        || (message != null
            && (message.contains("Cannot assign requested address")
                || message.contains(EADDRNOTAVAIL)))) {
      return Failure.NO_SOCKET;
    }
    boolean refused =
        cause instanceof ConnectException
            && message != null
            && (message.contains("Connection refused") || message.contains(ECONNREFUSED));
    return refused ? Failure.REFUSED : Failure.UNREACHABLE;
  }

  /** Whether this process lacks memory, on the heap or outside of it. */
  public static boolean isOutOfMemory(Throwable thrown) {
    int looked = 0;
    for (Throwable cause = thrown; cause != null && looked < DEEPEST; cause = cause.getCause()) {
      if (cause instanceof OutOfMemoryError) {
        return true;
      }
      looked++;
    }
    return false;
  }

  /**
   * What an answer says whose status is a failure's.
   *
   * @param empty whether it has no body: servers that drain answer with such a 500
   */
  public static Failure ofStatus(int status, boolean empty) {
    return status == 502 || status == 503 || (status == 500 && empty)
        ? Failure.UNAVAILABLE
        : Failure.ERROR;
  }
}
