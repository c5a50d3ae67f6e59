package io.fairlead.core;

import io.fairlead.core.handover.News;
import io.fairlead.core.handover.SentRequest;
import io.fairlead.core.handover.SentRequest.Load;
import io.fairlead.core.handover.SentRequest.Prompt;
import io.fairlead.core.handover.SentRequests;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Another picker of the pool that wants to know which requests this one sends where, and what
 * becomes of them: they are part of the load there, and what they leave in caches is of use to its
 * requests, too. Keeps what has happened since it was told last. Owned by the pool's loop.
 */
public final class Follower {

  /** Nanoseconds from one time that it is told to the next. */
  public static final long TOLD_EVERY_NANOS = 500_000_000;

  /** Blocks that are kept: 8 MiB of hashes. Where there are more, the newest requests are told. */
  private static final int MOST_BLOCKS = 1 << 20;

  /** What a request counts for beside its blocks. */
  private static final int REQUEST_BLOCKS = 8;

  /** Events of requests that were told. Where there are more, all is told anew. */
  private static final int MOST_EVENTS = 1 << 16;

  private final EndpointSet endpoints;
  private final Deque<Sent> sent = new ArrayDeque<>();

  /** Those of them that are there still, by number. */
  private final Map<Long, Sent> there = new HashMap<>();

  private final List<Computed> computed = new ArrayList<>();
  private final List<Over> over = new ArrayList<>();
  private long blocks;
  private boolean anew;

  private record Computed(long number, long at) {}

  private record Over(long number, long at, int answerTokens) {

    News.End end(long now) {
      return new News.End(now - at, answerTokens);
    }
  }

  /** A request that was sent since it was told last, or that it is told of anew. */
  private static final class Sent {

    private final long number;
    private final EndpointState endpoint;
    private final double startedAt;
    private final long at;
    private final Load load;
    private Prompt prompt;
    private boolean computed;
    private @Nullable Over over;

    /** Of its endpoint when its prompt was computed, or it was over. */
    private int forgotten;

    Sent(long number, EndpointState endpoint, Flight flight, Prompt prompt) {
      Attempt attempt = flight.attempt;
      this.number = number;
      this.endpoint = endpoint;
      this.prompt = prompt;
      startedAt = endpoint.startedAt();
      at = attempt.sentAt;
      load =
          new Load(
              attempt.tokens,
              attempt.cached,
              endpoint == attempt.at ? attempt.answers : 0,
              attempt.critical,
              attempt.sheddable,
              attempt.prefilledBy == null || endpoint != attempt.at);
    }

    void isComputed() {
      computed = true;
      forgotten = endpoint.forgotten();
    }

    void isOver(Over end) {
      over = end;
      forgotten = computed ? forgotten : endpoint.forgotten();
    }

    /** Whether the process is there that it was sent to. */
    boolean isThere() {
      return !endpoint.leaving() && endpoint.mayHaveStarted(startedAt);
    }

    /** Its prompt, unless that was in the cache and is gone with all that was. */
    Prompt leaves() {
      boolean gone = forgotten != endpoint.forgotten() && (computed || over != null);
      return gone ? Prompt.NONE : prompt;
    }

    SentRequest told(long now) {
      Over ended = over;
      return new SentRequest(
          number, now - at, load, computed, ended == null ? null : ended.end(now), leaves());
    }
  }

  Follower(EndpointSet endpoints) {
    this.endpoints = endpoints;
    begin();
  }

  /** It is told what is in flight, without prompts: what is held is handed over otherwise. */
  private void begin() {
    sent.clear();
    there.clear();
    computed.clear();
    over.clear();
    blocks = 0;
    anew = true;
    for (EndpointState endpoint : endpoints.eligible()) {
      for (Flight flight = endpoint.requests().oldest(); flight != null; ) {
        Attempt attempt = flight.attempt;
        add(new Sent(attempt.number, endpoint, flight, Prompt.NONE));
        if (attempt.prefillAt != null) {
          add(new Sent(attempt.prefillNumber, attempt.prefillAt, flight, Prompt.NONE));
        }
        if (!flight.state().isPrefilling()) {
          computed(attempt.sentAt, attempt.number);
        }
        flight = flight.sentAfter;
      }
    }
  }

  /** A request was sent to an endpoint. */
  void sent(long number, EndpointState endpoint, Flight flight) {
    Attempt attempt = flight.attempt;
    Prompt prompt = new Prompt(attempt.salt, flight.facts.blocks(), attempt.blocks);
    add(new Sent(number, endpoint, flight, prompt));
  }

  private void add(Sent one) {
    sent.addLast(one);
    there.put(one.number, one);
    blocks += one.prompt.count() + REQUEST_BLOCKS;
    while (blocks > MOST_BLOCKS && sent.size() > 1) {
      Sent first = sent.removeFirst();
      there.remove(first.number, first);
      blocks -= first.prompt.count() + REQUEST_BLOCKS;
    }
  }

  /** A prompt is computed. */
  void computed(long now, long number) {
    Sent untold = there.get(number);
    if (untold != null) {
      untold.isComputed();
    } else if (computed.size() < MOST_EVENTS) {
      computed.add(new Computed(number, now));
    } else {
      begin();
      // Its flight does not say so yet.
      Sent anew = there.get(number);
      if (anew != null) {
        anew.isComputed();
      }
    }
  }

  /**
   * A request is over at its endpoint.
   *
   * @param answerTokens see {@link News.End}
   */
  void over(long now, long number, int answerTokens) {
    Over one = new Over(number, now, answerTokens);
    Sent untold = there.remove(number);
    if (untold != null) {
      untold.isOver(one);
    } else if (over.size() < MOST_EVENTS) {
      over.add(one);
    } else {
      begin();
    }
  }

  /** The endpoint has not computed the prompt; where it was told of already, it was in vain. */
  void withdraw(long number) {
    Sent untold = there.get(number);
    if (untold != null) {
      blocks -= untold.prompt.count();
      untold.prompt = Prompt.NONE;
    }
  }

  /**
   * What has happened since the last call; nothing of what was sent to endpoints that are leaving,
   * or were started again since.
   */
  public News take(long now) {
    Map<EndpointState, List<SentRequest>> byEndpoint = new LinkedHashMap<>();
    for (Sent one : sent) {
      // What is over and has left nothing is of no use to anybody.
      if (one.isThere() && (one.leaves().count() > 0 || one.over == null)) {
        byEndpoint.computeIfAbsent(one.endpoint, e -> new ArrayList<>()).add(one.told(now));
      }
    }
    List<SentRequests> told = new ArrayList<>(byEndpoint.size());
    byEndpoint.forEach(
        (endpoint, requests) ->
            told.add(new SentRequests(endpoint.spec(), endpoint.startedAt(), requests)));
    News news =
        new News(
            anew,
            told,
            computed.stream().map(one -> new News.Computed(one.number(), now - one.at())).toList(),
            over.stream().map(one -> new News.Over(one.number(), one.end(now))).toList());
    sent.clear();
    there.clear();
    computed.clear();
    over.clear();
    blocks = 0;
    anew = false;
    return news;
  }
}
