package io.fairlead.core;

import io.fairlead.core.handover.SentPrompt;
import io.fairlead.core.handover.SentPrompts;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Another picker of the pool that wants to know which prompts this one sends where: what they leave
 * in caches is of use to its requests, too. Keeps what was sent since it was told last, the newest
 * where that is much. Owned by the pool's loop.
 */
public final class Follower {

  /** Nanoseconds from one time that it is told to the next. */
  public static final long TOLD_EVERY_NANOS = 500_000_000;

  /** Blocks that are kept: 8 MiB of hashes. */
  private static final int MOST_BLOCKS = 1 << 20;

  /** What a prompt counts for beside its blocks. */
  private static final int PROMPT_BLOCKS = 8;

  private final Deque<Sent> sent = new ArrayDeque<>();
  private long blocks;

  /**
   * @param startedAt when the endpoint's process had started that it was sent to; NaN if it had not
   *     told
   */
  private record Sent(EndpointState endpoint, double startedAt, SentPrompt prompt) {

    /** Whether it may be there still. */
    boolean isThere() {
      return !endpoint.leaving() && (Double.isNaN(startedAt) || startedAt == endpoint.startedAt());
    }
  }

  Follower() {}

  /** The first {@code count} blocks of a prompt were sent to an endpoint. */
  void sent(EndpointState endpoint, long salt, long[] all, int count) {
    if (count == 0) {
      return;
    }
    sent.addLast(new Sent(endpoint, endpoint.startedAt(), new SentPrompt(salt, all, count)));
    blocks += count + PROMPT_BLOCKS;
    while (blocks > MOST_BLOCKS && sent.size() > 1) {
      blocks -= sent.removeFirst().prompt().count() + PROMPT_BLOCKS;
    }
  }

  /** The endpoint has not computed the prompt; where it was told of already, it was in vain. */
  void withdraw(EndpointState endpoint, long salt, long[] all) {
    for (Iterator<Sent> newest = sent.descendingIterator(); newest.hasNext(); ) {
      Sent one = newest.next();
      if (one.endpoint() == endpoint && one.prompt().isOf(salt, all)) {
        blocks -= one.prompt().count() + PROMPT_BLOCKS;
        newest.remove();
        return;
      }
    }
  }

  /**
   * What was sent since the last call, by endpoint; but for endpoints that are leaving, or were
   * started again since.
   */
  public List<SentPrompts> take() {
    Map<EndpointState, List<SentPrompt>> byEndpoint = new LinkedHashMap<>();
    for (Sent one : sent) {
      if (one.isThere()) {
        byEndpoint.computeIfAbsent(one.endpoint(), e -> new ArrayList<>()).add(one.prompt());
      }
    }
    sent.clear();
    blocks = 0;
    List<SentPrompts> told = new ArrayList<>(byEndpoint.size());
    byEndpoint.forEach(
        (endpoint, prompts) ->
            told.add(new SentPrompts(endpoint.spec(), endpoint.startedAt(), prompts)));
    return told;
  }
}
