package io.fairlead.core.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fairlead.core.flow.FlowControl.Sent;
import io.fairlead.core.flow.Waiting.Demand;
import io.fairlead.plugin.FairnessPolicy;
import io.fairlead.plugin.OrderingPolicy;
import io.fairlead.plugin.WaitingRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FlowControlTest {

  private static final long SECOND = 1_000_000_000;
  private static final OrderingPolicy AS_THEY_CAME = request -> 0;

  private static final FairnessPolicy BY_WORK =
      (now, flows) -> {
        int least = 0;
        for (int i = 1; i < flows.size(); i++) {
          if (flows.get(i).virtualTime() < flows.get(least).virtualTime()) {
            least = i;
          }
        }
        return least;
      };

  private final List<Long> evicted = new ArrayList<>();
  private final List<Long> expired = new ArrayList<>();
  private final List<Long> sent = new ArrayList<>();
  private FlowControl flow = new FlowControl(0, settings(band(10 * SECOND, 0)));
  private long requests;

  private static BandSettings band(long ttl, double floor) {
    return band(ttl, floor, new Limits(100, 100_000), Limits.NONE);
  }

  private static BandSettings band(long ttl, double floor, Limits limits, Limits flowLimits) {
    return new BandSettings(ttl, ttl, floor, limits, flowLimits, BY_WORK, AS_THEY_CAME);
  }

  private static FlowSettings settings(BandSettings all) {
    return settings(all, Limits.NONE);
  }

  private static FlowSettings settings(BandSettings all, Limits limits) {
    return new FlowSettings(limits, 0, 0, false, 8, all, all, Map.of(), (a, b, c, d, e) -> 1);
  }

  private long add(long now, long priority, String id) {
    return add(now, priority, id, 100, WaitingRequest.NEVER);
  }

  private long add(long now, long priority, String id, long bytes, long ttl) {
    Demand demand = new Demand(100, bytes, ttl, WaitingRequest.NEVER, false, 0);
    Waiting added =
        flow.add(now, ++requests, flow.flow(priority, id), demand, w -> evicted.add(w.request()));
    return added == null ? -1 : added.request();
  }

  private Sent send(long now, Waiting request) {
    flow.remove(now, request);
    flow.went(now, request.flow(), request.work());
    sent.add(request.request());
    return Sent.GONE;
  }

  private void sendAtMost(long now, int most) {
    int[] left = {most};
    flow.dispatch(now, (at, request) -> left[0]-- > 0 ? send(at, request) : Sent.NONE);
  }

  /** A request in flight kept a band of former settings, for which room was held back for ever. */
  @Test
  void aBandOfFormerSettingsIsGoneOnceNothingOfItIsUnderWay() {
    BandSettings all = band(10 * SECOND, 0);
    FlowSettings counting =
        new FlowSettings(
            Limits.NONE, 0, 0, false, 8, all, all, Map.of(), (band, bands, c, d, e) -> bands);
    flow = new FlowControl(0, counting);
    FlowQueue before = flow.flow(1, "m");
    long turn = flow.went(0, before, 100);
    flow.configure(SECOND, counting, waiting -> flow.flow(0, "m"));
    FlowQueue now = flow.flow(0, "m");
    flow.expire(SECOND, SECOND, w -> expired.add(w.request()));
    assertThat(flow.ceiling(now, 0)).as("it is in flight").isEqualTo(2);

    before.ended(turn, 100, 100, 10);
    flow.expire(2 * SECOND, SECOND, w -> expired.add(w.request()));
    assertThat(flow.ceiling(now, 0)).isEqualTo(1);
  }

  @Test
  void aBandThatIsAskedForStaysWhileItIsIdle() {
    BandSettings all = band(10 * SECOND, 0);
    FlowSettings counting =
        new FlowSettings(
            Limits.NONE, 0, 0, false, 8, all, all, Map.of(), (band, bands, c, d, e) -> bands);
    flow = new FlowControl(0, counting);
    long turn = flow.went(0, flow.flow(1, "m"), 100);
    flow.configure(SECOND, counting, waiting -> flow.flow(0, "m"));
    FlowQueue low = flow.flow(0, "m");
    flow.flow(1, "m").ended(turn, 100, 100, 10);
    flow.expire(2 * SECOND, SECOND, w -> expired.add(w.request()));
    assertThat(flow.ceiling(low, 0)).isEqualTo(2);
  }

  /** Its wait is over before that of those who came first. */
  @Test
  void whoWaitsForLessLongThanOthersIsToldSooner() {
    add(0, 0, "a");
    long shorter = add(1, 0, "a", 100, SECOND);
    add(2, 0, "b", 100, 20 * SECOND);
    long shortest = add(3, 1, "c", 100, SECOND / 2);
    flow.expire(2 * SECOND, 10 * SECOND, w -> expired.add(w.request()));
    assertThat(expired).containsExactly(shortest, shorter);
    flow.expire(10 * SECOND, 10 * SECOND, w -> expired.add(w.request()));
    assertThat(expired).hasSize(3);
    flow.expire(10 * SECOND + 2, 10 * SECOND, w -> expired.add(w.request()));
    assertThat(expired).hasSize(4);
    assertThat(flow.waiting()).isZero();
  }

  @Test
  void moreImportantBandsGoFirst() {
    long low = add(0, -1, "a");
    long middle = add(0, 0, "a");
    long high = add(0, 1, "a");
    sendAtMost(1, 9);
    assertThat(sent).containsExactly(high, middle, low);
  }

  @Test
  void requestsOfOneFlowGoAsTheyCame() {
    List<Long> came = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      came.add(add(i, 0, "a"));
    }
    sendAtMost(30, 99);
    assertThat(sent).isEqualTo(came);
  }

  @Test
  void nothingIsKeptOfOneThatCouldNotGoAndIsGone() {
    add(0, 0, "a", 100, SECOND);
    flow.dispatch(1, (now, w) -> Sent.NOT_THIS);
    FlowQueue queue = flow.flow(0, "a");
    assertThat(queue.isPassedOver()).isTrue();
    flow.expire(2 * SECOND, 10 * SECOND, w -> expired.add(w.request()));
    assertThat(expired).hasSize(1);
    assertThat(queue.isPassedOver()).isFalse();
    assertThat(queue.band().passedOver).isZero();
    assertThat(queue.band().setAside).isZero();
  }

  @Test
  void oneThatCannotGoLetsOtherFlowsPass() {
    long first = add(0, 0, "a");
    add(0, 0, "a");
    long other = add(0, 0, "b");
    flow.dispatch(1, (now, w) -> w.request() == first ? Sent.NOT_THIS_FLOW : send(now, w));
    assertThat(sent).containsExactly(other);
    flow.dispatch(2, this::send);
    assertThat(sent).as("not tried before something has changed").containsExactly(other);
    flow.roomCame(true);
    sendAtMost(3, 99);
    assertThat(sent).containsExactly(other, first, first + 1);
  }

  /** One comes each 100 ms and one goes each 200 ms, from {@code from} to {@code to}. */
  private void overload(long from, long to) {
    long step = SECOND / 10;
    for (long now = from; now < to; now += step) {
      long at = now;
      flow.expire(at, 10 * SECOND, w -> expired.add(w.request()));
      add(at, 0, "a");
      if (at / step % 2 == 0) {
        sendAtMost(at, 1);
      }
    }
  }

  @Test
  void aQueueThatStandsIsKeptShort() {
    flow = new FlowControl(0, settings(patient()));
    overload(0, 9 * SECOND);
    assertThat(expired).as("a burst passes").isEmpty();
    assertThat(flow.waiting()).isGreaterThan(40);
    overload(9 * SECOND, 20 * SECOND);
    int refused = expired.size();
    assertThat(refused).isGreaterThan(80);
    assertThat(flow.waiting()).as("half a second of ten requests").isLessThanOrEqualTo(6);
    overload(20 * SECOND, 21 * SECOND);
    assertThat(expired.size() - refused).as("what goes is served as before").isBetween(4, 6);
    sendAtMost(21 * SECOND, 99);
    expired.clear();
    overload(23 * SECOND, 32 * SECOND);
    assertThat(expired).as("two seconds of calm are no end of it").hasSizeGreaterThan(30);
    sendAtMost(32 * SECOND, 99);
    expired.clear();
    overload(70 * SECOND, 79 * SECOND);
    assertThat(expired).as("the next burst has its time again").isEmpty();
  }

  private static BandSettings patient() {
    return new BandSettings(
        60 * SECOND, SECOND / 2, 0, Limits.NONE, Limits.NONE, BY_WORK, AS_THEY_CAME);
  }

  /** The first of flow "slot" and those behind it lack a slot; nobody else lacks anything. */
  private Sent lacksSlot(long now, Waiting request) {
    if (!request.flow().id().equals("slot")) {
      return send(now, request);
    }
    flow.waitsFor(now, request, WaitsFor.SLOT_AS_ITS_FLOW);
    return Sent.NOT_THIS_FLOW;
  }

  /** Others come and go by, each in a tenth of a second. */
  private void othersComeAndGo(long from, long to) {
    for (long now = from; now < to; now += SECOND / 10) {
      long at = now;
      add(at, 0, "other");
      flow.roomCame(true);
      flow.dispatch(at, this::lacksSlot);
      flow.expire(at, 10 * SECOND, w -> expired.add(w.request()));
      assertThat(flow.mayPass(flow.flow(0, "other"))).isTrue();
    }
  }

  @Test
  void whoWaitsForASlotHoldsNobodyUpAndMakesNoQueueThatStands() {
    flow = new FlowControl(0, settings(patient()));
    long first = add(0, 0, "slot");
    othersComeAndGo(0, 9 * SECOND);
    long second = add(9 * SECOND, 0, "slot");
    long other = add(9 * SECOND, 0, "other");
    flow.dispatch(9 * SECOND, (now, w) -> w.request() >= other - 1 ? Sent.NONE : lacksSlot(now, w));
    assertThat(flow.mayPass(flow.flow(0, "other"))).isFalse();
    flow.expire(10 * SECOND, 10 * SECOND, w -> expired.add(w.request()));
    assertThat(expired).as("a second's wait for room is no queue that stands").isEmpty();
    flow.expire(10 * SECOND + 1, 10 * SECOND, w -> expired.add(w.request()));
    assertThat(expired).as("ten seconds are long enough for a slot").containsExactly(first);
    flow.expire(10 * SECOND + 2, 10 * SECOND, w -> expired.add(w.request()));
    assertThat(expired).as("from now on half a second is").containsExactly(first, second);
  }

  @Test
  void onceNobodyGotASlotInTimeNoneWaitsLongForOneUntilThreeTimesThatIsOver() {
    flow = new FlowControl(0, settings(patient()));
    add(0, 0, "slot");
    othersComeAndGo(0, 10 * SECOND + 1);
    othersComeAndGo(10 * SECOND + 1, 11 * SECOND);
    assertThat(expired).hasSize(1);
    add(11 * SECOND, 0, "slot");
    othersComeAndGo(11 * SECOND, 12 * SECOND);
    assertThat(expired).hasSize(2);
    add(42 * SECOND, 0, "slot");
    othersComeAndGo(42 * SECOND, 51 * SECOND);
    assertThat(expired).hasSize(2);
  }

  @Test
  void whereATimeIsSetForAllItHoldsForThoseWhoWaitForASlotToo() {
    flow = new FlowControl(0, settings(band(60 * SECOND, 0)));
    long first = add(0, 0, "slot");
    othersComeAndGo(0, 60 * SECOND);
    assertThat(expired).isEmpty();
    othersComeAndGo(60 * SECOND, 61 * SECOND);
    assertThat(expired).containsExactly(first);
  }

  @Test
  void whoIsPromisedASlotWaitsForIt() {
    flow = new FlowControl(0, settings(patient()));
    long promised = add(0, 0, "slot");
    flow.dispatch(
        0,
        (now, w) -> {
          w.promised(true);
          return lacksSlot(now, w);
        });
    othersComeAndGo(0, 60 * SECOND);
    assertThat(expired).isEmpty();
    flow.expire(60 * SECOND, 10 * SECOND, w -> expired.add(w.request()));
    assertThat(expired).as("as long as its band allows").containsExactly(promised);
  }

  /** Requests in flight that are made to go give room, and no slot that anybody counts on. */
  @Test
  void roomIsMadeForNobodyWhoWaitsForASlot() {
    add(0, 0, "slot");
    add(0, 0, "slot");
    flow.dispatch(0, this::lacksSlot);
    assertThat(flow.mostImportant(w -> true)).isNull();
    long other = add(1, 0, "other");
    assertThat(flow.mostImportant(w -> true)).extracting(Waiting::request).isEqualTo(other);
  }

  /** They need not be asked whenever something ends, but when slots have changed. */
  @Test
  void whoLacksASlotIsTriedWhenOneMayHaveCome() {
    flow = new FlowControl(0, settings(patient()));
    long waits = add(0, 0, "slot");
    flow.dispatch(0, this::lacksSlot);
    flow.roomCame(false);
    flow.dispatch(1, this::send);
    assertThat(sent).isEmpty();
    flow.roomCame(true);
    flow.dispatch(2, this::send);
    assertThat(sent).containsExactly(waits);
  }

  /** The others come first then, and no slot may come for long. */
  @Test
  void aSlotThatCameWhileTooManyWerePassedOverIsNotForgotten() {
    flow = new FlowControl(0, settings(patient()));
    long waits = add(0, 0, "slot");
    flow.dispatch(0, this::lacksSlot);
    for (int i = 0; i < 8; i++) {
      add(0, 1, "flow" + i % 7);
    }
    add(0, 2, "flow");
    flow.dispatch(1, (now, w) -> Sent.NOT_THIS);
    flow.roomCame(true);
    flow.dispatch(2, this::lacksSlot);
    flow.roomCame(false);
    flow.dispatch(3, this::send);
    assertThat(sent).contains(waits);
  }

  /** It has its turn behind those of its flow that wait already. */
  @Test
  void whoseFlowWaitsForASlotDoesNotGoBeforeIt() {
    flow = new FlowControl(0, settings(patient()));
    add(0, 0, "slot");
    flow.dispatch(0, this::lacksSlot);
    assertThat(flow.mayPass(flow.flow(0, "slot"))).isFalse();
    assertThat(flow.mayPass(flow.flow(0, "other"))).isTrue();
    assertThat(flow.mayPass(flow.flow(-1, "other"))).isTrue();
  }

  /** A server that compiles for half a minute when it gets its first request, say. */
  @Test
  void aStallIsNoOverload() {
    flow = new FlowControl(0, settings(patient()));
    add(0, 0, "a");
    sendAtMost(0, 1);
    for (long now = SECOND; now < 40 * SECOND; now += SECOND) {
      add(now, 0, "a");
      flow.expire(now, 10 * SECOND, w -> expired.add(w.request()));
    }
    assertThat(expired).isEmpty();
    for (long now = 40 * SECOND; now < 45 * SECOND; now += SECOND) {
      sendAtMost(now, 9);
      flow.expire(now, 10 * SECOND, w -> expired.add(w.request()));
    }
    assertThat(expired).isEmpty();
    assertThat(flow.waiting()).isZero();
  }

  @Test
  void aQueueThatStoodForWantOfEndpointsHasAsMuchLongerOnceThereIsOne() {
    flow =
        new FlowControl(
            0,
            new FlowSettings(
                Limits.NONE,
                60 * SECOND,
                0,
                false,
                8,
                patient(),
                patient(),
                Map.of(),
                (a, b, c, d, e) -> 1));
    flow.empty(0, true);
    for (int i = 0; i < 8; i++) {
      add(0, 0, "a");
    }
    flow.expire(20 * SECOND, 10 * SECOND, w -> expired.add(w.request()));
    flow.empty(20 * SECOND, false);
    for (int second = 24; second <= 48; second += 4) {
      sendAtMost(second * SECOND, 1);
    }
    flow.expire(49 * SECOND, 10 * SECOND, w -> expired.add(w.request()));
    assertThat(expired).as("a burst's ten seconds, and twenty").isEmpty();
    flow.expire(51 * SECOND, 10 * SECOND, w -> expired.add(w.request()));
    assertThat(expired).hasSize(1);
  }

  @Test
  void whoseTimeIsUpIsTakenOut() {
    long patient = add(0, 0, "a", 1, WaitingRequest.NEVER);
    long hasty = add(0, 0, "a", 1, SECOND);
    flow.expire(SECOND - 1, 10 * SECOND, w -> expired.add(w.request()));
    assertThat(expired).isEmpty();
    flow.expire(SECOND, 10 * SECOND, w -> expired.add(w.request()));
    assertThat(expired).containsExactly(hasty);
    flow.expire(10 * SECOND, 10 * SECOND, w -> expired.add(w.request()));
    assertThat(expired).containsExactly(hasty, patient);
    assertThat(flow.waiting()).isZero();
    assertThat(flow.waitingBytes()).isZero();
  }

  @Test
  void timeBeginsAnewWhenThereIsAnEndpointAgain() {
    BandSettings band = band(10 * SECOND, 0);
    flow =
        new FlowControl(
            0,
            new FlowSettings(
                Limits.NONE, 60 * SECOND, 0, false, 8, band, band, Map.of(), (a, b, c, d, e) -> 1));
    flow.empty(0, true);
    add(0, 0, "a");
    flow.expire(59 * SECOND, 10 * SECOND, w -> expired.add(w.request()));
    assertThat(expired).isEmpty();
    flow.empty(59 * SECOND, false);
    flow.expire(68 * SECOND, 10 * SECOND, w -> expired.add(w.request()));
    assertThat(expired).isEmpty();
    flow.expire(69 * SECOND, 10 * SECOND, w -> expired.add(w.request()));
    assertThat(expired).hasSize(1);
  }

  @Test
  void theLessImportantMakeRoomTheNewestFirst() {
    flow = new FlowControl(0, settings(band(SECOND, 0), new Limits(3, Long.MAX_VALUE)));
    add(0, -1, "a");
    long newest = add(0, -1, "b");
    add(0, 0, "a");
    long important = add(0, 1, "a");
    assertThat(important).isPositive();
    assertThat(evicted).containsExactly(newest);
    assertThat(flow.waiting()).isEqualTo(3);
  }

  @Test
  void nobodyMakesRoomForOneThatFindsNoneAllTheSame() {
    flow = new FlowControl(0, settings(band(SECOND, 0), new Limits(10, 1_000)));
    add(0, -1, "a", 100, WaitingRequest.NEVER);
    add(0, 1, "a", 900, WaitingRequest.NEVER);
    assertThat(add(0, 0, "a", 200, WaitingRequest.NEVER)).isEqualTo(-1);
    assertThat(evicted).isEmpty();
  }

  @Test
  void theLongestFlowMakesRoomForAnother() {
    flow = new FlowControl(0, settings(band(SECOND, 0, new Limits(4, 9_999), Limits.NONE)));
    for (int i = 0; i < 4; i++) {
      add(0, 0, "noisy");
    }
    assertThat(add(0, 0, "noisy")).isEqualTo(-1);
    assertThat(add(0, 0, "quiet")).isPositive();
    assertThat(evicted).containsExactly(4L);
  }

  @Test
  void aFlowHasItsOwnLimit() {
    flow = new FlowControl(0, settings(band(SECOND, 0, Limits.NONE, new Limits(2, 9_999))));
    assertThat(add(0, 0, "a")).isPositive();
    assertThat(add(0, 0, "a")).isPositive();
    assertThat(add(0, 0, "a")).isEqualTo(-1);
    assertThat(add(0, 0, "b")).isPositive();
  }

  @Test
  void oneLargerThanAllThatMayWaitDoesNot() {
    assertThat(add(0, 0, "a", 100_001, WaitingRequest.NEVER)).isEqualTo(-1);
  }

  @Test
  void asManyFlowsAsMayBeAndTheRestShareOne() {
    for (int i = 0; i < 20; i++) {
      add(0, 0, "flow" + i);
    }
    List<String> names = new ArrayList<>();
    flow.forEachFlow(each -> names.add(each.id()));
    assertThat(names).hasSize(8).contains("", "flow0", "flow6");
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 0.02, 0.2})
  void aFloorIsTheShareOfWorkOfWhoWaitsBelow(double floor) {
    flow = new FlowControl(0, settings(band(9_999 * SECOND, floor, Limits.NONE, Limits.NONE)));
    Map<Long, Double> work = new HashMap<>();
    for (int i = 0; i < 10_000; i++) {
      add(i, 1, "a");
      add(i, -1, "b");
      int[] one = {1};
      flow.dispatch(
          i,
          (now, w) -> {
            if (one[0]-- == 0) {
              return Sent.NONE;
            }
            work.merge(w.flow().priority(), w.work(), Double::sum);
            return send(now, w);
          });
    }
    double low = work.getOrDefault(-1L, 0.0);
    assertThat(low / (low + Objects.requireNonNull(work.get(1L))))
        .isCloseTo(floor / (1 + floor), within(0.001));
  }

  @Test
  void flowsGetWorkByWeightThoughOneSendsPromptsAHundredTimesAsLong() {
    flow = new FlowControl(0, settings(band(9_999 * SECOND, 0, Limits.NONE, Limits.NONE)));
    Map<String, Double> work = new HashMap<>();
    String[] ids = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
      flow.flow(0, ids[i]).weight(1 << i);
    }
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 200_000; i++) {
      for (int j = 0; j < 3; j++) {
        FlowQueue queue = flow.flow(0, ids[j]);
        while (queue.waiting() < 3) {
          double tokens = random.nextInt(100, 300) * (j == 1 ? 100 : 1);
          Demand demand =
              new Demand(tokens, 1, WaitingRequest.NEVER, WaitingRequest.NEVER, false, 0);
          flow.add(i, ++requests, queue, demand, w -> {});
        }
      }
      int[] one = {1};
      flow.dispatch(
          i,
          (now, w) -> {
            if (one[0]-- == 0) {
              return Sent.NONE;
            }
            // What it really is is told at its end: a third more than what was expected.
            flow.remove(now, w);
            long turn = flow.went(now, w.flow(), w.work());
            w.flow().ended(turn, w.work(), w.work() * 4 / 3, 10);
            work.merge(w.flow().id(), w.work(), Double::sum);
            return Sent.GONE;
          });
    }
    double all = work.values().stream().mapToDouble(Double::doubleValue).sum();
    for (int j = 0; j < 3; j++) {
      double share = Objects.requireNonNull(work.get(ids[j])) / all;
      assertThat(share / ((1 << j) / 7.0)).as(ids[j]).isCloseTo(1, within(0.05));
    }
  }

  @Test
  void aPolicyThatFailsKeepsNobodyWaiting() {
    FairnessPolicy[] broken = {
      (now, flows) -> {
        throw new IllegalStateException("broken");
      },
      (now, flows) -> flows.size(),
      (now, flows) -> -1
    };
    OrderingPolicy unranked =
        request -> {
          throw new IllegalStateException("broken");
        };
    for (FairnessPolicy policy : broken) {
      sent.clear();
      BandSettings band =
          new BandSettings(SECOND, SECOND, 0, Limits.NONE, Limits.NONE, policy, unranked);
      flow = new FlowControl(0, settings(band));
      long first = add(0, 0, "a");
      long second = add(1, 0, "a");
      long other = add(2, 0, "b");
      assertThat(flow.takeFailure()).hasMessage("broken");
      sendAtMost(3, 9);
      assertThat(sent).containsExactlyInAnyOrder(first, second, other);
      assertThat(sent.indexOf(first)).isLessThan(sent.indexOf(second));
      assertThat(flow.takeFailure()).isNotNull();
      assertThat(flow.takeFailure()).isNull();
    }
  }

  @Test
  void whatWentWhileNobodyWaitedIsNoDebt() {
    FlowQueue busy = flow.flow(0, "busy");
    for (int i = 0; i < 1_000; i++) {
      long turn = flow.went(0, busy, 1_000);
      busy.ended(turn, 1_000, 1_000, 1);
    }
    long underWay = flow.went(0, busy, 5_000);
    List<Long> of = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      add(SECOND, 0, "busy");
      of.add(add(SECOND, 0, "new"));
    }
    busy.ended(underWay, 5_000, 0, 1); // no credit either
    sendAtMost(SECOND, 10);
    assertThat(sent).filteredOn(of::contains).hasSize(5);
  }

  @Test
  void whoReturnsHasSavedNothingUp() {
    for (int i = 0; i < 20; i++) {
      add(0, 0, "steady");
    }
    sendAtMost(1, 10);
    List<Long> returned = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      returned.add(add(2, 0, "returned"));
    }
    sent.clear();
    sendAtMost(3, 10);
    assertThat(sent).filteredOn(returned::contains).hasSize(5);
  }

  @Test
  void whoComesBetweenTwoQueuesHasSavedNothingUp() {
    for (int i = 0; i < 20; i++) {
      add(0, 0, "steady");
    }
    sendAtMost(1, 20);
    List<Long> returned = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      add(SECOND / 2, 0, "steady");
      returned.add(add(SECOND / 2, 0, "new"));
    }
    sent.clear();
    sendAtMost(SECOND / 2, 10);
    assertThat(sent).filteredOn(returned::contains).hasSizeBetween(4, 6);
  }

  @Test
  void otherSettingsLeaveEverybodyWhereTheyStood() {
    flow = new FlowControl(0, settings(band(60 * SECOND, 0.5)));
    for (int i = 0; i < 10; i++) {
      add(0, 0, "served");
      add(0, 0, "behind");
      add(0, -1, "low");
    }
    // One flow is ahead by five requests, and the band below is owed two and a half.
    FlowQueue served = flow.flow(0, "served");
    for (int i = 0; i < 5; i++) {
      flow.went(0, served, 100);
    }
    flow.configure(2 * SECOND, settings(band(60 * SECOND, 0.5)), Waiting::flow);
    sendAtMost(2 * SECOND, 2);
    assertThat(sent).as("the floor's").containsExactly(3L, 6L);
    sent.clear();
    sendAtMost(2 * SECOND, 6);
    assertThat(sent).filteredOn(id -> id % 3 == 1).as("of the flow that is ahead").isEmpty();
    assertThat(sent).filteredOn(id -> id % 3 == 2).hasSizeGreaterThanOrEqualTo(3);
  }

  @Test
  void orderByDeadlineFollowsDeadlinesThatMove() {
    BandSettings byDeadline =
        new BandSettings(
            30 * SECOND,
            30 * SECOND,
            0,
            Limits.NONE,
            Limits.NONE,
            BY_WORK,
            WaitingRequest::expiresAt);
    flow =
        new FlowControl(
            0,
            new FlowSettings(
                Limits.NONE,
                60 * SECOND,
                0,
                false,
                8,
                byDeadline,
                byDeadline,
                Map.of(),
                (a, b, c, d, e) -> 1));
    flow.empty(0, true);
    long patient = add(0, 0, "a", 1, WaitingRequest.NEVER); // until 60, then until 80
    long own = add(0, 0, "a", 1, 70 * SECOND); // until 60, then until 70
    flow.empty(50 * SECOND, false);
    sendAtMost(51 * SECOND, 1);
    assertThat(sent).containsExactly(own);
    sendAtMost(51 * SECOND, 1);
    assertThat(sent).containsExactly(own, patient);
  }

  @Test
  void aFloorOwesNoMoreThanWaits() {
    flow = new FlowControl(0, settings(band(9_999 * SECOND, 0.5, Limits.NONE, Limits.NONE)));
    add(0, -1, "low");
    FlowQueue high = flow.flow(1, "high");
    for (int i = 0; i < 100; i++) {
      flow.went(0, high, 100); // nobody of the band below can go meanwhile
    }
    for (int i = 0; i < 10; i++) {
      add(1, 1, "high");
      add(1, -1, "low");
    }
    sendAtMost(1, 3);
    assertThat(sent).as("one of the band below, for what it was owed").containsExactly(1L, 2L, 4L);
  }

  @Test
  void moreFlowsThatCannotGoThanAreTriedAtATimeKeepNobodyFromGoing() {
    flow =
        new FlowControl(
            0,
            new FlowSettings(
                Limits.NONE,
                0,
                0,
                false,
                99,
                band(SECOND, 0),
                band(SECOND, 0),
                Map.of(),
                (a, b, c, d, e) -> 1));
    for (int i = 0; i < 30; i++) {
      add(0, 0, "stuck" + i);
    }
    long last = add(0, 0, "free");
    for (int i = 0; i < 5; i++) {
      flow.roomCame(true);
      flow.dispatch(i, (now, w) -> w.request() == last ? send(now, w) : Sent.NOT_THIS_FLOW);
    }
    assertThat(sent).containsExactly(last);
  }

  @Test
  void otherSettingsLoseNobodyAndMoveWhoBelongsElsewhere() {
    for (int i = 0; i < 50; i++) {
      add(i, i % 3 - 1, "flow" + i % 4);
    }
    BandSettings smaller = band(SECOND, 0, new Limits(1, 1), Limits.NONE);
    flow.configure(60, settings(smaller), w -> flow.flow(-w.flow().priority(), "moved"));
    assertThat(flow.waiting()).isEqualTo(50);
    assertThat(add(61, 0, "moved")).as("the new limit holds for who comes now").isEqualTo(-1);
    sendAtMost(62, 99);
    List<Long> expected = new ArrayList<>();
    for (int priority = -1; priority <= 1; priority++) {
      for (long i = 0; i < 50; i++) {
        if (i % 3 - 1 == priority) {
          expected.add(i + 1);
        }
      }
    }
    assertThat(sent).isEqualTo(expected);
  }

  private List<String> flows() {
    List<String> names = new ArrayList<>();
    flow.forEachFlow(each -> names.add(each.id()));
    return names;
  }

  private static FlowSettings settings(int flows) {
    BandSettings all = band(10 * SECOND, 0);
    return new FlowSettings(
        Limits.NONE, 0, 0, false, flows, all, all, Map.of(), (a, b, c, d, e) -> 1);
  }

  @Test
  void whoMovesToAnotherBandSharesItsFlowsThereInTheOrderInWhichTheyCame() {
    for (int i = 0; i < 12; i++) {
      add(i, 0, "flow" + i % 4);
    }
    List<String> ids = List.of("flow0", "flow1", "flow2", "flow3");
    flow.configure(20, settings(3), w -> flow.flow(1, w.flow().id()));
    assertThat(flows()).containsExactlyInAnyOrder("flow0", "flow1", "");
    sendAtMost(21, 99);
    for (int i = 0; i < 4; i++) {
      int own = i;
      assertThat(sent)
          .filteredOn(id -> (id - 1) % 4 == own)
          .as(ids.get(i))
          .containsExactly(own + 1L, own + 5L, own + 9L);
    }
  }

  /** Endpoints that come and go by turns, as of servers that crash once they are ready. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whoWaitsWhileEndpointsComeAndGoWaitsNoLongerThanWithAndWithoutThem(boolean sinceLoss) {
    BandSettings band = band(10 * SECOND, 0);
    long minute = 60 * SECOND;
    flow =
        new FlowControl(
            0,
            new FlowSettings(
                Limits.NONE,
                sinceLoss ? 0 : minute,
                sinceLoss ? minute : 0,
                false,
                8,
                band,
                band,
                Map.of(),
                (a, b, c, d, e) -> 1));
    flow.empty(0, false);
    add(0, 0, "a");
    for (long now = 0; now <= 69 * SECOND; now += SECOND) {
      flow.empty(now, now / SECOND % 10 < 5);
      flow.expire(now, 10 * SECOND, w -> expired.add(w.request()));
      assertThat(expired).isEmpty();
    }
    flow.expire(70 * SECOND, 10 * SECOND, w -> expired.add(w.request()));
    assertThat(expired).hasSize(1);
  }

  @Test
  void whoIsRefusedComesAgainWhenThoseBeforeItAreGone() {
    for (int i = 0; i < 500; i++) {
      FlowQueue queue = flow.flow(0, "a");
      flow.went(i * SECOND / 10, queue, 1);
    }
    for (int i = 0; i < 100; i++) {
      add(50 * SECOND, 0, "a");
    }
    FlowQueue queue = flow.flow(0, "a");
    assertThat(flow.comeAgain(50 * SECOND, queue, 1, 0, 0))
        .as("100 at ten a second")
        .isBetween(10, 11);
    for (int i = 0; i < 40; i++) {
      flow.comeAgain(50 * SECOND, queue, 2 + i, 0, 0);
    }
    assertThat(flow.comeAgain(50 * SECOND, queue, 1, 0, 0))
        .as("ten seconds later, of which others have up to six tenths")
        .isBetween(14, 21);
  }

  @Test
  void whoStoodBeforeAllOthersDoesNotWaitForThem() {
    FlowQueue queue = flow.flow(0, "a");
    for (int i = 0; i < 500; i++) {
      flow.went(i * SECOND / 10, queue, 1);
    }
    for (int i = 0; i < 100; i++) {
      add(50 * SECOND, 0, "a");
    }
    Waiting oldest = Objects.requireNonNull(queue.first());
    flow.remove(50 * SECOND, oldest);
    assertThat(flow.comeAgain(50 * SECOND, queue, 1, oldest.sequence(), 0)).isEqualTo(1);
  }

  @Test
  void whoComesAgainWhenItWasToldToHasItsPlace() {
    FlowQueue queue = flow.flow(0, "a");
    flow.went(0, queue, 1);
    int seconds = flow.comeAgain(SECOND, queue, 7, 0, 0);
    add(SECOND, 0, "a");
    long due = SECOND + seconds * SECOND;
    assertThat(flow.came(due - 1, queue, 7)).as("too early").isZero();
    assertThat(flow.came(due, queue, 8)).as("asks for something else").isZero();
    assertThat(flow.came(due, flow.flow(0, "b"), 7)).as("another's").isZero();
    long place = flow.came(due, queue, 7);
    assertThat(place).isPositive();
    assertThat(flow.came(due, queue, 7)).as("has it already").isZero();
    Demand demand = new Demand(100, 1, WaitingRequest.NEVER, WaitingRequest.NEVER, false, place);
    Waiting again = flow.add(due, 100, queue, demand, w -> {});
    assertThat(queue.first()).as("before who came since").isSameAs(again);
  }

  @Test
  void whoComesMuchLaterThanItWasToldHasNoPlaceAnyMore() {
    FlowQueue queue = flow.flow(0, "a");
    flow.went(0, queue, 1);
    int seconds = flow.comeAgain(SECOND, queue, 7, 0, 0);
    assertThat(flow.came((seconds + 60) * SECOND, queue, 7)).isZero();
  }

  /** Whoever is told last may be told to come first, as whole seconds are told. */
  @Test
  void ofThoseWhoAskForTheSameWhoeverIsDueHasAPlace() {
    Returns returns = new Returns();
    FlowQueue queue = flow.flow(0, "a");
    returns.promise(0, queue, 1, 2 * SECOND, 1);
    returns.promise(0, queue, 1, 19 * SECOND / 10, 2);
    assertThat(returns.take(19 * SECOND / 10, queue, 1)).isEqualTo(2);
    assertThat(returns.take(19 * SECOND / 10, queue, 1)).isZero();
    assertThat(returns.take(2 * SECOND, queue, 1)).isEqualTo(1);
  }

  /** As many as it takes until there is no room; of none of them anybody comes. */
  private static int fill(Returns returns, FlowQueue queue, long now) {
    int kept = 0;
    for (; returns.hasRoom(queue); kept++) {
      returns.promise(now, queue, kept % 1_000, now + kept * SECOND / 1_000, kept + 1);
    }
    return kept;
  }

  @Test
  void asManyPlacesAreKeptAsMayBeAndAreFreeOnceTheyAreLost() {
    Returns returns = new Returns();
    FlowQueue queue = flow.flow(0, "a");
    int most = fill(returns, queue, 0);
    assertThat(most).isEqualTo(Returns.MOST / 2);
    for (int i = 0; i < most / 2; i++) {
      assertThat(returns.take(i * SECOND / 1_000, queue, i % 1_000)).isEqualTo(i + 1);
    }
    assertThat(returns.hasRoom(queue)).isTrue();
    returns.sweep(100 * SECOND);
    assertThat(fill(returns, queue, 100 * SECOND)).isEqualTo(most);
  }

  @Test
  void noFlowFillsThePlacesOfOthers() {
    Returns returns = new Returns();
    int first = fill(returns, flow.flow(0, "a"), 0);
    for (String other : List.of("b", "c", "d")) {
      int kept = fill(returns, flow.flow(0, other), 0);
      assertThat(kept).isGreaterThanOrEqualTo(first / 8);
      first = Math.min(first, kept);
    }
  }

  @Test
  void whoIsRefusedAfterAQuietTimeComesAgainAsSoonAsInTheLastQueue() {
    FlowQueue queue = flow.flow(0, "a");
    for (int i = 0; i < 300; i++) {
      add(i * SECOND / 10, 0, "a");
      sendAtMost(i * SECOND / 10, i == 299 ? 9 : i > 0 ? 1 : 0);
    }
    assertThat(flow.waiting()).isZero();
    long hours = 7_200 * SECOND;
    for (int i = 0; i < 100; i++) {
      add(hours, 0, "a");
    }
    assertThat(flow.comeAgain(hours, queue, 1, 0, 0)).as("100 at ten a second").isBetween(8, 13);
  }

  @Test
  void whoIsRefusedInABandThatHardlyGoesComesLate() {
    FlowQueue low = flow.flow(-1, "low");
    FlowQueue high = flow.flow(1, "high");
    for (int i = 0; i < 500; i++) {
      long at = i * SECOND / 10;
      flow.went(at, high, 1);
      if (i % 20 == 0) {
        flow.went(at, low, 1);
      }
    }
    for (int i = 0; i < 5; i++) {
      add(50 * SECOND, -1, "low");
    }
    assertThat(flow.comeAgain(50 * SECOND, low, 1, 0, 0))
        .as("5 at half a one a second")
        .isBetween(7, 14);
  }

  @Test
  void thoseWhoAreRefusedDoNotComeAgainTogether() {
    for (int i = 0; i < 50; i++) {
      add(0, 0, "a");
    }
    FlowQueue queue = flow.flow(0, "a");
    List<Integer> told = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < 1_000; i++) {
      told.add(flow.comeAgain(0, queue, 1, 0, random.nextDouble()));
    }
    assertThat(told).allMatch(seconds -> seconds >= 1 && seconds <= 120);
    assertThat(told.stream().distinct().count()).isGreaterThan(10);
  }
}
