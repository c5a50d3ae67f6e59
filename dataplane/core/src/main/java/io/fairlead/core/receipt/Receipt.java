package io.fairlead.core.receipt;

import io.fairlead.core.Failure;
import io.fairlead.core.NotSentAgain;
import io.fairlead.core.Outcome;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.Usage;
import io.fairlead.core.flow.FlowQueue;
import io.fairlead.core.receipt.KeptRequest.KeptDecision;
import io.fairlead.crds.config.Criticality;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What became of one request so far, written by the core as it happens. When others need the space,
 * the object is another request's: {@link #isOf} tells whose it is. Names are in the ring, and
 * contexts are kept by number, so that nothing of a request outlives it but words. The few objects
 * are hardly ever another than those of the request before: they are written only then, since the
 * collector looks at whoever got one.
 */
public final class Receipt {

  /** Characters of names that are kept; a header may be of any length. */
  private static final int LONGEST_NAME = 128;

  /** Outcomes of requests that their last attempt has answered. */
  private static final Set<String> ANSWERED =
      Set.of(Outcome.COMPLETED.code(), Outcome.REFUSED.code(), Outcome.INVALID.code());

  /**
   * Of each decision: its context, where its words begin, where those of what became of it do, the
   * end.
   */
  private static final int PLACES = 4;

  private static final int MOST_REFUSALS = 2;
  private static final long[] NO_PLACES = {};
  private static final @Nullable Failure[] NO_FAILURES = {};
  private static final int[] NO_STATUSES = {};

  private final ReceiptRing ring;
  private final DecisionContexts contexts;
  private long ticket;
  private long from;

  /** The newest context when it began. */
  private long oldestContext;

  private int nameWords;
  private int idHash;
  private long arrivedAt;
  private int blocks;
  private int maxOutputTokens;
  private long bodyBytes;
  private boolean streamed;
  private boolean waited;
  private int attempts;

  /** Of how it was sent for the first time: most are sent once. */
  private long firstIn;

  private long firstFrom;
  private long firstSent;
  private long firstEnd;

  /** Of how it was sent again. */
  private long[] againPlaces = NO_PLACES;

  /** By attempt, how it failed and when: few do. Null for one that did not. */
  private @Nullable Failure[] failedHow = NO_FAILURES;

  private long[] failedAt = NO_PLACES;

  /** By attempt, the HTTP status of its answer where that is no success; else 0. */
  private int[] statuses = NO_STATUSES;

  /** Why it was not sent again, where its last attempt failed; null while that is not known. */
  private @Nullable NotSentAgain notSentAgain;

  /** Why it was not sent: when it began to wait, and when it was rejected. Few are. */
  private long[] refusedPlaces = NO_PLACES;

  private int refusals;
  private long refusedAt;
  private boolean firstTokenSeen;
  private long firstTokenAt;
  private long endedAt;
  private boolean over;

  /** Once it is over; before, that of the request before it. */
  private String outcome = "";

  private int usedPrompt;
  private int usedCompletion;
  private int usedCached;
  private int usedEvents;

  Receipt(ReceiptRing ring, DecisionContexts contexts) {
    this.ring = ring;
    this.contexts = contexts;
  }

  /** From now on it is nobody's. */
  void clear() {
    ticket = 0;
    waited = false;
    attempts = 0;
    refusals = 0;
    Arrays.fill(failedHow, null);
    Arrays.fill(statuses, 0);
    if (notSentAgain != null) {
      notSentAgain = null;
    }
    firstFrom = 0;
    firstTokenSeen = false;
    endedAt = 0;
    over = false;
    use(Usage.UNKNOWN);
  }

  /** From now on it is this request's, and was nobody's. */
  void begin(long now, long newTicket, RequestFacts facts) {
    ticket = newTicket;
    from = ring.end();
    oldestContext = contexts.current();
    String id = clipped(facts.id());
    idHash = id.hashCode();
    ring.put(id);
    ring.put(clipped(facts.model()));
    ring.commit();
    nameWords = Math.toIntExact(ring.end() - from);
    arrivedAt = now;
    blocks = facts.blocks().length;
    maxOutputTokens = facts.maxOutputTokens();
    bodyBytes = facts.bodyBytes();
    streamed = facts.delivery().streamed();
  }

  long arrivedAt() {
    return arrivedAt;
  }

  /** No decision of it is of a context with a smaller number. */
  long oldestContext() {
    return oldestContext;
  }

  /** Whether it is still that request's. */
  public boolean isOf(long request) {
    return ticket == request;
  }

  /** There is no room for it yet. */
  public void waits() {
    waited = true;
  }

  /**
   * It is sent, or sent again. Nothing else was written since the decision.
   *
   * @param flow whose turn it was; null where nobody ever waits
   * @param target model name that it is sent with
   * @param promptTokens as estimated
   */
  public void sent(
      WrittenDecision decision,
      Criticality criticality,
      @Nullable FlowQueue flow,
      String target,
      int promptTokens) {
    long sent = ring.end();
    write(decision, criticality, flow, target, promptTokens);
    long end = ring.end();
    if (attempts == 0) {
      firstIn = decision.context();
      firstFrom = decision.from();
      firstSent = sent;
      firstEnd = end;
    } else {
      if (againPlaces.length < attempts * PLACES) {
        againPlaces = Arrays.copyOf(againPlaces, attempts * PLACES);
      }
      keep(decision, sent, end, againPlaces, attempts - 1);
    }
    attempts++;
    if (notSentAgain != null) {
      notSentAgain = null;
    }
    ring.approach(end - decision.from());
  }

  private static void keep(WrittenDecision decision, long sent, long end, long[] in, int number) {
    in[number * PLACES] = decision.context();
    in[number * PLACES + 1] = decision.from();
    in[number * PLACES + 2] = sent;
    in[number * PLACES + 3] = end;
  }

  /**
   * Nobody gets it, now. Nothing else was written since the decision.
   *
   * @param flow whose turn it was not; null where nobody ever waits
   * @param target model name that it would have been sent with
   * @param promptTokens as estimated
   */
  public void refused(
      WrittenDecision decision,
      Criticality criticality,
      @Nullable FlowQueue flow,
      String target,
      int promptTokens) {
    if (refusedPlaces.length == 0) {
      refusedPlaces = new long[MOST_REFUSALS * PLACES];
    }
    // The first and the last tell most.
    int number = Math.min(refusals, MOST_REFUSALS - 1);
    refusedAt = decision.at();
    long sent = ring.end();
    write(decision, criticality, flow, target, promptTokens);
    keep(decision, sent, ring.end(), refusedPlaces, number);
    refusals = number + 1;
  }

  /** Whether it is known why nobody gets it at this time. */
  public boolean isRefusedAt(long now) {
    return refusals > 0 && refusedAt == now;
  }

  private void write(
      WrittenDecision decision,
      Criticality criticality,
      @Nullable FlowQueue flow,
      String target,
      int promptTokens) {
    ring.put(decision.at());
    ring.put(decision.runs(), decision.candidates());
    ring.put(decision.primary(), decision.prefill());
    ring.put(decision.picked());
    ring.put(decision.expectedFirstToken());
    ring.put(promptTokens, Sending.CRITICALITIES.indexOf(criticality));
    ring.put(flow == null ? 0 : flow.priority());
    ring.put(clipped(target));
    ring.put(flow == null ? "" : clipped(flow.id()));
    ring.commit();
  }

  private static String clipped(String name) {
    return name.length() <= LONGEST_NAME ? name : name.substring(0, LONGEST_NAME);
  }

  /** The attempt under way failed. */
  public void failed(long now, Failure how) {
    if (attempts == 0) {
      return;
    }
    if (failedHow.length < attempts) {
      failedHow = Arrays.copyOf(failedHow, attempts);
      failedAt = Arrays.copyOf(failedAt, attempts);
    }
    failedHow[attempts - 1] = how;
    failedAt[attempts - 1] = now;
  }

  /** The answer to the attempt under way had this HTTP status. */
  public void status(int status) {
    if (attempts == 0) {
      return;
    }
    if (statuses.length < attempts) {
      statuses = Arrays.copyOf(statuses, attempts);
    }
    statuses[attempts - 1] = status;
  }

  /** The attempt that failed was the last, unless it is sent after all. */
  public void notSentAgain(NotSentAgain why) {
    notSentAgain = why;
  }

  /** Its answer has begun: late it may have been, but the attempt has not failed so far. */
  public void answered() {
    if (attempts > 0 && attempts <= failedHow.length) {
      failedHow[attempts - 1] = null;
    }
    if (notSentAgain != null) {
      notSentAgain = null;
    }
  }

  /** Its first token came. */
  public void firstToken(long now) {
    firstTokenSeen = true;
    firstTokenAt = now;
  }

  /**
   * It is over.
   *
   * @param how a word for people, such as {@code completed} or the reason of a rejection
   */
  public void ended(long now, String how, Usage used) {
    endedAt = now;
    over = true;
    if (!outcome.equals(how)) {
      outcome = how;
    }
    use(used);
    if (ANSWERED.contains(how)) {
      // Of an answer in one piece nothing but its end is told.
      answered();
    }
  }

  private String outcome() {
    return over ? outcome : DecidedRequest.OPEN;
  }

  private void use(Usage used) {
    usedPrompt = used.promptTokens();
    usedCompletion = used.completionTokens();
    usedCached = used.cachedTokens();
    usedEvents = used.streamedEvents();
  }

  /** Whether it is somebody's, and all that it tells is still there. */
  boolean isWhole() {
    return ticket != 0 && ring.holds(from) && contexts.holds(oldestContext);
  }

  /** Whether it is of that name, as far as names are kept. */
  boolean isNamed(String whole) {
    String name = clipped(whole);
    return idHash == name.hashCode() ? name.equals(id()) : idHash == 0 && name.equals(nameless());
  }

  /** What a request is called that came without a name. */
  private String nameless() {
    return idHash == 0 ? "request-" + ticket : "";
  }

  private String id() {
    String given = names().text();
    return given.isEmpty() ? nameless() : given;
  }

  private String model() {
    Words names = names();
    var _ = names.text();
    return names.text();
  }

  /** Its name, if it has one, then the model. */
  private Words names() {
    return new Words(ring.copy(from, nameWords));
  }

  /** Names are read only where they are asked for: there may be many receipts to look at. */
  boolean isAccepted(ReceiptFilter filter) {
    return (filter.outcome() == null || filter.outcome().equals(outcome()))
        && (filter.model() == null || filter.model().equals(model()))
        && (filter.endpoint() == null || filter.endpoint().equals(endpoint()));
  }

  private String endpoint() {
    return attempts == 0 ? "" : sending(sent(attempts - 1)).endpoint().name();
  }

  /** Where the words of a decision are, and those of what became of it behind them. */
  private record Place(long context, long from, long sent, long end) {

    static Place of(long[] places, int number) {
      int at = number * PLACES;
      return new Place(places[at], places[at + 1], places[at + 2], places[at + 3]);
    }
  }

  private Place sent(int attempt) {
    return attempt == 0
        ? new Place(firstIn, firstFrom, firstSent, firstEnd)
        : Place.of(againPlaces, attempt - 1);
  }

  private Place refused(int number) {
    return Place.of(refusedPlaces, number);
  }

  private Sending sending(Place place) {
    DecisionContext context = contexts.get(place.context());
    return Sending.read(context, new Words(words(place.sent(), place.end())));
  }

  private KeptDecision decision(Place place, List<Object> vocabulary) {
    return new KeptDecision(sending(place), words(place.from(), place.sent()), vocabulary);
  }

  private long[] words(long begin, long end) {
    return ring.copy(begin, Math.toIntExact(end - begin));
  }

  /** As it is now, with its decisions. */
  KeptRequest kept(List<Object> vocabulary) {
    List<KeptDecision> decisions = new ArrayList<>();
    for (int i = 0; i < attempts; i++) {
      decisions.add(decision(sent(i), vocabulary));
    }
    List<@Nullable FailedAttempt> failed = new ArrayList<>();
    for (int i = 0; i < attempts; i++) {
      Failure how = i < failedHow.length ? failedHow[i] : null;
      failed.add(how == null ? null : new FailedAttempt(how, failedAt[i]));
    }
    List<KeptDecision> refused = new ArrayList<>();
    for (int i = 0; i < refusals; i++) {
      refused.add(decision(refused(i), vocabulary));
    }
    int[] answered = Arrays.copyOf(statuses, attempts);
    return new KeptRequest(inBrief(), decisions, failed, answered, notSentAgain, refused);
  }

  /** The decision by which it was sent last. */
  Decision lastDecision(List<Object> vocabulary) {
    return DecisionReader.read(inBrief(), decision(sent(attempts - 1), vocabulary));
  }

  /** As it is now. */
  DecidedRequest inBrief() {
    @Nullable Sending first = attempts == 0 ? null : sending(sent(0));
    @Nullable Sending last = attempts == 0 ? null : sending(sent(attempts - 1));
    @Nullable Sending told = last;
    if (last == null && refusals > 0) {
      told = sending(refused(refusals - 1));
    }
    return new DecidedRequest(
        id(),
        arrivedAt,
        model(),
        told == null ? "" : told.target(),
        told == null ? Criticality.STANDARD : told.criticality(),
        told == null ? 0 : told.priority(),
        told == null ? "" : told.flow(),
        waited,
        told == null ? 0 : told.promptTokens(),
        blocks,
        maxOutputTokens,
        bodyBytes,
        streamed,
        attempts,
        last == null ? "" : last.endpoint().name(),
        first == null ? 0 : first.at(),
        last == null ? 0 : last.at(),
        last == null ? Double.NaN : last.expectedFirstToken(),
        firstTokenSeen ? firstTokenAt - arrivedAt : -1,
        over ? endedAt - arrivedAt : -1,
        outcome(),
        new Usage(usedPrompt, usedCompletion, usedCached, usedEvents));
  }
}
