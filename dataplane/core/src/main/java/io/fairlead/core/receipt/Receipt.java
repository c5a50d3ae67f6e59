package io.fairlead.core.receipt;

import io.fairlead.core.RequestFacts;
import io.fairlead.core.Usage;
import io.fairlead.crds.config.Criticality;
import java.util.ArrayList;
import java.util.List;

/** What became of one request so far, written by the core as it happens. */
public final class Receipt {

  /** Of a request's own name; a header may be of any length. */
  private static final int LONGEST_ID = 128;

  private static final String OPEN = "open";
  private static final long OWN_BYTES = 220;

  private final ReceiptLog log;
  private final String id;
  private final long arrivedAt;
  private final String model;
  private final int blocks;
  private final int maxOutputTokens;
  private final long bodyBytes;
  private final boolean streamed;
  private final List<Decision> decisions = new ArrayList<>(1);
  private Criticality criticality = Criticality.STANDARD;
  private String flow = "";
  private long priority;
  private boolean waited;
  private String targetModel = "";
  private int promptTokens;
  private long firstTokenAt;
  private boolean firstTokenSeen;
  private long endedAt;
  private String outcome = OPEN;
  private Usage usage = Usage.UNKNOWN;
  private long bytes;
  private boolean forgotten;

  Receipt(ReceiptLog log, long now, long ticket, RequestFacts facts) {
    this.log = log;
    String given = facts.id();
    id =
        given.isEmpty()
            ? "request-" + ticket
            : given.substring(0, Math.min(given.length(), LONGEST_ID));
    arrivedAt = now;
    model = facts.model();
    blocks = facts.blocks().length;
    maxOutputTokens = facts.maxOutputTokens();
    bodyBytes = facts.bodyBytes();
    streamed = facts.delivery().streamed();
    bytes = OWN_BYTES + 2L * id.length();
  }

  /** Whose turn it is among those who wait; told when it is looked at first. */
  public void band(long bandPriority, String flowId) {
    priority = bandPriority;
    flow = flowId;
  }

  /** There is no room for it yet. */
  public void waits() {
    waited = true;
  }

  /** It is sent, or sent again. */
  public void sent(Decision decision, Criticality importance, String target, int tokens) {
    decisions.add(decision);
    criticality = importance;
    targetModel = target;
    promptTokens = tokens;
    grow(decision.bytes());
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
    usage = used;
  }

  private void grow(long more) {
    bytes += more;
    if (!forgotten) {
      log.grew(more);
    }
  }

  void forget() {
    forgotten = true;
  }

  long bytes() {
    return bytes;
  }

  String id() {
    return id;
  }

  /** As it is now. */
  DecidedRequest snapshot() {
    return new DecidedRequest(
        id,
        arrivedAt,
        model,
        targetModel,
        criticality,
        priority,
        flow,
        waited,
        promptTokens,
        blocks,
        maxOutputTokens,
        bodyBytes,
        streamed,
        decisions,
        firstTokenSeen ? firstTokenAt - arrivedAt : -1,
        outcome.equals(OPEN) ? -1 : endedAt - arrivedAt,
        outcome,
        usage);
  }
}
