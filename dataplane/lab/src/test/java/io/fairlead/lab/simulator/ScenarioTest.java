package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.fairlead.lab.simulator.ServerEvent.Kind;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.stub.profile.EngineProfiles;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

final class ScenarioTest {

  private static final double FOR_EVER = Double.POSITIVE_INFINITY;
  private static final EngineProfiles PROFILES = EngineProfiles.shipped();

  private static Scenario read(String yaml) {
    return Scenario.read("mine", "mine.yaml", yaml, PROFILES);
  }

  private static List<ScenarioEvent> events(String yaml) {
    return read("events:\n- " + yaml).events(60);
  }

  private static List<ScenarioEvent> line(String text) {
    return Scenario.line(text).events(60);
  }

  @Test
  void readsADocument() {
    Scenario scenario =
        read(
            """
            summary: all kinds of things
            events:
            - {kind: slow, server: 2, factor: 3, at: 1m, for: 90s}
            - {kind: leave, server: 0-1, at: 500ms, for: 2.5s}
            - {kind: reset-cache, server: 3, at: 4s}
            - {kind: join, at: 10s, count: 2, engine: a100-8b*1.5, firstRequest: 30s}
            - {kind: join}
            - {kind: scale, servers: 0, at: 20s}
            - {kind: restart-picker, picker: 1, at: 5s, for: 3s}
            - {kind: restart-picker, picker: 0}
            """);

    assertThat(scenario.name()).isEqualTo("mine");
    assertThat(scenario.summary()).isEqualTo("all kinds of things");
    assertThat(scenario.events(600))
        .containsExactly(
            Kind.SLOW.of(2, 60, 90, 3),
            Kind.LEAVE.of(0, 0.5, 2.5),
            Kind.LEAVE.of(1, 0.5, 2.5),
            Kind.RESET_CACHE.of(3, 4, 0),
            new ServersJoin(10, 2, PROFILES.named("a100-8b").slowedBy(1.5), 30),
            new ServersJoin(0, 1, null, 0),
            new PoolScale(20, 0, null, 0),
            new PickerRestart(1, 5, 3),
            new PickerRestart(0, 0, 0));
  }

  @Test
  void whatComesAgainComesUpToTheEndOfTheRun() {
    assertThat(events("{kind: refuse, server: 0-1, at: 55s, for: 1s, every: 2s}"))
        .containsExactly(
            Kind.REFUSE.of(0, 55, 1),
            Kind.REFUSE.of(0, 57, 1),
            Kind.REFUSE.of(0, 59, 1),
            Kind.REFUSE.of(1, 55, 1),
            Kind.REFUSE.of(1, 57, 1),
            Kind.REFUSE.of(1, 59, 1));
    assertThat(events("{kind: reset-cache, server: 0, at: 20s, every: 30s}"))
        .containsExactly(Kind.RESET_CACHE.of(0, 20, 0), Kind.RESET_CACHE.of(0, 50, 0));
    assertThat(events("{kind: restart-picker, picker: 0, at: 50s, every: 8s}"))
        .containsExactly(new PickerRestart(0, 50, 0), new PickerRestart(0, 58, 0));
  }

  @Test
  void readsEventsOnALine() {
    assertThat(line("kind=fail-fast,server=2,at=10s,for=20s"))
        .containsExactly(Kind.FAIL_FAST.of(2, 10, 20));
    assertThat(line("server=0, kind=freeze; kind=slow,server=1,factor=4.5,at=500ms"))
        .containsExactly(Kind.FREEZE.of(0, 0, FOR_EVER), Kind.SLOW.of(1, 0.5, FOR_EVER, 4.5));
    assertThat(line("kind=fail-late,server=1,after=3s"))
        .containsExactly(Kind.FAIL_LATE.of(1, 0, FOR_EVER, 3));
    assertThat(line("kind=scale,servers=3,engine=l40s-8b"))
        .containsExactly(new PoolScale(0, 3, PROFILES.named("l40s-8b"), 0));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{server: 1} | events[0].kind: is missing; set one of refuse, swallow, fail-fast, ",
        "{kind: fails, server: 1} | events[0].kind: is \"fails\"; set one of refuse, ",
        "{kind: drain} | events[0].server: is missing; set a number from 0 on, or several as in 0-3",
        "{kind: drain, server: x} | events[0].server: is \"x\"; set a number from 0 on, or",
        "{kind: drain, server: 3-1} | events[0].server: is \"3-1\"; set a number from 0 on, or",
        "{kind: drain, server: 1.5} | events[0].server: is \"1.5\"; set a number from 0 on, or",
        "{kind: drain, server: 1, at: 10} | events[0].at: is \"10\"; set a time, as in 10s, 500ms or 2m",
        "{kind: drain, server: 1, for: 1.2.3s} | events[0].for: is \"1.2.3s\"; set a time, as in",
        "{kind: drain, server: 1, at: -1s} | events[0].at: is \"-1s\"; set a time, as in",
        "{kind: drain, server: 1, at: 100000000s} | events[0].at: is 1.0E8 s; set 0s to 10000000s",
        "{kind: drain, server: 1, factor: 2} | events[0].factor: is no field of a drain; it has kind, server, at, for, every",
        "{kind: slow, server: 1, share: 2} | events[0].share: is no field of a slow; it has kind, server, at, for, every, factor",
        "{kind: reset-cache, server: 1, for: 2s} | events[0].for: is no field of a reset-cache; it has kind, server, at, every",
        "{kind: join, server: 1} | events[0].server: is no field of a join; it has kind, at, count, engine, firstRequest",
        "{kind: slow, server: 1, factor: fast} | events[0].factor: is \"fast\"; set a number, as in factor: 0.5",
        "{kind: slow, server: 1, factor: 0} | events[0].factor: is 0.0; set 0.01 to",
        "{kind: fail-fast, server: 1, share: 1.5} | events[0].share: is 1.5; set 0.0 to 1.0",
        "{kind: refuse, server: 1, for: 2s, every: 2s} | events[0].every: is 2.0 s; set more than the 2.0 s that",
        "{kind: refuse, server: 1, every: 2s} | events[0].every: is 2.0 s; set more than the Infinity s that",
        "{kind: join, count: 0} | events[0].count: is \"0\"; set a whole number from 1 on",
        "{kind: join, count: 20000} | events[0].count: is 20000; set 1 to 10000",
        "{kind: join, engine: b300} | events[0].engine: is \"b300\"; set one of h100-8b, ",
        "{kind: join, firstRequest: 2000m} | events[0].firstRequest: is 120000.0 s; set 0s to 3600s",
        "{kind: scale} | events[0].servers: is missing; set a whole number from 0 on",
        "{kind: restart-picker} | events[0].picker: is missing; set a whole number from 0 on",
        "slow | events[0]: is \"slow\"; write fields, as in NAME: VALUE",
      })
  void whatIsWrongIsToldWithItsFieldAndWhatHelps(String event, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> events(event))
        .withMessageMatching("(?s)mine.yaml(:2)?: events.*")
        .withMessageContaining(message);
  }

  @Test
  void allThatIsWrongIsToldAtOnce() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                read(
                    """
                    sumary: x
                    events:
                    - {kind: slow, server: 1, at: 3}
                    - {kind: slow, server: 1, at: 3s, at: 4s}
                    """))
        .withMessageContaining("events[1].at: is a duplicate key, first set in line 4; remove one");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> read("sumary: x\nevents:\n- {kind: drain}\n- {kind: slow, server: 1, at: 3}\n"))
        .withMessage(
            """
            mine.yaml:1: sumary: is no field of a scenario; it has summary, events
            mine.yaml: events[0].server: is missing; set a number from 0 on, or several as in 0-3
            mine.yaml:4: events[1].at: is "3"; set a time, as in 10s, 500ms or 2m\
            """);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | mine.yaml: holds 0 documents, expected exactly one",
        "summary: x | mine.yaml: events: is missing; set one or more, as in [{kind: slow,",
        "events: [] | mine.yaml:1: events: is no list of something; set one or more",
        "[] | mine.yaml:1: is \"[]\"; write fields, as in NAME: VALUE",
      })
  void whatIsNoScenarioIsRefused(String yaml, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> read(yaml))
        .withMessageStartingWith(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "fail-fast | scenario: \"fail-fast\" is not NAME=VALUE, as in kind=fail-fast,server=2,at=10s",
        "kind=drain,server=1,at=1s,at=2s | has at twice; once is enough",
        "kind=drain,server=1;kind=slow | scenario: events[1].server: is missing; set a number",
      })
  void whatIsWrongOnALineIsToldToo(String text, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> line(text))
        .withMessageStartingWith("scenario: ")
        .withMessageContaining(message);
  }

  @Test
  void whatComesAgainTooOftenIsRefused() {
    Scenario often = Scenario.line("kind=refuse,server=1,for=0s,every=1ms");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> often.events(60))
        .withMessage("every: is 0.001 s, more than 10000 times in a run; set more");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "kind=drain,server=2,for=1s | scenario: drain at 0 s: server is 2, but 2xh100-8b has the servers 0 to 1 then",
        "kind=join,at=2s;kind=slow,server=2,at=1s | scenario: slow at 1 s: server is 2, but 2xh100-8b has the servers 0 to 1 then",
        "kind=restart-picker,picker=1,at=3s | scenario: restart-picker at 3 s: picker is 1, but there are the pickers 0 to 0",
        "kind=restart-picker,picker=0,at=3s,for=1s | scenario: restart-picker at 3 s: no picker is there then; set for to 0s, or more pickers",
      })
  void whatCannotHappenToThePoolIsTold(String text, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                new SimulationSpec(
                    new TestWorkload(1, 1, 100, 10),
                    Policy.named("cost"),
                    PoolSpec.parse("2xh100-8b"),
                    1,
                    Settings.of(5, 0),
                    line(text)))
        .withMessage(message);
  }

  @ParameterizedTest
  @MethodSource("io.fairlead.lab.simulator.Scenario#names")
  void whatShipsCanBeRead(String name) {
    Scenario scenario = Scenario.named(name);

    assertThat(scenario.summary()).isNotEmpty();
    assertThat(scenario.events(300)).isNotEmpty();
  }

  @Test
  void aNameThatIsNoneIsToldWithThoseThatAre() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Scenario.named("slow"))
        .withMessageStartingWith("scenario: \"slow\" is neither a file nor one of slow-server, ");
  }
}
