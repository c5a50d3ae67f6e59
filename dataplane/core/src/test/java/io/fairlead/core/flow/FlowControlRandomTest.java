package io.fairlead.core.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.flow.FlowControl.Sent;
import io.fairlead.core.flow.Waiting.Demand;
import io.fairlead.plugin.WaitingRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random events: each request has one end, no limit is exceeded, and order holds. */
class FlowControlRandomTest {

  private static final List<WaitsFor> NEEDS = List.of(WaitsFor.values());
  private static final int EVENTS = 100_000;

  /** Requests are alike so often that those who come again are known, and mistaken for others. */
  private static final long LIKENESSES = 50;

  private static final long MILLI = 1_000_000;

  private final Map<Long, Waiting> waiting = new HashMap<>();
  private final Map<String, NavigableMap<Long, Long>> order = new HashMap<>();
  private final List<FlowQueue> underWay = new ArrayList<>();
  private int added;
  private int refused;
  private int sent;
  private int evicted;
  private int expired;
  private int cancelled;
  private int cameAgain;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void everyRequestHasOneEnd(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    FlowSettings settings = settings(random);
    FlowControl flow = new FlowControl(0, settings);
    long now = 0;
    long requests = 0;
    for (int i = 0; i < EVENTS; i++) {
      now += random.nextLong(MILLI);
      long at = now;
      switch (random.nextInt(21)) {
        case 0, 1, 2, 3, 4, 5, 6, 7 -> arrive(flow, ++requests, at, random);
        case 8, 9 -> {
          if (!waiting.isEmpty()) {
            Waiting any = waiting.values().iterator().next();
            gone(any);
            flow.remove(at, any);
            cancelled++;
          }
        }
        case 10 -> flow.expire(at, 10 * MILLI, w -> expired(flow, at, w));
        case 11 -> flow.roomCame(random.nextBoolean());
        case 20 -> {
          if (!waiting.isEmpty()) {
            Waiting any = waiting.values().iterator().next();
            flow.waitsFor(at, any, NEEDS.get(random.nextInt(NEEDS.size())));
          }
        }
        case 12 -> flow.empty(at, random.nextInt(4) == 0);
        case 13 -> {
          if (random.nextInt(500) == 0) {
            settings = settings(random);
            flow.configure(at, settings, Waiting::flow);
            order.clear(); // another order may hold from here on
            waiting.values().stream()
                .sorted((a, b) -> Long.compare(a.sequence(), b.sequence()))
                .forEach(w -> line(w).put(w.sequence(), w.request()));
          }
        }
        default -> dispatch(flow, at, random);
      }
      long[] bytes = {0};
      waiting.values().forEach(w -> bytes[0] += w.bytes());
      assertThat(flow.waiting()).isEqualTo(waiting.size());
      assertThat(flow.waitingBytes()).isEqualTo(bytes[0]);
      Set<Band> wantRoom = new HashSet<>();
      waiting.values().stream()
          .filter(w -> !w.isForSlot())
          .forEach(w -> wantRoom.add(w.flow().band()));
      waiting
          .values()
          .forEach(
              w ->
                  assertThat(w.flow().band().wantsRoom())
                      .isEqualTo(wantRoom.contains(w.flow().band())));
    }
    long end = now + 10_000_000 * MILLI;
    flow.empty(now, false);
    flow.expire(end, 10 * MILLI, w -> expired(flow, end, w));
    assertThat(flow.waiting()).isZero();
    assertThat(sent + evicted + expired + cancelled).isEqualTo(added);
    assertThat(added + refused).isEqualTo((int) requests);
    assertThat(List.of(sent, evicted, expired, cancelled, refused, cameAgain))
        .allMatch(count -> count > 0);
    while (!underWay.isEmpty()) {
      underWay.removeLast().ended(1, 1, 1, 1);
    }
    flow.forEachFlow(each -> assertThat(each.idle()).isTrue());
  }

  private static FlowSettings settings(SplittableRandom random) {
    BandSettings standard = band(random);
    return new FlowSettings(
        new Limits(random.nextInt(20, 200), random.nextInt(2_000, 20_000)),
        random.nextLong(1, 5_000) * MILLI,
        0,
        false,
        random.nextInt(2, 8),
        standard,
        band(random),
        Map.of(1L, band(random)),
        (a, b, c, d, e) -> 1);
  }

  private static BandSettings band(SplittableRandom random) {
    long ttl = random.nextLong(1, 5_000) * MILLI;
    return new BandSettings(
        ttl,
        random.nextBoolean() ? ttl : random.nextLong(1, ttl + 1),
        random.nextBoolean() ? 0 : random.nextDouble(0.3),
        new Limits(random.nextInt(10, 100), random.nextInt(1_000, 10_000)),
        new Limits(random.nextInt(5, 100), random.nextInt(500, 10_000)),
        (now, flows) -> (int) (now % flows.size()),
        request -> 0);
  }

  private NavigableMap<Long, Long> line(Waiting request) {
    String key = request.flow().priority() + "/" + request.flow().id();
    return order.computeIfAbsent(key, name -> new TreeMap<>());
  }

  private void gone(Waiting request) {
    assertThat(waiting.remove(request.request())).isSameAs(request);
    assertThat(line(request).remove(request.sequence())).isEqualTo(request.request());
  }

  private static void refuse(FlowControl flow, long now, Waiting request) {
    long alike = request.request() % LIKENESSES;
    int seconds = flow.comeAgain(now, request.flow(), alike, request.sequence(), 0.5);
    assertThat(seconds).isBetween(1, 120);
  }

  private void expired(FlowControl flow, long now, Waiting request) {
    assertThat(request.expiresAt()).isLessThanOrEqualTo(now);
    gone(request);
    refuse(flow, now, request);
    expired++;
  }

  private void arrive(FlowControl flow, long request, long now, SplittableRandom random) {
    FlowQueue queue = flow.flow(random.nextInt(-1, 2), "flow" + random.nextInt(6));
    Demand demand =
        new Demand(
            random.nextInt(1, 1_000),
            random.nextInt(1, 300),
            random.nextBoolean() ? WaitingRequest.NEVER : random.nextInt(1, 3_000) * MILLI,
            WaitingRequest.NEVER,
            random.nextBoolean(),
            flow.came(now, queue, random.nextLong(LIKENESSES)));
    Waiting made =
        flow.add(
            now,
            request,
            queue,
            demand,
            w -> {
              assertThat(w.flow().priority())
                  .as("evicted for one that is no more important")
                  .isLessThanOrEqualTo(queue.priority());
              if (w.flow().priority() == queue.priority()) {
                assertThat(w.flow()).as("evicted for its own flow").isNotSameAs(queue);
              }
              gone(w);
              refuse(flow, now, w);
              evicted++;
            });
    if (made == null) {
      refused++;
      flow.comeAgain(now, queue, random.nextLong(LIKENESSES), 0, random.nextDouble());
    } else {
      added++;
      waiting.put(request, made);
      line(made).put(made.sequence(), request);
      cameAgain += made.cameAgain() ? 1 : 0;
    }
  }

  /** Whether it could not go for what it alone wants, since something changed. */
  private boolean isAside(long request) {
    return Objects.requireNonNull(waiting.get(request)).aside;
  }

  private void dispatch(FlowControl flow, long now, SplittableRandom random) {
    int[] room = {random.nextInt(4)};
    flow.dispatch(
        now,
        (at, request) -> {
          if (room[0] == 0) {
            return Sent.NONE;
          }
          assertThat(line(request).values().stream().filter(each -> !isAside(each)).findFirst())
              .as("first of its flow")
              .contains(request.request());
          if (random.nextInt(5) == 0) {
            return request.request() % 2 == 0 ? Sent.NOT_THIS : Sent.NOT_THIS_FLOW;
          }
          room[0]--;
          gone(request);
          flow.remove(at, request);
          flow.went(at, request.flow(), request.work());
          underWay.add(request.flow());
          sent++;
          return Sent.GONE;
        });
    while (underWay.size() > 50) {
      underWay.removeFirst().ended(1, 1, random.nextInt(3), random.nextInt(9));
    }
  }
}
