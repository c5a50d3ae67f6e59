package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.external.Advice;
import io.fairlead.core.external.RequestBrief;
import io.fairlead.core.handover.SentRequests;
import io.fairlead.core.prefix.CacheChange;
import io.fairlead.core.prefix.CacheEvent;
import io.fairlead.core.prefix.EngineCache;
import io.fairlead.core.prefix.PrefixIndex;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pickers that tell one another what they send know as much as one that had sent it all. */
class FollowerTest {

  /** Stands for whoever tells. */
  private static final long FROM = 7;

  private static final String[] NAMES = {"a", "b", "c", "d"};

  private static Pool pool() {
    return new Pool().configure().endpoints(NAMES);
  }

  private static void tell(Follower follower, Pool to) {
    tell(FROM, follower, to);
  }

  private static void tell(long from, Follower follower, Pool to) {
    to.core.tells(from);
    to.core.heard(to.now, from, follower.take(to.now));
  }

  private static long[] prompt(int conversation, int length) {
    SplittableRandom random = new SplittableRandom(conversation);
    return random.longs(length).toArray();
  }

  private static Map<Long, Integer> holders(Pool pool, String model, long[] blocks) {
    RequestBrief brief =
        Objects.requireNonNull(pool.core.brief(pool.now, Pool.request(model, 1, blocks)));
    Map<Long, Integer> holders = new HashMap<>();
    for (int i = 0; i < brief.holders().length; i++) {
      holders.put(brief.holders()[i], brief.cachedTokens()[i]);
    }
    return holders;
  }

  /** Conversations that come to any of three pickers, in the end known to each of them. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void eachKnowsWhatTheOthersHaveSent(long seed) {
    List<Pool> pickers = List.of(pool(), pool(), pool());
    Map<Integer, Follower> followers = new HashMap<>();
    for (int from = 0; from < 3; from++) {
      for (int to = 0; to < 3; to++) {
        if (from != to) {
          followers.put(3 * from + to, pickers.get(from).core.follow());
        }
      }
    }
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 300; i++) {
      int conversation = random.nextInt(40);
      Pool at = pickers.get(random.nextInt(3));
      long[] blocks = prompt(conversation, 10 + i / 10);
      String model = "m" + conversation % 2;
      at.serve(model, blocks);
      assertThat(holders(at, model, blocks))
          .containsKey(Advice.identity(at.lastRoute().endpoint()));
      followers.forEach((pair, follower) -> tell(pair, follower, pickers.get(pair % 3)));
      for (Pool picker : pickers) {
        assertThat(holders(picker, model, blocks)).isEqualTo(holders(at, model, blocks));
      }
    }
  }

  @Test
  void isToldOfEachPromptOnce() {
    Pool pool = pool();
    Follower follower = pool.core.follow();
    pool.arrive("m0", prompt(1, 5));
    assertThat(count(follower)).isEqualTo(1);
    assertThat(count(follower)).isZero();
  }

  @Test
  void isToldNothingOfWhatWasNotComputed() {
    Pool pool = pool();
    Follower follower = pool.core.follow();
    pool.arrive("m0", prompt(1, 5));
    long failed = pool.arrive("m0", prompt(2, 5));
    pool.core.ended(pool.now, failed, Outcome.FAILED, Usage.UNKNOWN);
    assertThat(count(follower)).isEqualTo(1);
  }

  /** The same text is another prompt to another model. */
  @Test
  void whatFailsOfOneModelIsToldOfTheOther() {
    Pool pool = new Pool().configure().endpoints("a");
    Follower follower = pool.core.follow();
    long failed = pool.arrive("m0", prompt(1, 5));
    pool.arrive("m1", prompt(1, 5));
    pool.core.ended(pool.now, failed, Outcome.FAILED, Usage.UNKNOWN);
    Pool other = pool();
    tell(follower, other);
    assertThat(holders(other, "m0", prompt(1, 5))).isEmpty();
    assertThat(holders(other, "m1", prompt(1, 5))).isNotEmpty();
  }

  /** What a process was sent is gone with it. */
  @Test
  void isToldNothingOfAProcessThatWasStartedAgain() {
    Pool pool = new Pool().configure().endpoints("a");
    pool.core.scraped(0, Pool.endpoint("a"), 0, scrape(100));
    Follower follower = pool.core.follow();
    pool.serve("m0", prompt(1, 5));
    pool.core.scraped(1, Pool.endpoint("a"), 1, scrape(200));
    pool.serve("m0", prompt(2, 5));
    assertThat(count(follower)).isEqualTo(1);
  }

  /** Pages of one process may differ a little in when it started. */
  @Test
  void isToldOfAProcessThatSaysItsStartAnew() {
    Pool pool = new Pool().configure().endpoints("a");
    pool.core.scraped(0, Pool.endpoint("a"), 0, scrape(100));
    Follower follower = pool.core.follow();
    pool.arrive("m0", prompt(1, 5));
    pool.core.scraped(1, Pool.endpoint("a"), 1, scrape(100.01));
    assertThat(count(follower)).isEqualTo(1);
  }

  /** What an engine has dropped since is not there; what it computes still will be. */
  @Test
  void isToldNothingThatAnEngineHasClearedSince() {
    Pool pool = new Pool().configure().endpoints("a");
    Follower follower = pool.core.follow();
    pool.serve("m0", prompt(1, 5));
    long computing = pool.arrive("m0", prompt(2, 5));
    EngineCache engine = new EngineCache(16, 1_000);
    CacheChange change = new CacheChange();
    assertThat(engine.apply(new CacheEvent.Cleared(), change)).isTrue();
    assertThat(pool.core.cacheChanged(Pool.endpoint("a"), 16, change.whole(false))).isTrue();
    pool.core.firstByte(0, computing);
    pool.serve("m0", prompt(3, 5));
    Pool other = new Pool().configure().endpoints("a");
    tell(follower, other);
    assertThat(holders(other, "m0", prompt(1, 5))).isEmpty();
    assertThat(holders(other, "m0", prompt(2, 5))).isNotEmpty();
    assertThat(holders(other, "m0", prompt(3, 5))).isNotEmpty();
  }

  private static EndpointMetrics scrape(double startedAt) {
    return new EndpointMetrics(
        0, 1, 0.5, 16, 700, "", -1, List.of(), List.of(), Map.of(), startedAt, 1);
  }

  @Test
  void isToldNothingAfterItHasLeft() {
    Pool pool = pool();
    Follower follower = pool.core.follow();
    pool.core.leave(follower);
    pool.arrive("m0", prompt(1, 5));
    assertThat(count(follower)).isZero();
  }

  /** What another has told is not told on: two that follow each other would go on for ever. */
  @Test
  void isToldNothingThatWasTold() {
    Pool first = pool();
    Pool second = pool();
    Follower ofFirst = first.core.follow();
    Follower ofSecond = second.core.follow();
    first.arrive("m0", prompt(1, 5));
    tell(ofFirst, second);
    assertThat(holders(second, "m0", prompt(1, 5))).isNotEmpty();
    assertThat(count(ofSecond)).isZero();
  }

  /** One that asks no more must not fill the memory: the newest is kept. */
  @Test
  void keepsSoMuchAtMost() {
    Pool pool = pool();
    Follower follower = pool.core.follow();
    for (int i = 0; i < 400; i++) {
      pool.serve("m0", prompt(i, 4_000));
    }
    List<SentRequests> told = follower.take(pool.now).sent();
    long blocks =
        told.stream()
            .flatMap(sent -> sent.requests().stream())
            .mapToLong(request -> request.prompt().count())
            .sum();
    assertThat(blocks).isBetween(1L << 19, 1L << 20);
    long[] last = prompt(399, 4_000);
    assertThat(told)
        .anySatisfy(
            sent ->
                assertThat(
                        sent.requests().getLast().prompt().salted()[3_999] ^ PrefixIndex.salt("m0"))
                    .isEqualTo(last[3_999]));
  }

  private static long count(Follower follower) {
    return follower.take(0).sent().stream()
        .flatMap(sent -> sent.requests().stream())
        .filter(request -> request.prompt().count() > 0)
        .count();
  }
}
