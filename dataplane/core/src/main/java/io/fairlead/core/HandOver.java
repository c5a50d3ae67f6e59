package io.fairlead.core;

import io.fairlead.core.account.TokenEstimate;
import io.fairlead.core.handover.Knowledge;
import io.fairlead.core.prefix.HeldPrompts;
import io.fairlead.core.prefix.PrefixIndex;
import io.fairlead.core.view.Teachable;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Tells another picker what this one knows, a bounded piece at a time: between two pieces requests
 * are decided, and what is told is as of its own moment.
 */
public final class HandOver {

  /** Of an endpoint's order, in one piece: a quarter of a millisecond. */
  private static final int PIECE_ENTRIES = 300;

  /** Hashes in one piece, but for one prompt that is longer. */
  private static final int PIECE_BLOCKS = 4_096;

  private final PrefixIndex prefixes;
  private final Queue<Runnable> general = new ArrayDeque<>();
  private final Queue<EndpointState> endpoints = new ArrayDeque<>();
  private final List<Teachable> plugins;
  private final long bytesPerEndpoint;
  private final Knowledge to;
  private @Nullable HeldPrompts telling;

  HandOver(
      EndpointSet endpoints,
      PrefixIndex prefixes,
      TokenEstimate tokens,
      List<Teachable> plugins,
      long mostBytes,
      Knowledge to) {
    this.prefixes = prefixes;
    this.plugins = plugins;
    this.to = to;
    this.endpoints.addAll(Arrays.asList(endpoints.eligible()));
    this.bytesPerEndpoint = mostBytes / Math.max(1, this.endpoints.size());
    general.add(() -> tokens.tell(to::tokens));
    for (int i = 0; i < plugins.size(); i++) {
      int number = i;
      general.add(() -> plugins.get(number).tell((key, told) -> to.learned(number, key, told)));
    }
  }

  /**
   * Tells the next piece.
   *
   * @param now in nanoseconds of the pool's clock
   * @return false when there is no more
   */
  public boolean next(long now) {
    Runnable first = general.poll();
    if (first != null) {
      first.run();
      return true;
    }
    HeldPrompts prompts = telling;
    if (prompts != null) {
      if (!prompts.next(PIECE_ENTRIES, PIECE_BLOCKS, to)) {
        telling = null;
      }
      return true;
    }
    EndpointState endpoint = endpoints.poll();
    if (endpoint == null) {
      return false;
    }
    if (!endpoint.leaving()) {
      begin(now, endpoint);
    }
    return true;
  }

  private void begin(long now, EndpointState endpoint) {
    to.endpoint(endpoint.spec(), endpoint.startedAt(), prefixes.capacity(endpoint.slot()));
    if (endpoint.inFlight() > 0) {
      to.idle(0);
    } else if (endpoint.idleSince() != Long.MIN_VALUE) {
      to.idle(now - endpoint.idleSince());
    }
    for (int i = 0; i < plugins.size(); i++) {
      double[] told = plugins.get(i).tell(endpoint, now);
      if (told != null) {
        to.speeds(i, told);
      }
    }
    telling = prefixes.tell(endpoint.slot(), bytesPerEndpoint);
  }

  /** Ends before all is told. */
  public void stop() {
    HeldPrompts prompts = telling;
    if (prompts != null) {
      prompts.stop();
    }
    telling = null;
    general.clear();
    endpoints.clear();
  }
}
