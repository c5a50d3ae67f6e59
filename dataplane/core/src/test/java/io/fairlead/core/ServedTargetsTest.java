package io.fairlead.core;

import static io.fairlead.core.Pool.model;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.TargetSnapshot.State;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.TargetModel;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a pool tells of the targets of its config. */
class ServedTargetsTest {

  private static final long SECOND = 1_000_000_000;
  private static final ModelConfig CHAT =
      model("chat", Criticality.STANDARD, new TargetModel("chat-v1", 1));

  private final Pool pool = new Pool();

  /** It is answered by an endpoint that does not know its model. */
  private String refuse(String model) {
    long ticket = pool.arrive(model);
    pool.core.unknownModel(pool.now, ticket);
    pool.core.ended(pool.now, ticket, Outcome.REFUSED, Usage.UNKNOWN);
    return pool.lastRoute().endpoint();
  }

  /** Until each of so many endpoints has, and often enough. */
  private void refuseAtAll(String model, int endpoints) {
    Set<String> asked = new HashSet<>();
    for (int i = 0; i < ServedTargets.LEAST_REFUSALS || asked.size() < endpoints; i++) {
      assertThat(i).as("requests that have not come to all").isLessThan(10_000);
      asked.add(refuse(model));
    }
  }

  private List<TargetSnapshot> told() {
    return pool.core.targets(pool.now);
  }

  private static TargetSnapshot served(String target) {
    return new TargetSnapshot(target, State.SERVED, 0);
  }

  private static TargetSnapshot notServed(String target, int by) {
    return new TargetSnapshot(target, State.NOT_SERVED, by);
  }

  @Test
  void ofATargetThatNobodyHasAskedForNothingIsTold() {
    pool.configure(CHAT).endpoints("a");
    pool.serve("other");
    assertThat(told()).isEmpty();
  }

  @Test
  void oneThatIsAnsweredForIsServed() {
    pool.configure(CHAT, model("sum", Criticality.STANDARD)).endpoints("a");
    pool.serve("sum");
    assertThat(told()).containsExactly(served("sum"));
    pool.core.firstByte(pool.now, pool.arrive("chat"));
    assertThat(told()).containsExactly(served("chat-v1"), served("sum"));
  }

  /** Another may have the adapter. */
  @Test
  void oneThatNobodyKnowsIsFoundOnceAllHaveSaidSo() {
    pool.configure(CHAT).endpoints("a", "b", "c");
    Set<String> asked = new HashSet<>();
    for (int i = 0; asked.size() < 3; i++) {
      assertThat(told()).isEmpty();
      assertThat(i).isLessThan(10_000);
      asked.add(refuse("chat"));
    }
    assertThat(told()).containsExactly(notServed("chat-v1", 3));
    refuse("chat");
    assertThat(told()).as("told the same from then on").containsExactly(notServed("chat-v1", 3));
  }

  @Test
  void oneStrayAnswerIsNone() {
    pool.configure(CHAT).endpoints("a");
    refuse("chat");
    refuse("chat");
    assertThat(told()).isEmpty();
    refuse("chat");
    assertThat(told()).containsExactly(notServed("chat-v1", 1));
  }

  /** A path that servers lack gives 404, too, and a full one 429. */
  @Test
  void refusalsForOtherReasonsAreNone() {
    pool.configure(CHAT).endpoints("a");
    for (int i = 0; i < 20; i++) {
      long ticket = pool.arrive("chat");
      pool.core.status(ticket, 404);
      pool.core.ended(pool.now, ticket, Outcome.REFUSED, Usage.UNKNOWN);
    }
    assertThat(told()).isEmpty();
  }

  @Test
  void theFirstGoodAnswerEndsIt() {
    pool.configure(CHAT).endpoints("a", "b");
    refuseAtAll("chat", 2);
    assertThat(told()).containsExactly(notServed("chat-v1", 2));
    long ticket = pool.arrive("chat");
    assertThat(told()).containsExactly(notServed("chat-v1", 2));
    pool.core.firstByte(pool.now, ticket);
    assertThat(told()).containsExactly(served("chat-v1"));
  }

  /** It may be on a few endpoints that others have not learned of. */
  @Test
  void oneThatWasAnsweredForLatelyIsServed() {
    pool.configure(CHAT).endpoints("a");
    pool.serve("chat");
    pool.now += ServedTargets.LATELY - 1;
    refuseAtAll("chat", 1);
    assertThat(told()).containsExactly(served("chat-v1"));
    pool.now++;
    refuse("chat");
    assertThat(told()).containsExactly(notServed("chat-v1", 1));
  }

  @Test
  void aGoodAnswerInBetweenBeginsTheCountAnew() {
    pool.configure(CHAT).endpoints("a");
    refuse("chat");
    refuse("chat");
    pool.serve("chat");
    pool.now += ServedTargets.LATELY;
    refuse("chat");
    refuse("chat");
    assertThat(told()).containsExactly(served("chat-v1"));
    refuse("chat");
    assertThat(told()).containsExactly(notServed("chat-v1", 1));
  }

  /** What others have seen since counts for more. */
  @Test
  void aGoodAnswerOfLongAgoIsToldAsSuch() {
    pool.configure(CHAT).endpoints("a");
    pool.serve("chat");
    pool.now += ServedTargets.LONG_AGO - 1;
    assertThat(told()).containsExactly(served("chat-v1"));
    pool.now++;
    assertThat(told()).containsExactly(new TargetSnapshot("chat-v1", State.SERVED_EARLIER, 0));
    pool.serve("chat");
    assertThat(told()).containsExactly(served("chat-v1"));
  }

  /** Another picker, which gateways keep to, knows better by then. */
  @Test
  void thatNobodyServesItIsNotKnownAnHourAfterItWasRefusedLast() {
    pool.configure(CHAT).endpoints("a", "b");
    refuseAtAll("chat", 2);
    pool.now += ServedTargets.LONG_AGO - 1;
    assertThat(told()).containsExactly(notServed("chat-v1", 2));
    pool.now++;
    assertThat(told()).isEmpty();
  }

  @Test
  void ofManyEndpointsNotAllAreAsked() {
    String[] names = IntStream.range(0, 40).mapToObj(i -> "e" + i).toArray(String[]::new);
    pool.configure(CHAT).endpoints(names);
    Set<String> asked = new HashSet<>();
    for (int i = 0; asked.size() < ServedTargets.MOST_ASKED; i++) {
      assertThat(told()).isEmpty();
      assertThat(i).isLessThan(10_000);
      asked.add(refuse("chat"));
    }
    assertThat(told()).containsExactly(notServed("chat-v1", ServedTargets.MOST_ASKED));
  }

  /** Who has left can't serve it, and who has come may. */
  @Test
  void whoHasComeSinceIsAskedToo() {
    pool.configure(CHAT).endpoints("a", "b");
    Set<String> asked = new HashSet<>(Set.of(refuse("chat")));
    String other = asked.contains("a") ? "b" : "a";
    pool.endpoints(other, "c");
    while (!asked.contains("c")) {
      assertThat(told()).isEmpty();
      asked.add(refuse("chat"));
    }
    refuseAtAll("chat", 2);
    assertThat(told()).containsExactly(notServed("chat-v1", 2));
  }

  /** An idle server shows no adapter, and one that runs it does. */
  @Test
  void anAdapterThatAServerNamesIsServed() {
    pool.configure(CHAT).endpoints("a");
    refuseAtAll("chat", 1);
    assertThat(told()).containsExactly(notServed("chat-v1", 1));
    pool.now += SECOND;
    scraped("a", "chat-v1");
    assertThat(told()).containsExactly(served("chat-v1"));
    pool.now += ServedTargets.LATELY;
    refuseAtAll("chat", 1);
    assertThat(told()).as("named before it was refused").containsExactly(notServed("chat-v1", 1));
  }

  private void scraped(String endpoint, String adapter) {
    pool.core.scraped(
        pool.now,
        Pool.endpoint(endpoint),
        pool.now,
        new EndpointMetrics(0, 1, 0, 16, 100, "base", 4, List.of(adapter), List.of(), Map.of()));
  }

  @Test
  void whatIsKnownStaysWithTheTargetsThatStay() {
    ModelConfig other = model("other", Criticality.STANDARD);
    pool.configure(CHAT, other).endpoints("a");
    refuseAtAll("chat", 1);
    pool.serve("other");
    pool.configure(model("renamed", Criticality.CRITICAL, new TargetModel("chat-v1", 1)));
    assertThat(told()).containsExactly(notServed("chat-v1", 1));
    pool.configure(CHAT, other);
    assertThat(told()).as("forgotten with its model").containsExactly(notServed("chat-v1", 1));
  }

  /** Which target a request gets is drawn. */
  @Test
  void ofASplitEachTargetIsToldByItself() {
    pool.configure(
            model(
                "chat",
                Criticality.STANDARD,
                new TargetModel("good", 1),
                new TargetModel("misspelt", 1)))
        .endpoints("a");
    for (int i = 0; i < 100; i++) {
      long ticket = pool.arrive("chat");
      if (pool.lastRoute().targetModel().equals("good")) {
        pool.core.firstByte(pool.now, ticket);
        pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
      } else {
        pool.core.unknownModel(pool.now, ticket);
        pool.core.ended(pool.now, ticket, Outcome.REFUSED, Usage.UNKNOWN);
      }
    }
    assertThat(told()).containsExactly(served("good"), notServed("misspelt", 1));
  }
}
