package io.fairlead.core;

import java.util.Locale;

/**
 * How an endpoint failed a request, a scrape or a probe, or why it was not asked. What may be done
 * about it follows from whether the endpoint can have begun to work, and whether there is an answer
 * that the client could get instead.
 */
public enum Failure {
  /** Nobody listens on its port. */
  REFUSED("refuses connections", Work.NONE, false),
  /** No connection came about in time, or there is no way there. */
  UNREACHABLE("can't be reached", Work.NONE, false),
  /**
   * The connection broke before all of the request was sent, or the endpoint did not begin with it.
   */
  RESET_UNSENT("resets connections", Work.NONE, false),
  /** The connection broke before the first byte of an answer, after the request was sent. */
  DIED("breaks connections before it answers", Work.PERHAPS, false),
  /** It answered with 502 or 503, or with a 500 that has no body, as servers do that drain. */
  UNAVAILABLE("answers that it is unavailable", Work.NONE, true),
  /** It answered with another 5xx. */
  ERROR("answers with errors", Work.PERHAPS, true),
  /** No byte of an answer came by the deadline. */
  FIRST_BYTE_LATE("does not answer in time", Work.PERHAPS, false),
  /** The answer broke off, or stopped, after its first byte. */
  BROKEN_OFF("does not finish its answers", Work.DONE, false),
  /**
   * A proxy sent the request there, and then to another by itself. Why is not known: it may have
   * failed the request, or have been out of reach for that proxy.
   */
  PASSED_OVER("is passed over by the proxy, which sends requests to others", Work.PERHAPS, false),
  /**
   * It was not asked at all: this process had no file descriptor or no local port left for a
   * connection. Says nothing of the endpoint.
   */
  NO_SOCKET("was not asked, as no socket was left here", Work.NONE, false);

  /** What the endpoint can have done for the request. */
  enum Work {
    NONE,
    PERHAPS,
    DONE
  }

  private final String words;
  private final Work work;
  private final boolean answered;

  Failure(String words, Work work, boolean answered) {
    this.words = words;
    this.work = work;
    this.answered = answered;
  }

  /** Its name where programs read it, lower case. */
  public String code() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** What it says of the endpoint, to be read after its name. */
  public String words() {
    return words;
  }

  /** Whether it says something of the endpoint. */
  public boolean ofEndpoint() {
    return this != NO_SOCKET;
  }

  /** Whether there is an answer of the endpoint's own that the client can get. */
  public boolean answered() {
    return answered;
  }

  /**
   * Whether nobody has a part in it who computes the prompt for the endpoint: the request did not
   * get there as a whole, or a proxy chose against that endpoint.
   */
  boolean ofEndpointAlone() {
    return switch (this) {
      case REFUSED, UNREACHABLE, RESET_UNSENT, NO_SOCKET, PASSED_OVER -> true;
      case DIED, UNAVAILABLE, ERROR, FIRST_BYTE_LATE, BROKEN_OFF -> false;
    };
  }

  Work work() {
    return work;
  }
}
