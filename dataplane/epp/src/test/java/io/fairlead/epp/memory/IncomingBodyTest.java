package io.fairlead.epp.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import com.sun.management.ThreadMXBean;
import io.fairlead.epp.openai.BadRequestException;
import io.fairlead.epp.openai.ModelSplice;
import io.fairlead.epp.openai.ParsedRequest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies that share a budget, in virtual time. */
class IncomingBodyTest {

  private static final int MIB = 1 << 20;

  /** 3 MiB of it are for bodies that are not small. */
  private final BodyBudget budget = new BodyBudget(4 * MIB, Duration.ofSeconds(10));

  private final EmbeddedChannel loop = new EmbeddedChannel();

  IncomingBodyTest() {
    loop.freezeTime();
  }

  @AfterEach
  void nothingIsLeft() {
    loop.advanceTimeBy(1, TimeUnit.HOURS);
    loop.runScheduledPendingTasks();
    assertThat(budget.used()).isZero();
    assertThat(budget.waiting()).isZero();
    var _ = loop.close();
  }

  private final class Owned implements IncomingBody.Owner {
    final long announced;
    final IncomingBody body;
    boolean made;
    int refusal;
    int slow;

    Owned(long announced, int limit) {
      this.announced = announced;
      body = new IncomingBody(budget, loop.eventLoop(), announced, limit, this);
    }

    @Override
    public void roomMade() {
      made = true;
    }

    @Override
    public void roomRefused(BadRequestException why) {
      refusal = why.status();
    }

    @Override
    public void tooSlow(BadRequestException why) {
      slow = why.status();
    }
  }

  private Owned known(int length) {
    return new Owned(length, 3 * MIB);
  }

  private Owned unknown(int limit) {
    return new Owned(-1, limit);
  }

  /** Brings as much of it as anybody may without a claim on all of it. */
  private static IncomingBody.Room begin(Owned one) throws BadRequestException {
    assertThat(one.body.open()).isEqualTo(IncomingBody.Room.THERE);
    return add(one, BodyBudget.BEGINNING, false);
  }

  private static void whole(Owned one) throws BadRequestException {
    begin(one);
    add(one, (int) one.announced - BodyBudget.BEGINNING, true);
  }

  private static IncomingBody.Room add(Owned to, int bytes, boolean last)
      throws BadRequestException {
    return to.body.add(Unpooled.wrappedBuffer(new byte[bytes]), last);
  }

  @Test
  void chargesAnAnnouncedBodyAsAWholeOnceItHasBegunAndGivesItBackOnce() throws Exception {
    Owned one = known(2 * MIB);
    assertThat(one.body.open()).isEqualTo(IncomingBody.Room.THERE);
    assertThat(budget.used()).as("nothing is here").isEqualTo(BodyBudget.BEGINNING);
    assertThat(add(one, MIB, false)).isEqualTo(IncomingBody.Room.THERE);
    assertThat(budget.used()).isEqualTo(2 * MIB);
    assertThat(add(one, MIB, true)).isEqualTo(IncomingBody.Room.THERE);
    assertThat(one.body.length()).isEqualTo(2 * MIB);
    assertThat(budget.used()).isEqualTo(2 * MIB);
    one.body.release();
    one.body.release();
    assertThat(budget.used()).isZero();
  }

  @Test
  void servesThoseInLineInTheirOrder() throws Exception {
    Owned first = known(2 * MIB);
    Owned large = known(3 * MIB);
    Owned small = known(MIB);
    begin(first);
    assertThat(begin(large)).isEqualTo(IncomingBody.Room.AWAITED);
    assertThat(begin(small))
        .as("there is room for it, but the one before would wait for ever")
        .isEqualTo(IncomingBody.Room.AWAITED);
    assertThat(budget.waits()).isEqualTo(2);
    first.body.release();
    loop.runPendingTasks();
    assertThat(large.made).isTrue();
    assertThat(small.made).isFalse();
    large.body.release();
    loop.runPendingTasks();
    assertThat(small.made).isTrue();
    small.body.release();
  }

  @Test
  void keepsNoSmallBodyWaitingForLargeOnes() throws Exception {
    Owned large = known(3 * MIB);
    Owned waiting = known(3 * MIB);
    Owned small = known(1000);
    begin(large);
    begin(waiting);
    assertThat(small.body.open()).isEqualTo(IncomingBody.Room.THERE);
    for (Owned each : List.of(large, waiting, small)) {
      each.body.release();
    }
  }

  @Test
  void refusesOneThatWaitedTooLongAndServesTheNext() throws Exception {
    Owned first = known(2 * MIB);
    Owned large = known(3 * MIB);
    whole(first);
    begin(large);
    loop.advanceTimeBy(9, TimeUnit.SECONDS);
    loop.runScheduledPendingTasks();
    Owned small = known(MIB);
    assertThat(begin(small)).isEqualTo(IncomingBody.Room.AWAITED);
    assertThat(large.refusal).isZero();
    loop.advanceTimeBy(1, TimeUnit.SECONDS);
    loop.runScheduledPendingTasks();
    loop.runPendingTasks();
    assertThat(large.refusal).isEqualTo(429);
    assertThat(budget.refusals()).isEqualTo(1);
    assertThat(small.made).isTrue();
    first.body.release();
    small.body.release();
  }

  @Test
  void refusesAtOnceWhatCanNeverBe() {
    Owned one = new Owned(4L * MIB, 4 * MIB);
    assertThatThrownBy(one.body::open)
        .isInstanceOf(BadRequestException.class)
        .hasMessageContaining("4194304 bytes")
        .extracting(e -> ((BadRequestException) e).code())
        .isEqualTo("body_memory_full");
    assertThat(budget.refusals()).isEqualTo(1);
  }

  @Test
  void givesBackWhatWasGrantedToOneThatIsGone() throws Exception {
    Owned first = known(3 * MIB);
    Owned gone = known(3 * MIB);
    begin(first);
    begin(gone);
    first.body.release(); // granted, but its loop has not told it yet
    gone.body.release();
    loop.runPendingTasks();
    assertThat(gone.made).isFalse();
    assertThat(budget.used()).isZero();
  }

  @Test
  void claimsTheLongestThatABodyCanBeWhereItOutgrowsASmallOne() throws Exception {
    Owned one = unknown(3 * MIB);
    assertThat(one.body.open()).isEqualTo(IncomingBody.Room.THERE);
    assertThat(budget.used()).isEqualTo(BodyBudget.BEGINNING);
    add(one, BodyBudget.BEGINNING, false);
    assertThat(budget.used()).isEqualTo(BodyBudget.SMALL);
    assertThat(add(one, BodyBudget.SMALL, false)).isEqualTo(IncomingBody.Room.THERE);
    assertThat(budget.used()).isEqualTo(3 * MIB);
    add(one, 50_000, true);
    assertThat(budget.used()).isBetween((long) one.body.length(), one.body.length() + 262_144L);
    one.body.release();
  }

  @Test
  void movesNothingThatHasCome() throws Exception {
    Owned one = unknown(3 * MIB);
    one.body.open();
    byte[] sent = new byte[2 * MIB];
    new Random(1).nextBytes(sent);
    for (int at = 0; at < sent.length; at += 1 << 14) {
      one.body.add(Unpooled.wrappedBuffer(sent, at, 1 << 14), at + (1 << 14) == sent.length);
    }
    assertThat(budget.used())
        .as("bytes that the body's pages take")
        .isBetween(2L * MIB, 2L * MIB + 262_144);
    assertThat(bytes(one)).isEqualTo(sent);
    one.body.release();
  }

  private static long allocated() {
    return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
  }

  private static byte[] bytes(Owned of) {
    ByteBuf all = ModelSplice.splice(of.body.bytes(), ParsedRequest.UNKNOWN, "");
    byte[] bytes = new byte[all.readableBytes()];
    all.readBytes(bytes);
    all.release();
    return bytes;
  }

  @Test
  void whatIsBeingSentIsNotOverwrittenByTheNextBody() throws Exception {
    byte[] sent = new byte[128 << 10];
    new Random(1).nextBytes(sent);
    Owned one = known(sent.length);
    one.body.open();
    one.body.add(Unpooled.wrappedBuffer(sent), true);
    ByteBuf sending = ModelSplice.splice(one.body.bytes(), ParsedRequest.UNKNOWN, "");
    one.body.release();

    for (int i = 0; i < 100; i++) {
      Owned next = known(sent.length);
      next.body.open();
      next.body.add(Unpooled.wrappedBuffer(new byte[sent.length]), true);
      next.body.release();
    }
    assertThat(sending).isEqualTo(Unpooled.wrappedBuffer(sent));
    sending.release();
  }

  @Test
  void pagesAreUsedAgain() throws Exception {
    byte[] sent = new byte[128 << 10];
    long before = allocated();
    for (int i = 0; i < 1_000; i++) {
      Owned one = i % 2 == 0 ? known(sent.length) : unknown(3 * MIB);
      one.body.open();
      one.body.add(Unpooled.wrappedBuffer(sent), true);
      one.body.release();
    }
    assertThat(allocated() - before).as("bytes for 125 MiB of bodies").isLessThan(20L * MIB);
  }

  @Test
  void keepsLongMessagesWhereTheyAreAndCopiesShortOnes() throws Exception {
    Owned one = unknown(3 * MIB);
    one.body.open();
    byte[] sent = new byte[2 * MIB];
    new Random(1).nextBytes(sent);
    List<ByteString> messages = new ArrayList<>();
    for (int at = 0, next = 1; at < sent.length; at += next, next = next == 1 ? 1 << 14 : 1) {
      next = Math.min(next, sent.length - at);
      messages.add(UnsafeByteOperations.unsafeWrap(sent, at, next));
    }
    long before = allocated();
    for (int i = 0; i < messages.size(); i++) {
      one.body.add(messages.get(i), i == messages.size() - 1);
    }
    assertThat(allocated() - before).as("pages for 128 bytes, and lists").isLessThan(50_000);
    assertThat(budget.used()).isBetween(2L * MIB, 2L * MIB + 4096);
    assertThat(bytes(one)).isEqualTo(sent);
    one.body.release();
  }

  @Test
  void isChargedNoMoreThanItTakesOnceNothingMoreComes() throws Exception {
    Owned one = unknown(3 * MIB);
    one.body.open();
    // As a message: the arrays of one are the garbage collector's once they are handed over.
    one.body.add(ByteString.copyFrom(new byte[100]), false);
    assertThat(budget.used()).isEqualTo(BodyBudget.BEGINNING);
    one.body.end();
    assertThat(budget.used()).isEqualTo(4096);
    one.body.handOver();
    assertThat(one.body.length()).isZero();
    assertThat(budget.used()).as("it is somewhere else").isEqualTo(4096);
    one.body.release();
  }

  @Test
  void leavesTheLineOnceNothingMoreComes() throws Exception {
    Owned first = known(3 * MIB);
    Owned second = unknown(3 * MIB);
    whole(first);
    second.body.open();
    assertThat(add(second, BodyBudget.SMALL, false)).isEqualTo(IncomingBody.Room.AWAITED);
    second.body.end();
    assertThat(budget.waiting()).isZero();
    first.body.release();
    loop.runPendingTasks();
    assertThat(second.made).isFalse();
    second.body.release();
  }

  private void pass(int seconds) {
    for (int i = 0; i < seconds; i++) {
      loop.advanceTimeBy(1, TimeUnit.SECONDS);
      loop.runScheduledPendingTasks();
      loop.runPendingTasks();
    }
  }

  @Test
  void aSlowBodyKeepsItsRoomWhileNobodyNeedsIt() throws Exception {
    Owned slow = known(3 * MIB);
    begin(slow);
    for (int i = 0; i < 100; i++) {
      pass(60);
      assertThat(add(slow, 1, false)).isEqualTo(IncomingBody.Room.THERE);
    }
    assertThat(budget.used()).isEqualTo(3 * MIB);
    assertThat(slow.slow).isZero();
    slow.body.release();
  }

  @Test
  void aSlowBodyMakesRoomForOneThatWaits() throws Exception {
    Owned slow = known(3 * MIB);
    begin(slow);
    pass(22);
    Owned next = known(3 * MIB);
    assertThat(begin(next)).isEqualTo(IncomingBody.Room.AWAITED);
    pass(5);
    assertThat(slow.slow).isEqualTo(408);
    assertThat(next.made).as("well within its patience").isTrue();
    assertThat(budget.used()).isEqualTo(3 * MIB);
    assertThat(budget.refusals()).as("of the one that waited").isZero();
    next.body.release();
  }

  @Test
  void aBodyThatOutgrewASmallOneIsHeldToWhatItClaims() throws Exception {
    Owned slow = unknown(3 * MIB);
    slow.body.open();
    add(slow, BodyBudget.SMALL, false);
    pass(19);
    Owned next = known(3 * MIB);
    begin(next);
    pass(1);
    assertThat(slow.slow).isEqualTo(408);
    assertThat(next.made).isTrue();
    next.body.release();
  }

  @Test
  void aBodyThatComesWithinAMinuteIsLeftThoughOthersWait() throws Exception {
    Owned one = known(3 * MIB);
    begin(one);
    int second = 3 * MIB / 60;
    for (int i = 0; i < 59; i++) {
      Owned next = known(3 * MIB);
      assertThat(begin(next)).isEqualTo(IncomingBody.Room.AWAITED);
      assertThat(add(one, second, false)).isEqualTo(IncomingBody.Room.THERE);
      pass(1);
      next.body.release();
    }
    assertThat(one.slow).isZero();
    add(one, 3 * MIB - one.body.length(), true);
    pass(120);
    assertThat(one.slow).as("it is whole").isZero();
    one.body.release();
  }

  @Test
  void aSmallBodyThatDripsIsHeldToAMinuteToo() throws Exception {
    List<Owned> drips = new ArrayList<>();
    for (int i = 0; i < 32; i++) {
      Owned drip = unknown(MIB);
      drip.body.open();
      drips.add(drip);
    }
    pass(20);
    Owned first = drips.getFirst();
    assertThat(add(first, 1, false)).as("nobody waits").isEqualTo(IncomingBody.Room.THERE);
    Owned next = known(1000);
    assertThat(next.body.open()).isEqualTo(IncomingBody.Room.AWAITED);
    assertThatThrownBy(() -> add(first, 1, false))
        .isInstanceOf(BadRequestException.class)
        .hasMessageContaining("within 60 s")
        .extracting(e -> ((BadRequestException) e).status())
        .isEqualTo(408);
    loop.runPendingTasks();
    assertThat(next.made).isTrue();
    drips.forEach(drip -> drip.body.release());
    next.body.release();
  }

  @Test
  void bodiesOfWhichNothingComesMakeRoomWithinThePatienceOfThoseInLine() throws Exception {
    List<Owned> silent = new ArrayList<>();
    for (int i = 0; i < 32; i++) {
      Owned one = i % 2 == 0 ? known(3 * MIB) : known(BodyBudget.BEGINNING);
      one.body.open();
      one.body.settle();
      silent.add(one);
    }
    Owned next = known(1000);
    assertThat(next.body.open()).isEqualTo(IncomingBody.Room.AWAITED);
    pass(4);
    assertThat(next.made).isFalse();
    pass(1);
    assertThat(silent).filteredOn(one -> one.slow == 408).isNotEmpty();
    assertThat(next.made).isTrue();
    for (Owned each : silent) {
      each.body.release();
    }
    next.body.release();
  }

  /** As from a telephone: 80 kbit/s, and now and then nothing for some seconds. */
  @Test
  void aSlowBodyWithPausesIsLeftThoughOthersWait() throws Exception {
    Owned one = known(BodyBudget.SMALL);
    Owned other = known(BodyBudget.SMALL);
    Owned next = known(BodyBudget.SMALL);
    begin(one);
    one.body.settle();
    begin(other);
    assertThat(begin(next)).isEqualTo(IncomingBody.Room.AWAITED);
    for (int i = 0; i < 9; i++) {
      pass(3);
      if (i % 3 != 2) {
        add(one, 30_000, one.body.length() > BodyBudget.SMALL - 60_000);
      }
    }
    assertThat(one.slow).isZero();
    for (Owned each : List.of(one, other, next)) {
      each.body.release();
    }
  }

  /** However much of it comes in one piece. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aBodyThatIsAllHereWaitsForRoomBeforeItIsUsed(boolean told) throws Exception {
    Owned first = known(3 * MIB);
    whole(first);
    Owned next = told ? known(2 * MIB) : unknown(3 * MIB);
    next.body.open();
    assertThat(add(next, 2 * MIB, true)).isEqualTo(IncomingBody.Room.AWAITED);
    first.body.release();
    loop.runPendingTasks();
    assertThat(next.made).isTrue();
    assertThat(budget.used()).isEqualTo(2 * MIB);
    pass(120);
    assertThat(next.slow).isZero();
    next.body.release();
  }

  @Test
  void aBodyThatEndsInLineTakesNoMoreThanItIs() throws Exception {
    Owned first = known(3 * MIB);
    whole(first);
    Owned next = unknown(3 * MIB);
    next.body.open();
    assertThat(add(next, BodyBudget.SMALL, false)).isEqualTo(IncomingBody.Room.AWAITED);
    assertThat(add(next, MIB, true)).as("it was under way").isEqualTo(IncomingBody.Room.AWAITED);
    first.body.release();
    loop.runPendingTasks();
    assertThat(next.made).isTrue();
    assertThat(budget.used()).isBetween((long) next.body.length(), 2L * MIB);
    next.body.release();
  }

  @Test
  void aBodyThatComesAtOnceHasAWholeMinute() throws Exception {
    Owned one = known(3 * MIB);
    one.body.openAtOnce();
    one.body.settle();
    pass(55);
    Owned next = known(3 * MIB);
    begin(next);
    pass(4);
    assertThat(one.slow).isZero();
    pass(1);
    assertThat(one.slow).isEqualTo(408);
    next.body.release();
  }

  @Test
  void aBodyThatComesAtOnceClaimsTheLongestThatItCanBe() throws Exception {
    Owned one = unknown(3 * MIB);
    assertThat(one.body.openAtOnce()).isEqualTo(IncomingBody.Room.THERE);
    assertThat(budget.used()).isEqualTo(3 * MIB);
    one.body.add(ByteString.copyFrom(new byte[1000]), true);
    assertThat(budget.used()).as("what it takes").isEqualTo(1000);
    one.body.release();
    Owned longer = unknown(8 * MIB);
    assertThat(longer.body.openAtOnce()).isEqualTo(IncomingBody.Room.THERE);
    assertThat(budget.used()).as("all that there is").isEqualTo(3 * MIB);
    longer.body.release();
  }

  @Test
  void refusesABodyThatBecomesLongerThanAnyCanBe() throws Exception {
    Owned one = unknown(8 * MIB);
    one.body.open();
    add(one, BodyBudget.SMALL, false);
    add(one, 2 * MIB, false);
    assertThat(budget.used()).as("all that there is").isEqualTo(3 * MIB);
    assertThatThrownBy(() -> add(one, MIB, false))
        .isInstanceOf(BadRequestException.class)
        .hasMessageContaining("no body gets more than 3145728");
  }

  @Test
  void keepsARequestWithoutABodyOutOfTheLine() throws Exception {
    Owned one = known(0);
    assertThat(one.body.open()).isEqualTo(IncomingBody.Room.THERE);
    add(one, 0, true);
    assertThat(budget.used()).isZero();
  }

  @Test
  void namesABudgetThatIsTooSmall() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new BodyBudget(1000, Duration.ofSeconds(1)))
        .withMessage("the budget for request bodies is 1000 bytes; set at least 1048576");
  }

  /** Nobody's patience ends here: whoever never gets room waits for ever, and fails the test. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void neverComesToAStandstill(long seed) throws Exception {
    Random random = new Random(seed);
    List<Running> all = new ArrayList<>();
    for (int i = 0; i < 120; i++) {
      all.add(new Running(random));
    }
    List<Running> left = new ArrayList<>(all);
    for (int step = 0; !left.isEmpty(); step++) {
      assertThat(step).as("steps; %s bodies wait", left.size()).isLessThan(200_000);
      Running next = left.get(random.nextInt(left.size()));
      next.step(random);
      loop.runPendingTasks();
      assertThat(budget.used()).isBetween(0L, budget.limit() + 40 * 65_536L);
      if (next.over) {
        left.remove(next);
      }
    }
    assertThat(budget.waits()).as("of %s bodies", all.size()).isPositive();
    assertThat(budget.refusals()).isZero();
  }

  /** A body that comes in pieces, is kept for a while, and goes; sometimes in its midst. */
  private final class Running implements IncomingBody.Owner {
    final boolean told;
    final int size;
    final IncomingBody body;
    boolean opened;
    boolean waits;
    boolean over;

    Running(Random random) {
      size = random.nextInt(4) == 0 ? random.nextInt(5000) : random.nextInt(3 * MIB);
      told = random.nextBoolean();
      body = new IncomingBody(budget, loop.eventLoop(), told ? size : -1, 3 * MIB, this);
    }

    void step(Random random) throws BadRequestException {
      if (random.nextInt(500) == 0) {
        over = true;
        body.release();
      } else if (waits) {
        return;
      } else if (!opened) {
        opened = true;
        waits = body.open() == IncomingBody.Room.AWAITED;
      } else if (body.length() < size) {
        int more = Math.min(size - body.length(), 1 + random.nextInt(65_536));
        waits =
            body.add(Unpooled.wrappedBuffer(new byte[more]), body.length() + more == size)
                == IncomingBody.Room.AWAITED;
      } else if (random.nextInt(20) == 0) {
        over = true;
        body.release();
      }
    }

    @Override
    public void roomMade() {
      assertThat(waits).isTrue();
      waits = false;
    }

    @Override
    public void roomRefused(BadRequestException why) {
      throw new AssertionError(why);
    }

    @Override
    public void tooSlow(BadRequestException why) {
      throw new AssertionError(why);
    }
  }
}
