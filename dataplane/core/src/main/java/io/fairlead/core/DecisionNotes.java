package io.fairlead.core;

import io.fairlead.core.receipt.DecisionWriter;
import io.fairlead.core.receipt.EndpointTable;
import io.fairlead.core.receipt.Exclusion;
import io.fairlead.core.receipt.HeaderReads;
import io.fairlead.core.receipt.Provenance;
import io.fairlead.core.receipt.Receipt;
import io.fairlead.core.receipt.ReceiptLog;
import io.fairlead.core.receipt.Surroundings;
import io.fairlead.core.receipt.WrittenDecision;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.DecisionRecorder;
import io.fairlead.core.scheduling.Scheduler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.plugin.Adapters;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Notes how the decision on a request comes about, for its receipt; nothing where it has none. Only
 * the try that sends the request is kept.
 */
final class DecisionNotes implements Surroundings {

  private final ReceiptLog receipts;
  private final DecisionWriter writer;
  private final CandidateChoice choice;
  private final CurrentRequest current;
  private final EndpointSet endpoints;

  /** With what the candidates were chosen. */
  private double ceiling;

  private CandidateChoice.Use use = CandidateChoice.Use.ANY;

  /** Whom it is decided about, and when. */
  private @Nullable Flight decided;

  private long at;
  private final HeaderReads headers = new HeaderReads();
  private @Nullable CompiledConfig config;
  private Provenance origin = Provenance.SOURCES;

  DecisionNotes(
      ReceiptLog receipts, CandidateChoice choice, CurrentRequest current, EndpointSet endpoints) {
    this.receipts = receipts;
    this.writer = receipts.writer();
    this.choice = choice;
    this.current = current;
    this.endpoints = endpoints;
  }

  /** Where config and endpoints are from. */
  void origin(Provenance from) {
    origin = from;
  }

  @Override
  public Provenance origin() {
    return origin;
  }

  /** Notes that the request waits. */
  void waits(Flight flight) {
    Receipt receipt = flight.receipt();
    if (receipt != null) {
      receipt.waits();
    }
  }

  /** Is to be told of the try that begins now; null if nobody is. */
  @Nullable DecisionRecorder recorder(
      Flight flight, double fullFrom, CandidateChoice.Use whom, Scheduler scheduler) {
    if (flight.receipt() == null) {
      return null;
    }
    ceiling = fullFrom;
    use = whom;
    writer.begin(scheduler.outline(), current.size());
    headers.clear();
    current.noteHeaders(headers);
    return writer;
  }

  /** The try has found somebody, and nothing is booked yet; null if nobody was told of it. */
  @Nullable WrittenDecision decision(long now, Flight flight, CompiledConfig active) {
    if (flight.receipt() == null) {
      return null;
    }
    Scheduler scheduler = active.scheduler();
    decided = flight;
    at = now;
    config = active;
    return writer.end(
        now,
        active.source(),
        endpoints.eligible(),
        scheduler.primaryProfile(),
        scheduler.primary(),
        scheduler.prefill(),
        this);
  }

  /**
   * It was booked, and nothing else was decided since.
   *
   * @return the route, which tells the client where that may know, and asks
   */
  Route sent(Flight flight, WrittenDecision decision, Route route, CompiledConfig active) {
    Receipt receipt = flight.receipt();
    if (receipt == null) {
      return route;
    }
    receipt.sent(
        decision, route.criticality(), flight.flow, route.targetModel(), route.promptTokens());
    boolean asks =
        active.receipts().responseHeader()
            && flight.facts.headers().first(FlowHeaders.EXPLAIN) != null;
    String brief = asks ? receipts.brief(receipt) : null;
    return brief == null ? route : route.withResponseHeader(FlowHeaders.DECISION, brief);
  }

  /** Nothing is decided any more. */
  void clear() {
    writer.clear();
    decided = null;
    config = null;
    headers.clear();
  }

  /**
   * Nobody gets the request, and the candidates are those of the last try.
   *
   * @param fullFrom with what the candidates were chosen
   * @param whom with what, too
   */
  void refused(
      long now,
      Flight flight,
      CompiledConfig active,
      Criticality criticality,
      double fullFrom,
      CandidateChoice.Use whom) {
    Receipt receipt = flight.receipt();
    if (receipt == null) {
      return;
    }
    decided = flight;
    at = now;
    ceiling = fullFrom;
    use = whom;
    config = active;
    WrittenDecision refusal =
        writer.refused(
            now,
            active.source(),
            active.scheduler().outline(),
            endpoints.eligible(),
            current.size(),
            this);
    receipt.refused(
        refusal, criticality, flight.flow, current.targetModel(), current.promptTokens());
  }

  /** Whether the request has a receipt that doesn't tell yet why nobody gets it now. */
  boolean asksWhyNot(long now, Flight flight) {
    Receipt receipt = flight.receipt();
    return receipt != null && !receipt.isRefusedAt(now);
  }

  @Override
  public int place(int candidate) {
    return current.place(candidate);
  }

  @Override
  public long[] candidates() {
    return current.chosenBits();
  }

  @Override
  public Exclusion exclusion(int place) {
    return choice.exclusion(at, Objects.requireNonNull(decided), ceiling, use, place);
  }

  @Override
  public long @Nullable [] allowed() {
    // Of those that have failed it before this is told.
    return Objects.requireNonNull(decided).attempts == 0 ? choice.allowed() : null;
  }

  @Override
  public String limit(int place) {
    CompiledConfig active = config;
    return active == null ? "" : active.saturation().limit(endpoints.eligible()[place]);
  }

  @Override
  public double ceiling() {
    return ceiling;
  }

  @Override
  public EndpointTable table() {
    return endpoints.columns().facts;
  }

  @Override
  public EndpointSpec spec(int place) {
    return endpoints.eligible()[place].spec();
  }

  @Override
  public boolean held(int[] blocks, int[] tokens) {
    return current.held(blocks, tokens);
  }

  @Override
  public double prefillPace() {
    return endpoints.prefillPace();
  }

  @Override
  public boolean whole() {
    return choice.whole(at);
  }

  @Override
  public HealthState health(int place) {
    return endpoints.eligible()[place].health().state();
  }

  @Override
  public long healthSince(int place) {
    return endpoints.eligible()[place].health().since();
  }

  @Override
  public String healthReason(int place) {
    return endpoints.eligible()[place].health().reason();
  }

  @Override
  public double failing(int place) {
    return endpoints.eligible()[place].health().failing();
  }

  @Override
  public Adapters adapters(int place) {
    return endpoints.eligible()[place].adapters();
  }

  @Override
  public Map<String, Double> values(int place) {
    return endpoints.eligible()[place].values();
  }

  @Override
  public long seed() {
    return current.seed();
  }

  @Override
  public int blocks() {
    return current.blockCount();
  }

  @Override
  public int replicas() {
    return current.replicas();
  }

  @Override
  public String target() {
    return current.targetModel();
  }

  @Override
  public int promptTokens() {
    return current.promptTokens();
  }

  @Override
  public HeaderReads headers() {
    return headers;
  }
}
