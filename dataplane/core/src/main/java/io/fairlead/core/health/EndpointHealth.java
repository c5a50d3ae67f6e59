package io.fairlead.core.health;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.HealthState;

/**
 * The evidence on one incarnation of an endpoint: failures, cuts, silence, and the state that
 * {@link PoolHealth} concluded from them. Only PoolHealth changes it, except for what the account
 * reports: sends, ends and signs of life.
 */
public final class EndpointHealth {

  private static final long NONE = 0;

  /** How likely one that is suspected fails a request. */
  private static final double SUSPECTED = 0.5;

  private EndpointSpec spec;
  private final FailureEstimate estimate = new FailureEstimate();

  /** The same where what it refuses counts as served. */
  private final FailureEstimate faults = new FailureEstimate();

  HealthState state = HealthState.IN_USE;
  String reason = "";

  /** Since when it is in this state. */
  long since;

  /** When it came, or came back. */
  long cameAt;

  /** Whether it has left the pool. */
  boolean gone;

  /** Whether it has answered anything since it came: a scrape, a request, a probe. */
  boolean heard;

  /** Whether it has answered a request since it came: before that, its first may be slow. */
  boolean served;

  /** Failures without a success of a request that was sent after the first of them. */
  int failuresInRow;

  private long rowBeganAt;

  /** Answers that broke off, or whose clients left a proxy, with none complete between them. */
  int cutsInRow;

  /** When the last of those was, and how many were cut with it, which count as one. */
  long lastCut;

  int cutTogether;

  /** Whether the probe that is under way is to tell whether so many were cut as it is gone. */
  boolean askedIfGone;

  /** Whether it is to tell whether it fails more than requests that any endpoint fails. */
  boolean askedIfErring;

  final CutSuspicion cuts = new CutSuspicion();

  /** Whether its cuts look like its own doing, and until when a probe doesn't clear it of that. */
  boolean suspected;

  long suspectedUntil;

  /** How often it was, each time soon after it had been cleared. */
  int suspicions;

  long clearedAt;

  /**
   * Whether it has said nothing for longer than its answers in one piece take, of which nothing
   * else is heard.
   */
  boolean overdue;

  /** Whether it sends heads, and has sent nothing of a body for longer than is usual. */
  boolean bodiless;

  /** The first of its heads that came without a body, if one had none at this tick. */
  private long headAt;

  private long headTold;

  /** Whether it went out for that, and has sent nothing of a body since; and when it did. */
  private boolean withholds;

  private long withholdsSince;

  /** When some of a body came last, or it was seen to compute for requests. */
  private long bodyAt;

  /**
   * Answers that said no, which is that a request is invalid, or an error: with none served between
   * them, and since when.
   */
  int noInRow;

  long noSince;

  /** Those on the trial that goes on, or was the last. */
  int noOnTrial;

  /** Of all its answers, those that said no. */
  final UsualShare noShare = new UsualShare();

  /** Whether it is out for that alone: another's row may show that it was a client's mistake. */
  boolean outForSayingNo;

  /** Requests sent there and not over. */
  int inFlight;

  /** Those of them that were sent in the trial that goes on, or was the last. */
  int onTrial;

  /** How often it was on trial so far. */
  int trials;

  /** How many requests it may have on the trial at a time. */
  int mostOnTrial = 1;

  /** Whether its pages tell of tokens that it computes. */
  boolean countsTokens;

  /** When the last request was sent there, and which one it was of all that the pool sent. */
  long lastSent;

  long sendsBefore;

  /** When it last showed that it works, or began to have something to do. */
  private long lastSign;

  /**
   * When it may last have been at work on a prompt that it is presumed to have computed, which
   * nobody saw.
   */
  private long mayComputeAt;

  /** When it last had a request whose answer nothing is heard of before it is all there. */
  private long owedWholeAt;

  /** Since {@link #lastSign}: for how much of that it may have computed, and said nothing. */
  private long computing;

  /** Whether it is out for saying nothing: any sign of life ends that. */
  boolean silent;

  /** Whether it is out for something else and says nothing either: its requests wait in vain. */
  boolean lifeless;

  /** Whether the last scrape of its port got no connection. */
  boolean unreachable;

  /** How often it went out soon after it had come back. */
  int relapses;

  /** When it last came back from being out; 0 for never. */
  long backAt;

  /** Probes that failed in a row while it is out, and how the last one did. */
  int probesFailed;

  Failure probeFailure = Failure.ERROR;

  /** The probe that is under way, or {@link #NONE}, and until when it may take. */
  long probe = NONE;

  long probeBy;

  /** When the last one was answered, or given up: what it computed for one tells of no request. */
  long probeOver;

  long nextProbe;

  /** Probes that got no answer since its last sign of life. */
  int unanswered;

  /** When it gets a request on trial whatever probes say. */
  long lastResortAt;

  /** Of the last request that was sent there: a model that it may serve. */
  private String model = "";

  /** The last that it has served; empty for none. */
  private String servedModel = "";

  /** The model of its last answer, and whether it served or refused it. */
  private String answered = "";

  private boolean answeredServed;

  /** Whether the last answer before that for another model was a served one. */
  private boolean otherServed;

  /** Share of requests that it is left in the draw for; 1 unless it fails some. */
  double share = 1;

  /** The health of an endpoint that has just come. */
  public EndpointHealth(EndpointSpec spec, long now) {
    this.spec = spec;
    this.since = now;
    this.cameAt = now;
    this.lastSign = now;
    this.mayComputeAt = now - 1;
    this.owedWholeAt = now - 1;
    this.headTold = now - 1;
    this.bodyAt = now;
  }

  /** How it is used. */
  public HealthState state() {
    return state;
  }

  /** Why it is used so, to be read after its name; empty when there is nothing to say. */
  public String reason() {
    return reason;
  }

  /** Since when, by the pool's clock. */
  public long since() {
    return since;
  }

  /** How likely it fails a request, from 0 to below 1; half at least where it looks sick. */
  public double failing() {
    double known = estimate.probability();
    return suspected || overdue || bodiless ? Math.max(SUSPECTED, known) : known;
  }

  /** What a request costs there in requests that are served, its failures counted. */
  public double risk() {
    return FailureEstimate.risk(failing());
  }

  /** Whether it has answered a request since it came. */
  public boolean served() {
    return served;
  }

  /** Whether it has been out since then, and says nothing while it has work. */
  public boolean silentSince(long then) {
    return (silent || lifeless) && since <= then;
  }

  /** Whether it has said nothing since then. */
  public boolean quietSince(long then) {
    return lastSign - then <= 0;
  }

  /** What it is called now. */
  public EndpointSpec spec() {
    return spec;
  }

  /** It is called otherwise, or has other labels. */
  public void spec(EndpointSpec other) {
    spec = other;
  }

  FailureEstimate estimate() {
    return estimate;
  }

  FailureEstimate faults() {
    return faults;
  }

  /** A request was served there. */
  void succeeded(long now) {
    failuresInRow = 0;
    estimate.succeeded(now);
    faults.succeeded(now);
  }

  /**
   * A request was turned away that others serve.
   *
   * @param begun whether it had been counted as served
   * @param ofAll whether it tells of all requests, and not of those for its model alone
   */
  void refused(long now, boolean begun, boolean ofAll) {
    failuresInRow = 0;
    if (ofAll) {
      estimate.failed(now, begun);
    }
    if (!begun) {
      faults.succeeded(now);
    }
  }

  /** A request failed; one that broke off had been counted as served. */
  void failed(long now, boolean brokenOff) {
    estimate.failed(now, brokenOff);
    faults.failed(now, brokenOff);
  }

  /** What it did before says nothing of what it will do. */
  void forgetFailures() {
    failuresInRow = 0;
    estimate.forget();
    faults.forget();
  }

  /** What a probe is to ask for: what it has served rather than what was asked of it. */
  String model() {
    return servedModel.isEmpty() ? model : servedModel;
  }

  /**
   * A request was sent there.
   *
   * @param number of the pool's requests, this one included
   * @return the number of the trial that it is sent on; 0 for none
   */
  int sent(long now, String target, long number) {
    if (inFlight == 0) {
      sign(now);
    }
    inFlight++;
    lastSent = now;
    sendsBefore = number;
    if (!target.isEmpty()) {
      model = target;
    }
    if (state != HealthState.ON_TRIAL) {
      return 0;
    }
    onTrial++;
    return trials;
  }

  /**
   * A request that was sent there is over, or sent elsewhere.
   *
   * @param trial as {@link #sent} said
   */
  public void over(int trial) {
    inFlight--;
    onTrial -= isOfTrial(trial) ? 1 : 0;
    overdue &= inFlight > 0 || silent;
  }

  /**
   * A request is there whose prompt is presumed to be computed, and may not be: to be told at each
   * tick for as long as that is so.
   */
  public void mayCompute(long now) {
    mayComputeAt = now;
  }

  /** How long it has shown no sign of life. */
  long quiet(long now) {
    return now - lastSign;
  }

  /** Whether a probe got no answer when it had said nothing for so long, or longer. */
  boolean leftUnanswered(long quiet) {
    return unanswered > 0 && probeOver - lastSign >= quiet;
  }

  /** Whether it has been in this state since its last sign of life, or longer. */
  boolean unchangedSinceSign() {
    return since - lastSign <= 0;
  }

  /** Whether there was such a request at this tick. */
  boolean mayComputeStill(long now) {
    return mayComputeAt == now;
  }

  /**
   * A request is there whose answer nobody sees before all of it is there, if then: to be told at
   * each tick for as long as that is so.
   */
  public void owesWhole(long now) {
    owedWholeAt = now;
  }

  /**
   * Whether such an answer may be all that it shows of its work: no page of its tells of tokens.
   */
  boolean mayBeQuiet(long now) {
    return owedWholeAt == now && !countsTokens;
  }

  /**
   * A request has the head of its answer and nothing else: to be told at each tick for as long as
   * that is so. One that was sent before it left, went out, or came back says nothing.
   */
  public void hasHeadAlone(long now, long sentAt, long since) {
    if (sentAt - this.since >= 0 && (headTold != now || since - headAt < 0)) {
      headTold = now;
      headAt = since;
    }
  }

  /** For how long it has sent nothing after a head; negative where none is without a body. */
  long headsAlone(long now) {
    return headTold != now ? -1 : now - Math.max(headAt, bodyAt);
  }

  /**
   * Some of a body came.
   *
   * @return whether it was waited for too long
   */
  boolean body(long now) {
    bodyAt = now;
    boolean waitedFor = bodiless;
    bodiless = false;
    withholds = false;
    return waitedFor;
  }

  /** It goes out for sending heads without bodies. */
  void withholds(long now) {
    if (!withholds) {
      withholds = true;
      withholdsSince = now;
    }
  }

  /**
   * Whether it went out by then for sending heads without bodies, and has sent nothing of one
   * since, whatever probes say.
   */
  public boolean withholdsSince(long then) {
    return withholds && withholdsSince - then <= 0;
  }

  /** Its pages tell of tokens since then. Those of a probe say nothing of requests. */
  void computed(long now, long from) {
    if (probe == NONE && from - probeOver > 0) {
      bodyAt = now;
    }
  }

  /** So much of the time since the last sign of life is explained by what it has to compute. */
  void computing(long nanos) {
    computing = Math.max(computing, nanos);
  }

  /**
   * There is a sign of life, or it is as if there were.
   *
   * @return nanoseconds since the one before it that nothing explains
   */
  long sign(long now) {
    long unexplained = now - lastSign - computing;
    lastSign = now;
    computing = 0;
    overdue = false;
    unanswered = 0;
    return unexplained;
  }

  /** Whether there was such an answer to come since its last sign of life. */
  boolean owedWholeSinceSign() {
    return owedWholeAt - lastSign > 0 && !countsTokens;
  }

  /** It is on trial: what was sent on an earlier one has no part in it, and may last for long. */
  void beginTrial() {
    trials++;
    onTrial = 0;
    mostOnTrial = 1;
    noOnTrial = 0;
  }

  /**
   * Whether what it has computed since a moment, by what its pages tell, was computed for requests
   * of its trial.
   */
  boolean worksOnTrial(long from) {
    return onTrial > 0
        && onTrial == inFlight
        && from - lastSent > 0
        && probe == NONE
        && from - probeOver > 0;
  }

  /** Whether a request was sent on the trial that goes on, or was the last. */
  boolean isOfTrial(int trial) {
    return trial != 0 && trial == trials;
  }

  /** A request failed that was sent at {@code sentAt}. */
  void countFailure(long sentAt) {
    if (failuresInRow == 0) {
      rowBeganAt = sentAt;
    }
    failuresInRow++;
  }

  /**
   * Whether a success says something of how requests fare now: one that was sent before the first
   * failure in the row does not. A server that drains finishes those, and refuses what is new.
   */
  boolean isNews(long sentAt) {
    return failuresInRow == 0 || sentAt - rowBeganAt > 0;
  }

  /** It answered for the model: served it, or refused it. */
  void answered(String target, boolean serves) {
    if (!target.equals(answered)) {
      otherServed = answeredServed;
      answered = target;
    }
    answeredServed = serves;
    if (serves && !target.isEmpty()) {
      servedModel = target;
    }
  }

  /**
   * Whether the last that it answered for another model was an answer: it lacks this one, then, and
   * does not refuse whatever comes.
   */
  boolean servesAnother(String target) {
    return target.equals(answered) ? otherServed : answeredServed;
  }

  /** It had left the pool, and is there again: no answer is taken to a probe of before. */
  public void comesBack(long now) {
    cameAt = now;
    sign(now);
    heard = false;
    gone = false;
    probe = NONE;
  }

  /** It has left the pool: what becomes of its requests changes nothing. */
  public void leaves() {
    gone = true;
  }

  /** All that was seen is of a former life. */
  void startOver(long now) {
    forgetFailures();
    cutsInRow = 0;
    askedIfGone = false;
    askedIfErring = false;
    cuts.forget();
    suspected = false;
    bodiless = false;
    withholds = false;
    bodyAt = now;
    suspicions = 0;
    noInRow = 0;
    outForSayingNo = false;
    answered = "";
    answeredServed = false;
    otherServed = false;
    servedModel = "";
    heard = false;
    served = false;
    cameAt = now;
    sign(now);
    silent = false;
    lifeless = false;
    unreachable = false;
    relapses = 0;
    backAt = 0;
    probesFailed = 0;
    probe = NONE;
  }
}
