package io.fairlead.core.health;

import io.fairlead.core.Failure;
import io.fairlead.core.HealthChange;
import io.fairlead.core.HealthState;
import io.fairlead.core.PoolListener;
import io.fairlead.core.Probe;
import org.jspecify.annotations.Nullable;

/**
 * Says which endpoints of a pool get requests, and how many, by what they have shown.
 *
 * <ul>
 *   <li>An endpoint that fails some requests is left out of the draw for a part of them, as if a
 *       failed request cost as much as {@value FailureEstimate#LOSS} that are served: the likelier
 *       it fails, compared with the best, the larger the part. An endpoint that refuses a model is
 *       left out in the same way for that model's requests alone.
 *   <li>An endpoint is out if it refuses connections, fails several requests in a row or half of
 *       all, says nothing while it has work, or sends nothing after the heads of its answers. It
 *       then gets probes alone, with growing pauses. Answers that say that a request is invalid,
 *       and errors, may be the request's fault: they count by what others say of it, and of theirs.
 *   <li>When a probe is answered the endpoint is on trial: it gets one request at a time until one
 *       succeeds or is seen to be worked on. Where nothing can show that, it gets more and more as
 *       it answers probes.
 *   <li>Where most endpoints look sick, the cause is elsewhere: no more than half are out, and
 *       those that look best stay in use.
 * </ul>
 *
 * <p>Not thread-safe; owned by the pool's loop. A decision reads arrays that are made anew when
 * something has changed.
 */
public final class PoolHealth {

  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;

  private static final int FAILURES_IN_A_ROW = 3;

  /** After so many errors in a row a probe is to tell more. */
  private static final int ERRORS_TO_ASK = 2;

  /** It says itself that it takes no requests. */
  private static final int UNAVAILABLE_IN_A_ROW = 2;

  /**
   * Of an estimate: one that fails half of all comes to 0.46 in the end, since a few successes are
   * imagined in it, and to this after some twenty.
   */
  private static final double FAILS_TOO_MANY = 0.42;

  /** Requests that must have told before that counts. */
  private static final double ENOUGH_TOLD = 6;

  /** Chance that explains nothing any more. */
  private static final double BY_CHANCE = 1e-5;

  /** What is cut in so short a time may have one cause: a client that drops all that it asked. */
  private static final long TOGETHER = 100 * MILLI;

  private static final long FIRST_PROBE = SECOND;
  private static final long LONGEST_PROBE_PAUSE = 5 * SECOND;
  private static final long LONGEST_RELAPSE_PAUSE = 30 * SECOND;
  private static final long PROBE_TIMEOUT = 2 * SECOND;

  /** Going out again so soon after coming back is a relapse. */
  private static final long RELAPSE = 60 * SECOND;

  private static final int MOST_RELAPSES = 5;

  /** Suspected again so soon after it was cleared, it is for longer. */
  private static final long SUSPICION_COUNTS = 60 * SECOND;

  private static final int MOST_SUSPICIONS = 5;

  /** Probes may be wrong about a server that answers requests. */
  private static final long LAST_RESORT = 60 * SECOND;

  /** One on trial that answers probes for so long while it has a request may have more. */
  private static final long MORE_ON_TRIAL = 4 * SECOND;

  /** One that failed requests gets another after so long, also where others look better. */
  static final long UNTRIED = SECOND;

  /**
   * And after so many requests for each endpoint: with those that it draws beside the others, one
   * that is tried so gets no more than its part, however few requests come.
   */
  private static final int UNTRIED_OF_EACH = 2;

  /**
   * And after so many for each that is to be tried: such requests go where nothing of their prompts
   * may be cached, and all endpoints may have failed one.
   */
  private static final int OTHERS_PER_TRY = 16;

  /** Whoever is left in the draw for more than this part needs no tries. */
  private static final double NEARLY_WELL = 0.8;

  /** After so long without a sign of life an endpoint with work is asked for one. */
  private static final long QUIET = SECOND;

  /** After so long, and what its work may take, it is out. */
  private static final long SILENT = 1_500 * MILLI;

  private static final int TIMES_EXPECTED = 3;
  private static final int TIMES_USUAL = 2;
  private static final long USUAL_GAP_KNOWN_FOR = 60;

  /** The longest pause between probes that stand in line behind answers in one piece. */
  private static final int MOST_DOUBLINGS = 5;

  private final PoolListener listener;

  /** By place; those that have left are not among them. */
  private EndpointHealth[] endpoints = {};

  private final UsableEndpoints usable = new UsableEndpoints();
  private final ModelRefusals refusals = new ModelRefusals();
  private long lastProbe;

  /** Requests that were sent to endpoints of the pool, the two of a pair each. */
  private long sends;

  /**
   * Longest pause between two signs of life of late that meant nothing, without what the work that
   * was there explains.
   */
  private long usualGap;

  private long gapAgedAt;

  /** Of answers in one piece. */
  private final WaitsOfLate wholes = new WaitsOfLate();

  /** Of the first byte of a body, from the head on. */
  private final WaitsOfLate bodies = new WaitsOfLate();

  /** Of answers, those that are cut in a proxy, whoever cuts them. */
  private final UsualShare cutShare = new UsualShare();

  /** The same of those that are cut at once. */
  private final UsualShare cutAtOnceShare = new UsualShare();

  private final NegativeRows negatives = new NegativeRows();

  /** A pool without endpoints; {@code listener} hears of probes and changes. */
  public PoolHealth(PoolListener listener) {
    this.listener = listener;
  }

  /** Whether all endpoints get requests, none of them fewer than the others. */
  public boolean whole(long now) {
    return usable.whole(now, endpoints);
  }

  /** How many places {@link #usable(int)} has. */
  public int usableCount() {
    return usable.count();
  }

  /** The places of endpoints that get requests; valid until the next event. */
  public int usable(int index) {
    return usable.place(index);
  }

  /** Whether the endpoint in this place is among the {@link #usable(int)} ones. */
  public boolean isUsable(int place) {
    return usable.lists(place);
  }

  /**
   * A request for the model was sent there, or its prompt was.
   *
   * @return the number of the trial that it is sent on; 0 for none
   */
  public int sent(long now, EndpointHealth endpoint, String model) {
    sends++;
    Refusers those = refusals.of(model);
    if (those != null) {
      those.sent(endpoint);
    }
    return endpoint.sent(now, model, sends);
  }

  /**
   * Whether requests that draw the endpoint in this place go there whatever the scheduler would
   * say: it is on trial, or has failed requests and got none for so long that nothing new is known.
   * It has got fewer than its part since then: where few requests come, each would come late enough
   * to be the next try.
   */
  public boolean untried(long now, int place) {
    EndpointHealth endpoint = endpoints[place];
    long others = sends - endpoint.sendsBefore;
    return switch (endpoint.state) {
      case ON_TRIAL -> others >= usable.count();
      case IN_USE ->
          isSpared(endpoint.share)
              && endpoint.inFlight == 0
              && now - endpoint.lastSent >= UNTRIED
              && isLong(others, usable.count(), usable.spared());
      case OUT -> false;
    };
  }

  /** Whether so many requests are enough without one for an endpoint that is spared. */
  static boolean isLong(long requests, int endpoints, int spared) {
    return requests >= Math.max((long) UNTRIED_OF_EACH * endpoints, (long) OTHERS_PER_TRY * spared);
  }

  /** Whether an endpoint that is left in the draw for this part of requests has to be tried. */
  static boolean isSpared(double share) {
    return share < NEARLY_WELL;
  }

  /** Whether the endpoint in this place is on trial with as many requests as it may have then. */
  public boolean busyOnTrial(int place) {
    EndpointHealth endpoint = endpoints[place];
    return endpoint.state == HealthState.ON_TRIAL && endpoint.onTrial >= endpoint.mostOnTrial;
  }

  /**
   * Whether a request leaves the endpoint in this place out, because it might fail it.
   *
   * @param lot random bits of the request and the endpoint
   */
  public boolean drawnOut(int place, long lot) {
    return drawnOut(endpoints[place].share, lot);
  }

  static boolean drawnOut(double share, long lot) {
    return share < 1 && (lot >>> 11) * 0x1p-53 >= share;
  }

  /** Which endpoints refuse the model; null where none does, as is usual. */
  public @Nullable Refusers refusers(long now, String model) {
    Refusers those = refusals.of(model);
    if (those != null) {
      usable.whole(now, endpoints); // worked out, if something has changed
      those.refresh(endpoints, usable);
    }
    return those;
  }

  /** Whether most of several endpoints say nothing while they have work. */
  public boolean mostSilent() {
    int silent = 0;
    for (EndpointHealth endpoint : endpoints) {
      silent += endpoint.silent || endpoint.lifeless ? 1 : 0;
    }
    return endpoints.length > 1 && silent * 2 > endpoints.length;
  }

  /** These are the pool's endpoints from now on, by place. */
  public void replace(EndpointHealth[] all) {
    endpoints = all;
    usable.changed();
    refusals.replaced();
  }

  /**
   * A request was answered by the endpoint.
   *
   * @param sentAt when it was sent there
   * @param trial that it was sent on, as {@link EndpointHealth#sent} said
   */
  public void answered(long now, EndpointHealth endpoint, long sentAt, int trial) {
    sign(now, endpoint);
    endpoint.heard = true;
    endpoint.served = true;
    if (!endpoint.isNews(sentAt)) {
      return;
    }
    if (endpoint.failuresInRow > 0 || endpoint.failing() > 0) {
      usable.changed();
    }
    endpoint.succeeded(now);
    if (endpoint.cutsInRow == 0) {
      passed(now, endpoint, trial);
    }
  }

  /**
   * The endpoint answers a request for the model with what looks like an answer.
   *
   * @param sentAt when it was sent
   */
  public void serves(long now, EndpointHealth endpoint, String model, long sentAt) {
    if (negatives.isEndedBy(endpoint, sentAt) && endpoint.state != HealthState.ON_TRIAL) {
      if (negatives.servedMeanwhile(endpoint)) {
        servesAfterRow(now, endpoint);
      } else {
        negatives.forgetCommon(endpoints);
      }
    }
    negatives.serves(sentAt);
    endpoint.answered(model, true);
    refusals.served(now, endpoint, model);
  }

  /**
   * A request was served.
   *
   * @param sentAt when it was sent there
   * @param trial that it was sent on, as {@link EndpointHealth#sent} said
   */
  public void completed(long now, EndpointHealth endpoint, long sentAt, int trial) {
    endpoint.cutsInRow = 0;
    cutShare.add(0);
    cutAtOnceShare.add(0);
    if (endpoint.cuts.whole(sentAt) && endpoint.suspected && now - endpoint.suspectedUntil >= 0) {
      cleared(now, endpoint);
    }
    negatives.end(endpoint);
    passed(now, endpoint, trial);
  }

  /**
   * A request was answered to the end, with the word that something is wrong with it. That is its
   * client's mistake, and any endpoint would say so as often; so many in a row that chance hardly
   * makes of what the others say, while requests sent meanwhile are served elsewhere, are the
   * endpoint's fault: it is out. Unless one that serves what others ask says no as often in a row
   * then: a client sends nothing else, to whoever holds the beginning of its prompts, and has moved
   * there.
   *
   * @param sentAt when it was sent there
   * @param trial that it was sent on, as {@link EndpointHealth#sent} said
   */
  public void invalid(long now, EndpointHealth endpoint, long sentAt, int trial) {
    if (isOfBefore(endpoint, sentAt)) {
      return;
    }
    saysNo(now, endpoint);
    boolean triedForIt = endpoint.outForSayingNo && isTried(endpoint, trial);
    boolean out =
        triedForIt
            ? negatives.blameOnTrial(endpoint, endpoints)
            : negatives.blame(now, endpoint, endpoints);
    if (out) {
      outForSayingNo(now, endpoint, "says that all requests are wrong");
    } else if (!triedForIt || negatives.usual(endpoint, endpoints) == 1) {
      passed(now, endpoint, trial);
    }
  }

  /**
   * A request was answered with an error. Whether that is the endpoint's fault shows where it is
   * sent again; servers answer so to some requests whoever serves them, as where an image can't be
   * fetched. A probe is to tell soon, in which nothing is wrong. Rows are as those of {@link
   * #invalid}, but for a long one nothing has to be served meanwhile: to fail takes no time, and
   * would draw most requests until something is.
   *
   * @param sentAt when it was sent there
   * @param trial that it was sent on, as {@link EndpointHealth#sent} said
   */
  public void erred(long now, EndpointHealth endpoint, long sentAt, int trial) {
    if (isOfBefore(endpoint, sentAt)) {
      return;
    }
    saysNo(now, endpoint);
    boolean out =
        isTried(endpoint, trial)
            ? negatives.blameOnTrial(endpoint, endpoints)
            : negatives.blameForErrors(now, endpoint, endpoints);
    if (out) {
      outForSayingNo(now, endpoint, Failure.ERROR.words());
    } else if (endpoint.noInRow >= ERRORS_TO_ASK || failsTooMany(endpoint)) {
      mayErr(now, endpoint);
    }
  }

  /** An error that {@link #erred} was told of was the request's fault. */
  public void didNotErr(EndpointHealth endpoint, long sentAt) {
    if (!isOfBefore(endpoint, sentAt)) {
      negatives.takeBack(endpoint);
    }
  }

  /** It answered with an error, and nobody else was asked. */
  public void mayHaveFailed(long now, EndpointHealth endpoint) {
    endpoint.failed(now, false);
    usable.changed();
  }

  /** Whether the endpoint has left, gone out, or come back since a request was sent there. */
  private static boolean isOfBefore(EndpointHealth endpoint, long sentAt) {
    return endpoint.gone || sentAt - endpoint.since < 0;
  }

  private static boolean isTried(EndpointHealth endpoint, int trial) {
    return endpoint.state == HealthState.ON_TRIAL && endpoint.isOfTrial(trial);
  }

  /**
   * It answered with errors which may be its fault or the requests', as those that another endpoint
   * gives, too: a probe is to tell, in which nothing is wrong.
   */
  public void mayErr(long now, EndpointHealth endpoint) {
    if (endpoint.state == HealthState.IN_USE
        && endpoint.probe == 0
        && now - endpoint.nextProbe >= 0
        && !endpoint.gone) {
      probe(now, endpoint);
      endpoint.askedIfErring = endpoint.probe != 0;
    }
  }

  private void saysNo(long now, EndpointHealth endpoint) {
    endpoint.cutsInRow = 0;
    cutShare.add(0);
    negatives.add(now, endpoint);
  }

  private void outForSayingNo(long now, EndpointHealth endpoint, String reason) {
    endpoint.failed(now, true);
    usable.changed();
    if (!endpoint.gone && endpoint.state != HealthState.OUT) {
      out(now, endpoint, reason, false);
      endpoint.outForSayingNo = true;
    }
  }

  /**
   * An endpoint serves what it is asked after it said no so often in a row: a client's mistakes
   * come so. Whoever is out for no more than that is back.
   */
  private void servesAfterRow(long now, EndpointHealth row) {
    negatives.ofClient(now, row);
    for (EndpointHealth endpoint : endpoints) {
      if (endpoint.outForSayingNo
          && endpoint.state != HealthState.IN_USE
          && negatives.excuses(row, endpoint)) {
        back(now, endpoint, "was asked by a client who is wrong");
        endpoint.backAt = 0; // nor is it a relapse if it goes out again
      }
    }
  }

  /**
   * A request was refused that others would have served. The endpoint works, and is not taken out.
   * It gets the fewer requests for that model, the more of them it refuses, and fewer of all where
   * nothing shows that it serves another. To refuse takes no time: it would look the least busy of
   * all, and get nearly all of them.
   *
   * @param begun whether its first byte was told, and looked like one of an answer
   * @param sentAt when it was sent there
   * @param trial that it was sent on, as {@link EndpointHealth#sent} said
   */
  public void refused(
      long now, EndpointHealth endpoint, String model, boolean begun, long sentAt, int trial) {
    sign(now, endpoint);
    endpoint.heard = true;
    boolean kept = !endpoint.gone && refusals.refused(now, endpoint, model, begun);
    boolean ofAll = !kept || !endpoint.servesAnother(model);
    endpoint.answered(model, false);
    if (!endpoint.isNews(sentAt)) {
      return;
    }
    endpoint.refused(now, begun, ofAll);
    if (ofAll) {
      usable.changed();
    }
    passed(now, endpoint, trial);
  }

  private void passed(long now, EndpointHealth endpoint, int trial) {
    if (endpoint.isOfTrial(trial) && endpoint.state == HealthState.ON_TRIAL && !endpoint.gone) {
      endpoint.noInRow = 0;
      back(now, endpoint, "answers again");
    }
  }

  /**
   * A request was over before its answer was, and nobody can tell whether its client left or the
   * endpoint broke it off: a proxy ends both in the same way. Clients leave any endpoint as often;
   * so many in a row that chance hardly makes of what is usual are the endpoint's fault. Those that
   * are cut together are one chance, of one client that leaves or of a server that is gone: where
   * they are many a probe is to tell, if no connection does.
   *
   * <p>Answers that are cut right after they began tell sooner: {@link CutSuspicion}. An endpoint
   * that is suspected for them gets hardly anything until a probe is answered to the end; the
   * shorter before it was cleared of the same, the longer.
   *
   * @param begunFor nanoseconds since the head of its answer; negative where nothing had come
   * @param sentAt when it was sent there
   * @param trial that it was sent on, as {@link EndpointHealth#sent} said
   */
  public void cut(long now, EndpointHealth endpoint, long begunFor, long sentAt, int trial) {
    if (begunFor >= 0 && begunFor < CutSuspicion.AT_ONCE) {
      cutAtOnce(now, endpoint, sentAt);
    }
    if (endpoint.cutsInRow > 0 && now - endpoint.lastCut < TOGETHER) {
      endpoint.cutTogether++;
      if (isByNoChance(endpoint.cutsInRow + endpoint.cutTogether)
          && endpoint.state == HealthState.IN_USE
          && endpoint.probe == 0
          && !endpoint.gone) {
        probe(now, endpoint);
        endpoint.askedIfGone = endpoint.probe != 0;
      }
      return;
    }
    endpoint.lastCut = now;
    endpoint.cutTogether = 0;
    cutShare.add(1);
    int row = endpoint.cutsInRow + 1;
    if (isByNoChance(row)) {
      failed(now, endpoint, Failure.BROKEN_OFF, sentAt, trial);
    } else {
      endpoint.cutsInRow = row;
    }
  }

  private void cutAtOnce(long now, EndpointHealth endpoint, long sentAt) {
    double usual = cutAtOnceShare.mean();
    if (!endpoint.suspected && endpoint.cuts.isUsual(usual)) {
      cutAtOnceShare.add(1);
    }
    if (!endpoint.cuts.cut(sentAt, usual)
        || endpoint.suspected
        || endpoint.state != HealthState.IN_USE
        || endpoint.gone) {
      return;
    }
    boolean again = endpoint.clearedAt != 0 && now - endpoint.clearedAt < SUSPICION_COUNTS;
    endpoint.suspicions = again ? Math.min(endpoint.suspicions + 1, MOST_SUSPICIONS) : 0;
    endpoint.suspectedUntil = again ? now + (SECOND << (endpoint.suspicions - 1)) : now;
    endpoint.suspected = true;
    usable.changed();
    if (endpoint.probe == 0) {
      probe(now, endpoint);
    }
  }

  /** What it was suspected for was not its doing, or is over. */
  private void cleared(long now, EndpointHealth endpoint) {
    endpoint.suspected = false;
    endpoint.clearedAt = now;
    endpoint.cuts.served(now);
    usable.changed();
  }

  private boolean isByNoChance(int cutsInRow) {
    return cutsInRow >= FAILURES_IN_A_ROW && Math.pow(cutShare.mean(), cutsInRow) < BY_CHANCE;
  }

  /**
   * A request failed there.
   *
   * @param sentAt when it was sent there
   * @param trial that it was sent on, as {@link EndpointHealth#sent} said
   */
  public void failed(long now, EndpointHealth endpoint, Failure failure, long sentAt, int trial) {
    usable.changed();
    if (failure == Failure.BROKEN_OFF) {
      endpoint.cutsInRow++;
    }
    endpoint.failed(now, failure == Failure.BROKEN_OFF);
    endpoint.countFailure(sentAt);
    if (endpoint.state == HealthState.OUT || isOfBefore(endpoint, sentAt)) {
      return;
    }
    if (endpoint.isOfTrial(trial) || isOut(endpoint, failure)) {
      out(now, endpoint, failure.words(), false);
    }
  }

  private static boolean isOut(EndpointHealth endpoint, Failure failure) {
    boolean several =
        switch (failure) {
          case REFUSED, UNREACHABLE -> true;
          case UNAVAILABLE -> endpoint.failuresInRow >= UNAVAILABLE_IN_A_ROW;
          case RESET_UNSENT, DIED, ERROR, FIRST_BYTE_LATE, PASSED_OVER ->
              endpoint.failuresInRow >= FAILURES_IN_A_ROW;
          // Each began with a first byte: that is no success in between.
          case BROKEN_OFF -> endpoint.cutsInRow >= FAILURES_IN_A_ROW;
          case NO_SOCKET -> false;
        };
    return several || failsTooMany(endpoint);
  }

  private static boolean failsTooMany(EndpointHealth endpoint) {
    return endpoint.faults().probability() >= FAILS_TOO_MANY
        && endpoint.faults().weight() >= ENOUGH_TOLD;
  }

  /** Something came from the endpoint that shows that it works. */
  public void sign(long now, EndpointHealth endpoint) {
    boolean used = endpoint.state == HealthState.IN_USE && endpoint.unchangedSinceSign();
    if (endpoint.overdue) {
      usable.changed();
      if (endpoint.silent) {
        wholes.interrupted(endpoint.quiet(now));
      }
    }
    if (used && endpoint.owedWholeSinceSign()) {
      wholes.spoke(endpoint.quiet(now));
    }
    long gap = endpoint.sign(now);
    endpoint.lifeless = false;
    if (endpoint.inFlight > 0 && endpoint.served && gap > usualGap) {
      // A false alarm makes the next one rarer, but no single freeze makes the pool deaf.
      usualGap = used ? gap : Math.min(gap, TIMES_USUAL * (SILENT + usualGap));
    }
    if (endpoint.silent && endpoint.state == HealthState.OUT) {
      endpoint.silent = false;
      if (!endpoint.gone) {
        back(now, endpoint, "says something again");
      }
    }
  }

  /** The last page of the endpoint told, or didn't, of tokens that it has computed. */
  public void countsTokens(EndpointHealth endpoint, boolean tells) {
    endpoint.countsTokens = tells;
  }

  /**
   * The endpoint has computed tokens, by two of its pages. It passes a trial by that, if they can
   * only be of a request that it is tried with: whose answer comes in one piece, nothing else may
   * be heard of for minutes.
   *
   * @param from when the earlier page was asked for
   */
  public void works(long now, EndpointHealth endpoint, long from) {
    sign(now, endpoint);
    endpoint.computed(now, from);
    if (endpoint.state == HealthState.ON_TRIAL && endpoint.worksOnTrial(from) && !endpoint.gone) {
      back(now, endpoint, "computes again");
    }
  }

  /** The endpoint answered a scrape: it listens. */
  public void heard(long now, EndpointHealth endpoint) {
    if (!endpoint.heard) {
      endpoint.heard = true;
      usable.changed();
    }
    if (endpoint.state == HealthState.OUT && endpoint.unreachable && endpoint.relapses == 0) {
      endpoint.nextProbe = Math.min(endpoint.nextProbe, now);
    }
    endpoint.unreachable = false;
  }

  /** A scrape of the port that serves requests failed. */
  public void unreachable(long now, EndpointHealth endpoint, Failure failure) {
    boolean again = endpoint.unreachable;
    endpoint.unreachable = failure == Failure.REFUSED || failure == Failure.UNREACHABLE;
    boolean sure = failure == Failure.REFUSED || (again && endpoint.quiet(now) >= SILENT);
    if (endpoint.unreachable && sure) {
      endpoint.outForSayingNo = false; // there is more against it now
      if (endpoint.state != HealthState.OUT) {
        out(now, endpoint, failure.words(), false);
      }
    }
  }

  /** Another process is there now, or the same one that has come back. */
  public void restarted(long now, EndpointHealth endpoint) {
    endpoint.startOver(now);
    refusals.forget(endpoint);
    endpoint.heard = true;
    endpoint.nextProbe = now;
    usable.changed();
  }

  /** A probe was answered; the endpoint's health is told where it makes a difference. */
  public void probed(long now, long probe) {
    EndpointHealth endpoint = asked(probe);
    if (endpoint == null) {
      return;
    }
    endpoint.probe = 0;
    endpoint.probeOver = now;
    endpoint.askedIfGone = false;
    endpoint.askedIfErring = false;
    endpoint.heard = true;
    endpoint.nextProbe = now + QUIET;
    if (endpoint.state == HealthState.OUT && !endpoint.silent) {
      trial(now, endpoint, "answered a probe");
    } else {
      sign(now, endpoint);
      if (endpoint.suspected && now - endpoint.suspectedUntil >= 0) {
        cleared(now, endpoint);
      }
      if (!endpoint.countsTokens
          && !endpoint.bodiless
          && endpoint.onTrial >= endpoint.mostOnTrial
          && now - endpoint.lastSent >= MORE_ON_TRIAL) {
        endpoint.mostOnTrial *= 2;
      }
    }
  }

  /** A probe failed. */
  public void probeFailed(long now, long probe, Failure failure) {
    EndpointHealth endpoint = asked(probe);
    if (endpoint != null) {
      probeFailed(now, endpoint, failure);
    }
  }

  private void probeFailed(long now, EndpointHealth endpoint, Failure failure) {
    endpoint.probe = 0;
    endpoint.probeOver = now;
    if (!failure.ofEndpoint()) {
      endpoint.nextProbe = now + (endpoint.state == HealthState.OUT ? pause(endpoint) : QUIET);
      return;
    }
    endpoint.probeFailure = failure;
    if (failure.answered()) {
      endpoint.sign(now); // it fails, but it lives
      endpoint.lifeless = false;
    } else {
      endpoint.outForSayingNo = false; // there is more against it now
      endpoint.unanswered++;
    }
    if (endpoint.state == HealthState.OUT) {
      endpoint.probesFailed++;
      endpoint.nextProbe = now + pause(endpoint);
    } else {
      endpoint.nextProbe = now + QUIET;
      // One that is late may be busy, and an error alone is for others to tell.
      boolean gone = !failure.answered() && failure != Failure.FIRST_BYTE_LATE;
      boolean cuts = endpoint.suspected && (gone || failure == Failure.BROKEN_OFF);
      boolean errs = endpoint.askedIfErring && failure.answered();
      if (failure == Failure.REFUSED || (endpoint.askedIfGone && gone) || cuts || errs) {
        out(now, endpoint, failure.words(), false);
      }
      endpoint.askedIfGone = false;
      endpoint.askedIfErring = false;
    }
  }

  private @Nullable EndpointHealth asked(long probe) {
    for (EndpointHealth endpoint : endpoints) {
      if (endpoint.probe == probe && probe != 0) {
        return endpoint;
      }
    }
    return null;
  }

  /** Some time has passed, for all endpoints: to be followed by {@link #check} of each. */
  public void tick(long now) {
    if (now - gapAgedAt >= SECOND) {
      gapAgedAt = now;
      usualGap -= usualGap / USUAL_GAP_KNOWN_FOR;
    }
    // Estimates age, and those that nothing was known of have waited long enough.
    usable.age();
    refusals.age(now);
  }

  /**
   * Looks whether the endpoint is to be probed, or has been silent for too long.
   *
   * @param expected nanoseconds that the prompts sent there may take before it says something
   * @param first what the one takes of these that is its next
   */
  public void check(long now, EndpointHealth endpoint, long expected, long first) {
    if (endpoint.probe != 0 && now - endpoint.probeBy >= 0) {
      probeFailed(now, endpoint, Failure.FIRST_BYTE_LATE);
    }
    if (endpoint.state == HealthState.OUT) {
      if (endpoint.probe == 0 && now - endpoint.nextProbe >= 0) {
        probe(now, endpoint);
      }
      if (endpoint.state == HealthState.OUT
          && now - endpoint.lastResortAt >= 0
          && (endpoint.probeFailure.answered() || endpoint.probeFailure == Failure.BROKEN_OFF)) {
        trial(now, endpoint, "is tried again, though it fails probes");
      }
      endpoint.lifeless |=
          endpoint.inFlight > 0
              && endpoint.quiet(now)
                  >= (endpoint.unreachable ? SILENT : mostSilence(now, endpoint, expected));
      return;
    }
    if (endpoint.suspected && endpoint.probe == 0 && now - endpoint.nextProbe >= 0) {
      probe(now, endpoint);
    }
    if (sendsHeadsAlone(now, endpoint, expected, first)) {
      endpoint.withholds(now);
      out(now, endpoint, "sends heads without bodies", false);
      return;
    }
    long quiet = endpoint.quiet(now);
    if (endpoint.inFlight == 0 || quiet < QUIET) {
      return;
    }
    boolean mayCompute = endpoint.mayComputeStill(now);
    boolean mayBeQuiet = endpoint.mayBeQuiet(now);
    endpoint.computing(
        mayCompute || mayBeQuiet ? quiet : Math.min(quiet, TIMES_EXPECTED * expected));
    if (mayBeQuiet && !endpoint.overdue && quiet >= Math.max(silence(expected), wholes.usual())) {
      endpoint.overdue = true;
      usable.changed();
    }
    long most = mostSilence(now, endpoint, expected);
    if (quiet < most || mayCompute) {
      if (endpoint.probe == 0 && now - nextProbe(endpoint, mayBeQuiet) >= 0) {
        probe(now, endpoint);
      }
    } else if (!mayBeQuiet || endpoint.leftUnanswered(most) || !asks(now, endpoint)) {
      out(now, endpoint, "says nothing while it has work", true);
    }
  }

  /**
   * Whether the endpoint has sent nothing after a head for so long that it is sick, whatever it
   * answers to probes: an engine may hang behind a frontend that is well. A head may come long
   * before a prompt is computed, so that this is as long as elsewhere in the pool, and more.
   * Before, it gets hardly anything until some of a body comes.
   */
  private boolean sendsHeadsAlone(long now, EndpointHealth endpoint, long expected, long first) {
    long alone = endpoint.headsAlone(now);
    if (alone < Math.max(silence(first), bodies.usual())) {
      return false;
    }
    if (!endpoint.bodiless) {
      endpoint.bodiless = true;
      usable.changed();
    }
    long most = endpoint.served && bodies.known() ? bodies.most() : WaitsOfLate.FIRST;
    return alone >= Math.max(silence(expected), most);
  }

  /**
   * Some of an answer's body came from the endpoint.
   *
   * @param afterHead nanoseconds after its head, if it is the first; else negative
   */
  public void body(long now, EndpointHealth endpoint, long afterHead) {
    if (afterHead >= 0 && (endpoint.bodiless || endpoint.state == HealthState.OUT)) {
      bodies.interrupted(afterHead);
    } else if (afterHead >= 0) {
      bodies.came(now, afterHead + 1);
      bodies.spoke(afterHead);
    }
    if (endpoint.body(now)) {
      usable.changed();
    }
  }

  /** Whether a probe is to be waited for. */
  private boolean asks(long now, EndpointHealth endpoint) {
    if (endpoint.probe == 0) {
      probe(now, endpoint);
    }
    return endpoint.probe != 0;
  }

  /** When an endpoint that is not out is to be asked for a sign of life again. */
  private static long nextProbe(EndpointHealth endpoint, boolean mayBeQuiet) {
    return mayBeQuiet && endpoint.unanswered > 0
        ? endpoint.probeOver + (QUIET << Math.min(endpoint.unanswered - 1, MOST_DOUBLINGS))
        : endpoint.nextProbe;
  }

  /**
   * How long an endpoint with work may say nothing until it is out. Where answers in one piece are
   * all that it shows, a probe must have told nothing either, after as long.
   */
  private long mostSilence(long now, EndpointHealth endpoint, long expected) {
    long usual = silence(expected);
    return endpoint.mayBeQuiet(now) ? Math.max(usual, wholes.most()) : usual;
  }

  /** The same where anything that it computes is seen. */
  private long silence(long expected) {
    return longest(expected) + TIMES_USUAL * usualGap;
  }

  /** An answer in one piece was there so long after its request had been sent. */
  public void answeredWhole(long now, long nanos) {
    wholes.came(now, nanos);
  }

  /** How long it may say nothing that has work which is expected to take so long. */
  public static long longest(long expected) {
    return SILENT + TIMES_EXPECTED * expected;
  }

  private void probe(long now, EndpointHealth endpoint) {
    long id = ++lastProbe;
    endpoint.probe = id;
    endpoint.probeBy = now + PROBE_TIMEOUT;
    Probe probe = new Probe(id, endpoint.spec(), endpoint.model(), PROBE_TIMEOUT);
    if (!listener.probe(probe)) {
      endpoint.probe = 0;
      endpoint.nextProbe = now + LONGEST_PROBE_PAUSE;
      if (endpoint.state == HealthState.OUT) {
        trial(now, endpoint, "is tried again");
      }
    }
  }

  /** Until the next probe: longer after each that failed, and after each relapse. */
  private static long pause(EndpointHealth endpoint) {
    long afterProbes =
        Math.min(FIRST_PROBE << Math.min(endpoint.probesFailed, 3), LONGEST_PROBE_PAUSE);
    long afterRelapses =
        endpoint.relapses == 0
            ? 0
            : Math.min(FIRST_PROBE << endpoint.relapses, LONGEST_RELAPSE_PAUSE);
    return Math.max(afterProbes, afterRelapses);
  }

  private void out(long now, EndpointHealth endpoint, String reason, boolean silent) {
    boolean soon = endpoint.backAt != 0 && now - endpoint.backAt < RELAPSE;
    boolean failedTrial = endpoint.state == HealthState.ON_TRIAL;
    if (soon || failedTrial) {
      endpoint.relapses = Math.min(endpoint.relapses + 1, MOST_RELAPSES);
    } else {
      endpoint.relapses = 0;
    }
    endpoint.silent = silent;
    endpoint.suspected = false;
    endpoint.bodiless = false;
    endpoint.askedIfGone = false;
    endpoint.askedIfErring = false;
    endpoint.outForSayingNo = false;
    endpoint.probesFailed = 0;
    endpoint.probe = 0;
    endpoint.nextProbe = now + pause(endpoint);
    endpoint.lastResortAt = now + LAST_RESORT;
    change(now, endpoint, HealthState.OUT, reason);
  }

  private void trial(long now, EndpointHealth endpoint, String reason) {
    endpoint.silent = false;
    endpoint.probe = 0;
    endpoint.sign(now); // what it has had for long says nothing of the trial
    endpoint.bodiless = false;
    // What it did before counts as one failure: it is tried, but not with every request.
    endpoint.forgetFailures();
    endpoint.failed(now, false);
    endpoint.beginTrial();
    change(now, endpoint, HealthState.ON_TRIAL, reason);
  }

  private void back(long now, EndpointHealth endpoint, String reason) {
    endpoint.silent = false;
    endpoint.probe = 0;
    endpoint.backAt = now;
    endpoint.cuts.served(now);
    endpoint.forgetFailures();
    change(now, endpoint, HealthState.IN_USE, reason);
  }

  private void change(long now, EndpointHealth endpoint, HealthState to, String reason) {
    HealthState from = endpoint.state;
    endpoint.state = to;
    endpoint.lifeless = false;
    endpoint.since = now;
    endpoint.reason = reason;
    usable.changed();
    listener.healthChanged(new HealthChange(endpoint.spec(), from, to, reason));
  }
}
