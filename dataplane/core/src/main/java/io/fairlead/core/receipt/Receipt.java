package io.fairlead.core.receipt;

import io.fairlead.core.RequestFacts;
import io.fairlead.core.Usage;
import io.fairlead.core.flow.FlowQueue;
import io.fairlead.core.receipt.KeptRequest.KeptDecision;
import io.fairlead.crds.config.Criticality;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What became of one request so far, written by the core as it happens. When others need the space,
 * the object is another request's: {@link #isOf} tells whose it is. Names are in the ring, so that
 * nothing of a request outlives it but words.
 */
public final class Receipt {

  /** Characters of names that are kept; a header may be of any length. */
  private static final int LONGEST_NAME = 128;

  private static final String OPEN = "open";

  /** Of each decision: where its words begin, where {@link #sent} has added to them, the end. */
  private static final int PLACES = 3;

  private static final int MOST_REFUSALS = 2;

  private final ReceiptRing ring;
  private long ticket;
  private long from;
  private int nameWords;
  private int idHash;
  private long arrivedAt;
  private int blocks;
  private int maxOutputTokens;
  private long bodyBytes;
  private boolean streamed;
  private boolean waited;
  private int attempts;
  private DecisionContext[] contexts = new DecisionContext[1];
  private long[] places = new long[PLACES];

  /** Why it was not sent: when it began to wait, and when it was rejected. */
  private final DecisionContext[] refusedIn = new DecisionContext[MOST_REFUSALS];

  private final long[] refusedPlaces = new long[MOST_REFUSALS * PLACES];
  private int refusals;
  private long refusedAt;
  private boolean firstTokenSeen;
  private long firstTokenAt;
  private long endedAt;
  private String outcome = OPEN;
  private int usedPrompt;
  private int usedCompletion;
  private int usedCached;
  private int usedEvents;

  Receipt(ReceiptRing ring) {
    this.ring = ring;
  }

  /** From now on it is another request's. */
  void begin(long now, long newTicket, RequestFacts facts) {
    ticket = newTicket;
    from = ring.end();
    String id = clipped(facts.id());
    idHash = id.hashCode();
    ring.put(id);
    ring.put(clipped(facts.model()));
    nameWords = Math.toIntExact(ring.end() - from);
    arrivedAt = now;
    blocks = facts.blocks().length;
    maxOutputTokens = facts.maxOutputTokens();
    bodyBytes = facts.bodyBytes();
    streamed = facts.delivery().streamed();
    waited = false;
    attempts = 0;
    refusals = 0;
    firstTokenSeen = false;
    outcome = OPEN;
    use(Usage.UNKNOWN);
  }

  long arrivedAt() {
    return arrivedAt;
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
    int place = attempts * PLACES;
    if (place == places.length) {
      places = Arrays.copyOf(places, 2 * places.length);
      contexts = Arrays.copyOf(contexts, 2 * contexts.length);
    }
    contexts[attempts++] = decision.context();
    write(decision, criticality, flow, target, promptTokens, places, place);
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
    // The first and the last tell most.
    int number = Math.min(refusals, MOST_REFUSALS - 1);
    refusedIn[number] = decision.context();
    refusedAt = decision.at();
    write(decision, criticality, flow, target, promptTokens, refusedPlaces, number * PLACES);
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
      int promptTokens,
      long[] to,
      int place) {
    to[place] = decision.from();
    to[place + 1] = ring.end();
    ring.put(decision.at());
    ring.put(decision.runs(), decision.candidates());
    ring.put(decision.primary(), decision.prefill());
    ring.put(decision.picked());
    ring.put(decision.expectedFirstToken());
    ring.put(promptTokens, Sending.CRITICALITIES.indexOf(criticality));
    ring.put(flow == null ? 0 : flow.priority());
    ring.put(clipped(target));
    ring.put(flow == null ? "" : clipped(flow.id()));
    to[place + 2] = ring.end();
  }

  private static String clipped(String name) {
    return name.length() <= LONGEST_NAME ? name : name.substring(0, LONGEST_NAME);
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
    outcome = how;
    use(used);
  }

  private void use(Usage used) {
    usedPrompt = used.promptTokens();
    usedCompletion = used.completionTokens();
    usedCached = used.cachedTokens();
    usedEvents = used.streamedEvents();
  }

  /** Whether it is somebody's, and all that it tells is still there. */
  boolean isWhole() {
    return ticket != 0 && ring.holds(from);
  }

  /** Whether it is of that name, as far as names are kept. */
  boolean isNamed(String whole) {
    String name = clipped(whole);
    return idHash == name.hashCode() ? name.equals(id()) : name.equals(nameless());
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
    return (filter.outcome() == null || filter.outcome().equals(outcome))
        && (filter.model() == null || filter.model().equals(model()))
        && (filter.endpoint() == null || filter.endpoint().equals(endpoint()));
  }

  private String endpoint() {
    return attempts == 0 ? "" : sending(attempts - 1).endpoint().name();
  }

  /** What {@link #sent} has written. */
  private Sending sending(int attempt) {
    return sending(contexts[attempt], places, attempt);
  }

  private Sending sending(DecisionContext context, long[] of, int number) {
    long at = of[number * PLACES + 1];
    int words = Math.toIntExact(of[number * PLACES + 2] - at);
    return Sending.read(context, new Words(ring.copy(at, words)));
  }

  private KeptDecision decision(
      DecisionContext context, long[] of, int number, List<Object> vocabulary) {
    long at = of[number * PLACES];
    int words = Math.toIntExact(of[number * PLACES + 1] - at);
    return new KeptDecision(sending(context, of, number), ring.copy(at, words), vocabulary);
  }

  /** As it is now, with its decisions. */
  KeptRequest kept(List<Object> vocabulary) {
    List<KeptDecision> decisions = new ArrayList<>();
    for (int i = 0; i < attempts; i++) {
      decisions.add(decision(contexts[i], places, i, vocabulary));
    }
    List<KeptDecision> refused = new ArrayList<>();
    for (int i = 0; i < refusals; i++) {
      refused.add(decision(refusedIn[i], refusedPlaces, i, vocabulary));
    }
    return new KeptRequest(inBrief(), decisions, refused);
  }

  /** The decision by which it was sent last. */
  Decision lastDecision(List<Object> vocabulary) {
    int last = attempts - 1;
    return DecisionReader.read(inBrief(), decision(contexts[last], places, last, vocabulary));
  }

  /** As it is now. */
  DecidedRequest inBrief() {
    @Nullable Sending first = attempts == 0 ? null : sending(0);
    @Nullable Sending last = attempts == 0 ? null : sending(attempts - 1);
    @Nullable Sending told = last;
    if (last == null && refusals > 0) {
      told = sending(refusedIn[refusals - 1], refusedPlaces, refusals - 1);
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
        outcome.equals(OPEN) ? -1 : endedAt - arrivedAt,
        outcome,
        new Usage(usedPrompt, usedCompletion, usedCached, usedEvents));
  }
}
