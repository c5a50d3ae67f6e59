package io.fairlead.epp.kvevents;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.prefix.CacheEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventSequenceTest {

  private final Recorder told = new Recorder();
  private final EventSequence sequence = new EventSequence(true, told);

  @Test
  void messagesInOrderAreTakenIn() {
    came(0);
    came(1);

    assertThat(told.log).containsExactly("apply 0", "apply 1");
    assertThat(sequence.isWhole()).isTrue();
  }

  @Test
  void whoJoinsLateHasTheBeginningReplayed() {
    came(5);
    assertThat(told.log).containsExactly("replay 0");
    for (int i = 0; i <= 5; i++) {
      replayed(i);
      assertThat(sequence.isWhole()).as("%d of 5 are there", i).isFalse();
    }
    came(6);
    sequence.replayEnded();

    assertThat(told.applied()).containsExactly(0, 1, 2, 3, 4, 5, 6);
    assertThat(sequence.isWhole()).isTrue();
  }

  @Test
  void whoConnectsAsksAtOnceAndKnowsAllOfAnEngineThatHasToldNothing() {
    sequence.connected();
    assertThat(told.log).containsExactly("replay 0");
    sequence.nothingToReplay();

    assertThat(sequence.isWhole()).isTrue();
    came(0);
    assertThat(told.applied()).containsExactly(0);
    assertThat(sequence.isWhole()).isTrue();
  }

  @Test
  void aReplayThatHasLostTheBeginningLeavesTheRestUnknown() {
    came(500);
    replayed(490);
    for (int i = 491; i <= 500; i++) {
      replayed(i);
    }
    sequence.replayEnded();

    assertThat(sequence.isWhole()).isFalse();
    assertThat(told.log).contains("forgotten");
    assertThat(told.applied()).startsWith(490).endsWith(500).hasSize(11);
  }

  @Test
  void aGapIsReplayedAndNothingIsTakenInTwice() {
    came(0);
    came(3);
    came(4);
    replayed(1);
    replayed(2);
    replayed(3);
    sequence.replayEnded();
    came(5);

    assertThat(told.applied()).containsExactly(0, 1, 2, 3, 4, 5);
    assertThat(told.log).doesNotContain("forgotten");
    assertThat(sequence.isWhole()).isTrue();
  }

  @Test
  void aGapThatComesAboutDuringAReplayIsReplayedToo() {
    came(0);
    came(2);
    came(4);
    replayed(1);
    replayed(2);
    sequence.replayEnded();
    assertThat(told.log).endsWith("replay 3");
    replayed(3);
    replayed(4);
    sequence.replayEnded();

    assertThat(told.applied()).containsExactly(0, 1, 2, 3, 4);
    assertThat(sequence.isWhole()).isTrue();
  }

  @Test
  void aGapThatNobodyReplaysIsForgotten() {
    EventSequence alone = new EventSequence(false, told);
    alone.came(0, batch(0, 0));
    alone.came(2, batch(2, 2));

    assertThat(told.log).containsExactly("apply 0", "forgotten", "apply 2");
    assertThat(alone.isWhole()).isFalse();
  }

  @Test
  void aReplayThatNeverAnswersIsGivenUp() {
    came(0);
    came(2);
    sequence.replayEnded();

    assertThat(told.log).containsExactly("apply 0", "replay 1", "forgotten", "apply 2");
  }

  @Test
  void aMessageThatCameAlreadyIsNotTakenInAgain() {
    came(0);
    came(1);
    came(0);
    came(1);

    assertThat(told.applied()).containsExactly(0, 1);
    assertThat(told.results).contains(EventResult.OUT_OF_ORDER);
  }

  @Test
  void anEngineThatBeginsAnewIsEmpty() {
    came(0);
    came(1);
    sequence.came(0, batch(100, 50));

    assertThat(told.log).containsExactly("apply 0", "apply 1", "emptied", "apply 100");
    assertThat(sequence.isWhole()).isTrue();
  }

  @Test
  void anEngineThatBeganAnewWhileNobodyListenedIsAskedForItsBeginning() {
    for (int i = 0; i < 10; i++) {
      came(i);
    }
    sequence.came(3, batch(103, 50));
    assertThat(told.log).endsWith("emptied", "replay 0");
    for (int i = 0; i <= 3; i++) {
      sequence.replayed(i, batch(100 + i, 50));
    }
    sequence.replayEnded();

    assertThat(told.applied()).endsWith(100, 101, 102, 103);
    assertThat(sequence.isWhole()).isTrue();
  }

  @Test
  void anEngineMayBeginAnewWhileItsFormerMessagesAreReplayed() {
    came(0);
    came(2);
    sequence.came(0, batch(100, 50));
    sequence.came(1, batch(101, 51));
    replayed(1);
    sequence.replayEnded();

    assertThat(told.applied()).containsExactly(0, 1, 2, 100, 101);
    assertThat(told.log).contains("emptied");
    assertThat(sequence.isWhole()).isTrue();
  }

  @Test
  void whatCantBeReadIsForgotten() {
    came(0);
    sequence.came(1, null);
    came(2);

    assertThat(told.log).containsExactly("apply 0", "forgotten", "apply 2");
    assertThat(sequence.isWhole()).isFalse();
  }

  @Test
  void aLostConnectionMakesAllUnknownUntilItIsReplayed() {
    came(0);
    sequence.startOver();
    assertThat(told.log).endsWith("forgotten");
    assertThat(sequence.tells()).isFalse();

    sequence.connected();
    replayed(0);
    sequence.replayEnded();
    assertThat(sequence.isWhole()).isTrue();
  }

  @Test
  void soManyMessagesAreKeptAndNoMore() {
    came(0);
    for (int i = 2; i < 3 + EventSequence.MOST_KEPT; i++) {
      came(i);
    }

    assertThat(told.log).contains("forgotten");
    assertThat(told.applied()).hasSize(EventSequence.MOST_KEPT + 2);
  }

  /** Messages are as long as engines make them: a number of them alone is no bound. */
  @Test
  void soManyBytesAreKeptAndNoMore() {
    int tokens = 1 << 16;
    EventBatch large =
        new EventBatch(
            1,
            List.of(
                new CacheEvent.Stored(
                    new long[tokens / 16], false, 0, new int[tokens], 16, "", false)),
            7);
    int most = (int) (EventSequence.MOST_KEPT_BYTES / large.bytes()) + 1;
    assertThat(most).isLessThan(100);
    came(0);
    for (int i = 2; i < most + 1; i++) {
      sequence.came(i, large);
    }
    assertThat(told.applied()).as("it is waited for").containsExactly(0);

    sequence.came(most + 1, large);

    assertThat(told.log).contains("forgotten");
    assertThat(told.applied()).hasSize(most + 1);
  }

  /**
   * Messages are lost, come twice and late, engines begin anew, replays are short, late or never
   * come: what is taken in since the last time that all was forgotten or gone is without a gap, in
   * order, of one engine, and from its beginning where all is said to be known.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 26})
  void whatIsTakenInIsAlwaysWithoutAGap(long seed) {
    Random random = new Random(seed);
    TreeMap<Long, Integer> log = new TreeMap<>();
    int engine = 0;
    long next = 0;
    double time = 0;
    int asked = 0;
    for (int step = 0; step < 2_000; step++) {
      int kind = random.nextInt(100);
      time += 1;
      if (kind < 1) {
        engine++;
        next = 0;
        log.clear();
        if (told.replaying) { // no connection outlives its engine
          told.replaying = false;
          sequence.startOver();
          sequence.connected();
        }
      } else if (kind < 3) {
        told.replaying = false;
        sequence.startOver();
        sequence.connected();
      } else if (kind < 20 && told.replaying) {
        told.replaying = false;
        long lost = random.nextInt(4) == 0 ? random.nextInt(5) : 0;
        long from = told.replayFrom;
        int first = engine * 100_000;
        for (Map.Entry<Long, Integer> each : log.tailMap(Math.max(from, lost)).entrySet()) {
          if (told.replaying) {
            break; // it was asked for anew, and the rest of this one comes to nobody
          }
          if (random.nextInt(50) > 0) {
            int name = first + each.getKey().intValue();
            sequence.replayed(each.getKey(), batch(name, each.getValue()));
          }
        }
        if (told.replaying) {
          continue;
        }
        if (log.isEmpty()) {
          sequence.nothingToReplay();
        } else if (random.nextInt(10) == 0) {
          sequence.replayFellSilent();
        } else {
          sequence.replayEnded();
        }
      } else if (kind < 25) {
        told.turn = random.nextBoolean();
        if (told.turn) {
          sequence.turn();
        }
      } else if (kind < 28 && !log.isEmpty()) {
        long old = random.nextInt((int) next);
        sequence.came(old, batch(engine * 100_000 + (int) old, log.getOrDefault(old, 0)));
      } else {
        long number = next++;
        log.put(number, (int) time);
        // An engine that begins anew on a connection that stays is known by its first message: no
        // number tells its second one from that of the engine before.
        if (number == 0 || random.nextInt(12) > 0) {
          sequence.came(number, batch(engine * 100_000 + (int) number, time));
        }
      }
      asked += told.checked(sequence.isWhole());
    }
    assertThat(asked).as("times that all was known").isPositive();
  }

  @Test
  void whatThereWasNoRoomForIsAskedForOnlyWhenThereIsAgain() {
    came(0);
    sequence.setAside();
    assertThat(sequence.isWhole()).isFalse();
    told.log.clear();
    came(1);
    came(5); // what is missing would not be kept
    sequence.connected();
    assertThat(told.log).containsExactly("apply 1", "apply 5");

    sequence.relearn();
    assertThat(told.log).endsWith("replay 0");
    came(6);
    for (int i = 0; i <= 5; i++) {
      replayed(i);
    }
    sequence.replayEnded();
    assertThat(told.applied()).endsWith(4, 5, 6);
    assertThat(sequence.isWhole()).isTrue();
  }

  @Test
  void anEngineThatBeginsAnewIsKnownThoughThereWasNoRoomForTheOneBefore() {
    came(0);
    came(1);
    sequence.setAside();
    came(2);
    sequence.came(0, batch(7, 9));

    assertThat(told.results).contains(EventResult.RESTARTED);
    assertThat(told.log).endsWith("apply 7");
    assertThat(sequence.isWhole()).isTrue();
  }

  @Test
  void thereMayBeNoRoomInTheMidstOfAReplay() {
    came(5);
    replayed(0);
    sequence.setAside();
    assertThat(sequence.isReplaying()).isFalse();
    replayed(1);
    sequence.replayEnded();
    came(6);
    assertThat(told.log).endsWith("apply 6");
    assertThat(sequence.isWhole()).isFalse();
  }

  @Test
  void whatAnEngineDropsOfALongReplayIsAskedForAgain() {
    came(9);
    replayed(0);
    replayed(1);
    replayed(5);
    assertThat(told.log).endsWith("apply 1", "replay 2");
    replayed(2);
    replayed(3);
    sequence.replayFellSilent();
    assertThat(told.log).endsWith("apply 3", "replay 4");
    for (int i = 4; i <= 9; i++) {
      replayed(i);
    }
    sequence.replayEnded();
    assertThat(told.log).doesNotContain("forgotten");
    assertThat(told.applied()).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    assertThat(sequence.isWhole()).isTrue();
  }

  @Test
  void aReplayThatFallsSilentAndBringsNothingMoreIsGivenUp() {
    came(9);
    replayed(0);
    sequence.replayFellSilent();
    sequence.replayFellSilent();
    assertThat(sequence.isReplaying()).isFalse();
    assertThat(told.log).containsExactly("replay 0", "apply 0", "replay 1", "forgotten", "apply 9");
  }

  @Test
  void whoHasToWaitForItsTurnGoesOnWithoutAndLearnsAllThen() {
    told.turn = false;
    sequence.connected();
    came(5);
    came(6);
    assertThat(told.applied()).as("nothing is kept meanwhile").containsExactly(5, 6);
    assertThat(sequence.isWhole()).isFalse();

    told.turn = true;
    sequence.turn();
    assertThat(told.log).endsWith("forgotten", "replay 0");
    came(7);
    for (int i = 0; i <= 6; i++) {
      replayed(i);
    }
    sequence.replayEnded();
    assertThat(told.applied()).endsWith(0, 1, 2, 3, 4, 5, 6, 7);
    assertThat(sequence.isWhole()).isTrue();
    sequence.turn();
    assertThat(told.log).endsWith("apply 7");
  }

  @Test
  void whoWaitsForItsTurnAndLosesItsConnectionWaitsNoMore() {
    told.turn = false;
    came(5);
    sequence.startOver();
    told.log.clear();
    told.turn = true;
    sequence.turn();
    assertThat(told.log).isEmpty();
  }

  @Test
  void numbersThatOthersMessagesHaveAreNoGap() {
    came(0);
    sequence.passOver(1);
    sequence.passOver(2);
    came(3);
    sequence.passOver(4);
    came(6);

    assertThat(told.log).containsExactly("apply 0", "apply 3", "replay 4");
  }

  /** A proxy passes on what several engines count, each for itself. */
  @Test
  void numbersThatOthersCountForThemselvesChangeNothing() {
    sequence.passOver(0);
    came(0);
    sequence.passOver(1);
    sequence.passOver(2);
    came(1);
    sequence.passOver(7);
    came(2);
    assertThat(told.log).containsExactly("apply 0", "apply 1", "apply 2");
    sequence.passOver(3);
    came(3);
    came(5);

    assertThat(told.log).endsWith("apply 3", "replay 4");
  }

  private void came(int number) {
    sequence.came(number, batch(number, number));
  }

  private void replayed(int number) {
    sequence.replayed(number, batch(number, number));
  }

  /** Told apart by how many events of it were ignored. */
  private static EventBatch batch(int name, double time) {
    return new EventBatch(time, List.of(), name);
  }

  private static final class Recorder implements EventSequence.Effects {

    private final List<String> log = new ArrayList<>();
    private final List<EventResult> results = new ArrayList<>();
    private List<Integer> since = new ArrayList<>();
    private long replayFrom;
    private boolean replaying;
    private boolean turn = true;

    @Override
    public void apply(EventBatch batch) {
      log.add("apply " + batch.ignored());
      since.add(batch.ignored());
    }

    @Override
    public void emptied() {
      log.add("emptied");
      since = new ArrayList<>();
    }

    @Override
    public void forgotten() {
      log.add("forgotten");
      since = new ArrayList<>();
    }

    @Override
    public boolean replay(long from) {
      log.add(turn ? "replay " + from : "waits");
      replayFrom = from;
      replaying = turn;
      return turn;
    }

    @Override
    public void count(EventResult result) {
      results.add(result);
    }

    List<Integer> applied() {
      return log.stream()
          .filter(line -> line.startsWith("apply "))
          .map(line -> Integer.parseInt(line.substring(6)))
          .toList();
    }

    int checked(boolean whole) {
      for (int i = 1; i < since.size(); i++) {
        assertThat(since.get(i)).isEqualTo(since.get(i - 1) + 1);
      }
      if (whole && !since.isEmpty()) {
        assertThat(since.getFirst() % 100_000).isZero();
      }
      return whole && !since.isEmpty() ? 1 : 0;
    }
  }
}
