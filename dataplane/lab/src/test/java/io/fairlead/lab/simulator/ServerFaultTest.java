package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.fairlead.lab.simulator.ServerFault.Kind;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ServerFaultTest {

  private static final double FOR_EVER = Double.POSITIVE_INFINITY;

  @Test
  void readsAFault() {
    assertThat(ServerFault.parse("kind=fail-fast,server=2,at=10s,for=20s", 60))
        .containsExactly(Kind.FAIL_FAST.of(2, 10, 20));
    assertThat(ServerFault.parse("server=0, kind=freeze", 60))
        .containsExactly(Kind.FREEZE.of(0, 0, FOR_EVER));
    assertThat(ServerFault.parse("kind=slow,server=1,factor=4.5,at=500ms", 60))
        .containsExactly(Kind.SLOW.of(1, 0.5, FOR_EVER, 4.5));
    assertThat(ServerFault.parse("kind=fail-late,server=1,after=3s", 60))
        .containsExactly(Kind.FAIL_LATE.of(1, 0, FOR_EVER, 3));
    assertThat(ServerFault.parse("kind=fail-fast,server=1,share=0.3", 60))
        .containsExactly(Kind.FAIL_FAST.of(1, 0, FOR_EVER, 0.3));
  }

  @Test
  void readsSeveralServersAndTimes() {
    assertThat(ServerFault.parse("kind=drain,server=1-3,at=5s", 60))
        .containsExactly(
            Kind.DRAIN.of(1, 5, FOR_EVER),
            Kind.DRAIN.of(2, 5, FOR_EVER),
            Kind.DRAIN.of(3, 5, FOR_EVER));
    assertThat(ServerFault.parse("kind=refuse,server=0,at=4s,for=1s,every=2s", 9))
        .containsExactly(Kind.REFUSE.of(0, 4, 1), Kind.REFUSE.of(0, 6, 1), Kind.REFUSE.of(0, 8, 1));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "fail-fast | \"fail-fast\" is not NAME=VALUE, as in kind=fail-fast,server=2,at=10s",
        "kind=fail-fast | server in \"kind=fail-fast\" is missing; set a number, or several as in 0-3",
        "server=1 | kind in \"server=1\" is missing; set one of refuse, swallow, fail-fast, ",
        "kind=fails,server=1 | is fails; set one of refuse, swallow, fail-fast, ",
        "kind=drain,server=x | is x; set a number, or several as in 0-3",
        "kind=drain,server=3-1 | is 3-1; set a number, or several as in 0-3",
        "kind=drain,server=1,at=10 | fault: at is 10; set seconds, as in 10s or 500ms",
        "kind=drain,server=1,for=1.2.3s | fault: for is 1.2.3s; set seconds, as in 10s or 500ms",
        "kind=drain,server=1,at=1s,at=2s | has at twice; once is enough",
        "kind=drain,server=1,factor=2 | has factor; a drain has kind, server, at, for, every",
        "kind=slow,server=1,share=2 | has share; a slow has kind, server, at, for, every, factor",
        "kind=slow,server=1,factor=fast | fault: factor is fast; set a number from 0.01 to",
        "kind=slow,server=1,factor=0 | fault: factor is 0.0; set 0.01 to",
        "kind=fail-fast,server=1,share=1.5 | fault: share is 1.5; set 0.0 to 1.0",
        "kind=refuse,server=1,for=2s,every=2s | every is 2.0 s; set more than the 2.0 s that",
        "kind=refuse,server=1,every=2s | set more than the Infinity s that",
        "kind=refuse,server=1,for=0s,every=1ms | more than 10000 times in a run; set more",
      })
  void whatIsWrongIsToldWithItsFieldAndWhatHelps(String text, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ServerFault.parse(text, 60))
        .withMessageStartingWith("fault: ")
        .withMessageContaining(message);
  }

  @Test
  void aServerThatIsNotThereIsTold() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                new SimulationSpec(
                    new TestWorkload(1, 1, 100, 10),
                    Policy.named("cost"),
                    PoolSpec.parse("2xh100-8b"),
                    1,
                    Settings.of(1, 0),
                    List.of(Kind.DRAIN.of(2, 0, 1))))
        .withMessage("fault: server is 2, but 2xh100-8b has the servers 0 to 1");
  }
}
