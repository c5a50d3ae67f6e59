package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.Rejection.Reason;
import io.fairlead.core.receipt.Decision;
import io.fairlead.core.receipt.Exclusion;
import io.fairlead.core.receipt.KeptRequest;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.FlowControlConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.ReceiptsConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Sheddable requests wait, or are refused, where nobody can keep what they ask for. */
class ObjectiveGateTest implements RequestListener {

  private static final long MILLI = 1_000_000;
  private static final int LONG_PROMPT = 20_000;

  private final PoolCore core =
      new PoolCore(new PoolLimits(3, 64, 1 << 20, 1 << 20, 1 << 20, 1 << 20));
  private final List<Long> sent = new ArrayList<>();
  private final List<String> endpoints = new ArrayList<>();
  private final List<Long> waiting = new ArrayList<>();
  private final List<Rejection> rejections = new ArrayList<>();
  private long now;
  private int count;

  @Override
  public void send(long request, Route route) {
    sent.add(request);
    endpoints.add(route.endpoint());
  }

  @Override
  public void waits(long request, Criticality criticality) {
    waiting.add(request);
  }

  @Override
  public void pass(long request) {}

  @Override
  public void reject(long request, Rejection rejection) {
    rejections.add(rejection);
  }

  @BeforeEach
  void start() {
    configure(true, "wait", 1_000);
    core.endpoints(now, List.of(Pool.endpoint("a")));
  }

  /** Endpoints have room for a hundred requests each, however long these may take. */
  private void configure(boolean queue, String late, long epsilon) {
    FlowControlConfig.Band band = new FlowControlConfig.Band(null, null, null, null, "objective");
    SchedulerConfig scheduler =
        new SchedulerConfig(
            List.of(
                new PluginConfig("room", "concurrency-detector", Map.of("maxConcurrency", 100L)),
                new PluginConfig("objective", "slo-deadline-ordering-policy", Map.of("late", late)),
                new PluginConfig("cost", "work-cost", Map.of("epsilon", epsilon))),
            List.of(),
            "room",
            Map.of("flowControl", queue),
            new FlowControlConfig(null, null, null, null, null, null, null, band, band, List.of()),
            null,
            List.of());
    core.configure(
        now,
        new ConfigCompiler(List.of())
            .compile(
                Pool.config(
                    RequestsConfig.DEFAULT.withReceipts(new ReceiptsConfig(100, 1)),
                    scheduler,
                    Pool.model("middle", Criticality.STANDARD),
                    Pool.model("low", Criticality.SHEDDABLE))));
  }

  private long arrive(String model, int tokens, String header, String millis) {
    count++;
    RequestFacts facts =
        RequestFactsBuilder.of(model, count)
            .id("r" + count)
            .tokens(tokens)
            .header(header, millis)
            .build();
    return core.arrive(now, facts, this);
  }

  private long arrive(String model, int tokens) {
    return arrive(model, tokens, "", "");
  }

  private long urgent(String model) {
    return arrive(model, 100, "x-slo-ttft-ms", "300");
  }

  private void end(long request) {
    core.firstByte(now, request);
    core.ended(now, request, Outcome.COMPLETED, new Usage(100, 10, 0));
  }

  private static List<Exclusion> whyNot(KeptRequest kept) {
    return kept.refusals().getLast().excluded().stream().map(Decision.Excluded::why).toList();
  }

  private KeptRequest kept() {
    return Objects.requireNonNull(core.receipts().find("r" + count));
  }

  @Test
  void waitsWhereAPromptBeforeItTakesTooLongAndGoesWhenThatIsThrough() {
    long before = arrive("middle", LONG_PROMPT);
    long urgent = urgent("low");
    assertThat(sent).containsExactly(before);
    assertThat(waiting).containsExactly(urgent);
    assertThat(whyNot(kept())).containsExactly(Exclusion.LATE);
    now += 100 * MILLI;
    core.tick(now);
    assertThat(sent).containsExactly(before);
    end(before);
    assertThat(sent).containsExactly(before, urgent);
    assertThat(rejections).isEmpty();
  }

  @Test
  void isRefusedOnceItsFirstTokenIsDueWhereTheConfigWantsThat() {
    configure(true, "refuse", 1_000);
    arrive("middle", LONG_PROMPT);
    urgent("low");
    now += 400 * MILLI;
    core.tick(now);
    assertThat(rejections).extracting(Rejection::reason).containsExactly(Reason.OBJECTIVE_MISSED);
    assertThat(whyNot(kept())).containsExactly(Exclusion.LATE);
    assertThat(core.active()).isOne();
  }

  @Test
  void goesOnceItsFirstTokenIsDueWhereItIsStillWanted() {
    long before = arrive("middle", LONG_PROMPT);
    long urgent = urgent("low");
    now += 400 * MILLI;
    core.tick(now);
    assertThat(rejections).isEmpty();
    assertThat(sent).containsExactly(before, urgent);
  }

  @Test
  void isRefusedAtOnceWhereNobodyWaits() {
    configure(false, "wait", 1_000);
    arrive("middle", LONG_PROMPT);
    urgent("low");
    assertThat(rejections).extracting(Rejection::reason).containsExactly(Reason.OBJECTIVE_MISSED);
    assertThat(rejections.getFirst().reason().status()).isEqualTo(429);
    assertThat(rejections.getFirst().retryAfterSeconds()).isPositive();
    assertThat(whyNot(kept())).containsExactly(Exclusion.LATE);
  }

  /** Nothing else is held back: not for what others ask, and not what is more important. */
  @Test
  void holdsNobodyElseBack() {
    arrive("middle", LONG_PROMPT);
    urgent("low");
    assertThat(waiting).hasSize(1);
    arrive("middle", 100);
    urgent("middle");
    arrive("low", 100);
    assertThat(sent).as("also one of its own flow").hasSize(4);
    now += 400 * MILLI;
    core.tick(now);
    assertThat(sent).hasSize(5);
  }

  /** What is believed of its speed may be wrong, and nothing else would ever tell. */
  @Test
  void goesToWhoIsIdleHoweverSlowItIsBelievedToBe() {
    configure(false, "refuse", 1_000);
    long hopeless = arrive("low", LONG_PROMPT, "x-slo-ttft-ms", "1");
    assertThat(sent).containsExactly(hopeless);
    arrive("low", LONG_PROMPT, "x-slo-ttft-ms", "1");
    assertThat(rejections).extracting(Rejection::reason).containsExactly(Reason.OBJECTIVE_MISSED);
  }

  @Test
  void goesToTheOneThatKeepsIt() {
    core.endpoints(now, List.of(Pool.endpoint("a"), Pool.endpoint("b")));
    arrive("middle", LONG_PROMPT);
    urgent("low");
    assertThat(endpoints).doesNotHaveDuplicates().hasSize(2);
    assertThat(waiting).isEmpty();
  }

  /** So many decode that each further one takes longer than it wants its tokens to. */
  @Test
  void waitsForItsPace() {
    List<Long> decoding = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      long other = arrive("middle", 4_000);
      core.firstByte(now, other);
      decoding.add(other);
    }
    long paced = arrive("low", 100, "x-slo-tpot-ms", "12");
    assertThat(waiting).containsExactly(paced);
    decoding.forEach(this::end);
    assertThat(sent).contains(paced);
  }

  @Test
  void objectivesThatWeighNothingHoldNobodyBack() {
    configure(true, "wait", 0);
    arrive("middle", LONG_PROMPT);
    urgent("low");
    assertThat(sent).hasSize(2);
  }
}
