package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** All in virtual time. */
final class ProgressTest {

  private static final ProgressTerminal TERMINAL = new ProgressTerminal(true, 80);
  private static final String WIPED = "\r\033[K";

  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private long nanos = 1_000;

  @Test
  void saysNothingInTheFirstTwoSeconds() {
    for (ProgressTerminal terminal : new ProgressTerminal[] {TERMINAL, ProgressTerminal.NONE}) {
      try (Progress progress = progress(terminal, 100)) {
        pass(1_999);
        progress.advance(99);
      }
    }

    assertThat(text()).isEmpty();
  }

  @Test
  void drawsABarOverItselfOnATerminalAndWipesIt() {
    try (Progress progress = progress(TERMINAL, 4)) {
      pass(5_000);
      progress.advance(1, "chat, cost, seed 1");
      pass(5_000);
      progress.advance(1);
    }

    assertThat(text())
        .isEqualTo(
            "\rruns [######------------------] 25 %, 15 s left (chat, cost, seed 1)\033[K"
                + "\rruns [############------------] 50 %, 10 s left (chat, cost, seed 1)\033[K"
                + WIPED);
  }

  @Test
  void drawsNoMoreOftenThanIsSeen() {
    Progress progress = progress(TERMINAL, 1_000);
    pass(2_000);
    for (int i = 0; i < 100; i++) {
      progress.advance(1);
      pass(10);
    }

    assertThat(text().chars().filter(c -> c == '\r')).hasSize(5);
  }

  @Test
  void writesALineEveryTenSecondsElsewhere() {
    try (Progress progress = progress(ProgressTerminal.NONE, 100)) {
      for (int second = 1; second <= 25; second++) {
        pass(1_000);
        progress.advance(1);
      }
    }

    assertThat(text().lines())
        .containsExactly(
            "runs: 2 %, 1 min 38 s left",
            "runs: 12 %, 1 min 28 s left", "runs: 22 %, 1 min 18 s left", "runs: ended after 25 s");
  }

  @Test
  void knowsNoTimeLeftBeforeAnythingIsDone() {
    Progress progress = progress(ProgressTerminal.NONE, 10);
    pass(3_000);
    progress.advance(0, "warming up");

    assertThat(text().strip()).isEqualTo("runs: 0 %, time left unknown (warming up)");
  }

  @Test
  void countsDownWhileThereIsNoProgress() {
    Progress progress = progress(TERMINAL, 4);
    pass(10_000);
    progress.advance(1);
    pass(20_000);
    progress.tick();
    pass(20_000);
    progress.tick();

    assertThat(text())
        .isEqualTo(
            "\rruns [######------------------] 25 %, 30 s left\033[K"
                + "\rruns [######------------------] 25 %, 10 s left\033[K"
                + "\rruns [######------------------] 25 %, 0 s left\033[K");
  }

  @Test
  void neverGoesBeyondTheEnd() {
    Progress progress = progress(ProgressTerminal.NONE, 10);
    pass(7_200_000);
    progress.advance(11);

    assertThat(text().strip()).isEqualTo("runs: 100 %, 0 s left");
  }

  @Test
  void cutsWhatWouldWrap() {
    Progress progress = progress(new ProgressTerminal(true, 30), 10);
    pass(3_000);
    progress.advance(5);

    assertThat(text()).isEqualTo("\rruns [############-----------\033[K");
  }

  @Test
  void saysNothingOnceClosed() {
    Progress progress = progress(TERMINAL, 10);
    pass(3_000);
    progress.advance(1);
    progress.close();
    String before = text();
    pass(3_000);
    progress.advance(1);
    progress.close();

    assertThat(text()).isEqualTo(before).endsWith(WIPED);
  }

  @Test
  void needsSomethingToDo() {
    assertThatIllegalArgumentException().isThrownBy(() -> progress(TERMINAL, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> progress(TERMINAL, Double.NaN));
  }

  @Test
  void aDumbTerminalGetsLines() {
    assertThat(ProgressTerminal.ofStderr(Map.of("TERM", "dumb"))).isEqualTo(ProgressTerminal.NONE);
    assertThat(ProgressTerminal.ofStderr(Map.of())).isEqualTo(ProgressTerminal.NONE);
    assertThat(new ProgressTerminal(true, 0).columns()).isEqualTo(20);
  }

  private Progress progress(ProgressTerminal terminal, double total) {
    return new Progress(
        "runs",
        total,
        new PrintStream(written, true, StandardCharsets.UTF_8),
        terminal,
        () -> nanos);
  }

  private void pass(long millis) {
    nanos += millis * 1_000_000;
  }

  private String text() {
    return written.toString(StandardCharsets.UTF_8);
  }
}
