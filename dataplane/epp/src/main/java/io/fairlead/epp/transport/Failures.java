package io.fairlead.epp.transport;

import io.fairlead.core.Failure;
import io.netty.channel.ConnectTimeoutException;
import java.net.ConnectException;

/** Tells failures of endpoints by what the network shows of them. */
public final class Failures {

  private Failures() {}

  /**
   * Why no connection came about. Only a refusal says that the machine is there and nobody listens;
   * a timeout, which is a {@link ConnectException} to Netty, does not.
   */
  public static Failure ofConnect(Throwable cause) {
    return cause instanceof ConnectException && !(cause instanceof ConnectTimeoutException)
        ? Failure.REFUSED
        : Failure.UNREACHABLE;
  }

  /**
   * What an answer of the 5xx says.
   *
   * @param empty whether it has no body: servers that drain answer with such a 500
   */
  public static Failure ofStatus(int status, boolean empty) {
    return status == 502 || status == 503 || (status == 500 && empty)
        ? Failure.UNAVAILABLE
        : Failure.ERROR;
  }
}
