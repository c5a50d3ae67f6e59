package io.fairlead.epp.director;

import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.Rejection;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.crds.config.Criticality;
import org.jspecify.annotations.Nullable;

/** Told of every request's milestones, on the pool's loop: must be quick and must not block. */
public interface RequestObserver {

  /** A request came with a body of so many bytes. */
  default void arrived(String model, long bodyBytes) {}

  /** The core took {@code nanos} to decide about a request that arrived. */
  void decided(long nanos);

  /** A request was sent for the first time. */
  void sent(String model, Route route);

  /**
   * A request was sent again.
   *
   * @param failure how the former attempt failed; null when it was given up while it was under way
   */
  void sentAgain(String model, Route route, @Nullable Failure failure);

  /** The first token of a streamed answer came {@code nanos} after its request arrived. */
  void firstToken(String model, Route route, long nanos);

  /** It ended {@code nanos} after it arrived. */
  void ended(String model, Route route, Outcome outcome, Usage usage, long nanos);

  /** Its client went away {@code nanos} after it arrived, while it waited: it was sent nowhere. */
  default void gaveUp(String model, Criticality criticality, long nanos) {}

  /**
   * A streamed answer ended whole, whose tokens after the first came so many nanoseconds apart on
   * average; of several answers, those of one.
   */
  default void paced(String model, double nanosPerToken) {}

  /**
   * An answer ended whole, and from its request's arrival on there were so many nanoseconds for
   * each of its tokens; of several answers, for each of the tokens of one.
   */
  default void spread(String model, double nanosPerToken) {}

  /** The client has what it gets of an answer of an endpoint's, and it was seen to pass. */
  default void answered(String model, PassedAnswer answer) {}

  /** It was sent, and nobody sees what becomes of it; its end is not told. */
  default void left(String model, Route route) {}

  /** It was turned away, or broken off. */
  void rejected(String model, Rejection rejection);

  /**
   * A request was refused before it came to the pool: no endpoint should see it.
   *
   * @param frontend who refused it
   * @param code of the answer's body
   */
  default void refused(String frontend, String code) {}

  /** A header by which a request sets its own timeout did not count: {@code reason} says why. */
  default void timeoutHeaderIgnored(String reason) {}

  /** A header for flow control did not count: {@code reason} says why. */
  default void flowHeaderIgnored(String reason) {}
}
