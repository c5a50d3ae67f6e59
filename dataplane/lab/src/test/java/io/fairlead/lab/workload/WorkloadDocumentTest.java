package io.fairlead.lab.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.fairlead.lab.workload.Preset.Unit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class WorkloadDocumentTest {

  private static final String CHAT =
      """
      summary: conversations of people
      load: 10
      length: 480s
      warmUp: 2m
      sessions:
        system: 1000
        context: {shape: log-normal, mean: 2500, sd: 2500, least: 16, most: 30000}
        question: {shape: log-normal, mean: 100, sd: 80, least: 4, most: 2000}
        answer: {shape: log-normal, mean: 250, sd: 200, least: 4, most: 2000}
        turns: {shape: geometric, mean: 5, least: 1, most: 20}
        thinkSeconds: {shape: exponential, mean: 8}
      """;

  private static final String BURSTY =
      """
      load: 450
      burstiness: 4
      requests:
        question: {shape: log-normal, mean: 252, sd: 330, least: 4, most: 2048}
        answer: {shape: log-normal, mean: 225, sd: 260, least: 3, most: 1024}
      """;

  private static final String BIMODAL =
      """
      load: 28
      requests:
        question: {shape: log-normal, mean: 252, sd: 330, least: 4, most: 2048}
        answer: {shape: either, usual: 8, rare: 4000, share: 0.5}
      """;

  private static final String B2B =
      """
      load: 7
      pool: 8xh100x2-32b
      groups:
        count: 150
        questions: 5
        system: 6000
        question: {shape: normal, mean: 1200, sd: 360, least: 16, most: 3000}
        answer: {shape: normal, mean: 1000, sd: 300, least: 16, most: 2500}
      """;

  private static final String MIXED_SHARED =
      """
      load: 75
      pool: 3xh100-8b+3xa100-8b+2xl40s-8b
      groups: {count: 64, system: 2048, question: 256, answer: 256}
      """;

  private static Workloads.Own read(String text) {
    return Workloads.read("mine", "mine.yaml", text, 1);
  }

  /** The first requests of a run, and those that follow from answers that take a second. */
  private static List<String> requests(Workload workload) {
    List<String> all = new ArrayList<>();
    Traffic traffic = workload.start(11);
    for (int i = 0; i < 200; i++) {
      Arrival next = traffic.next();
      if (next == null) {
        break;
      }
      take(next, traffic, all);
    }
    return all;
  }

  private static void take(Arrival arrival, Traffic traffic, List<String> all) {
    RequestShape shape = arrival.request();
    all.add(
        arrival.atNanos()
            + " "
            + shape.promptTokens()
            + " "
            + shape.outputTokens()
            + " "
            + Arrays.hashCode(shape.blocks()));
    traffic.ended(
        arrival.atNanos() + 1_000_000_000L, shape, true, more -> take(more, traffic, all));
  }

  private static void isAsShipped(String text, String name) {
    assertThat(requests(read(text).workload()))
        .hasSizeGreaterThanOrEqualTo(200)
        .isEqualTo(requests(Workloads.named(name, Workloads.Options.DEFAULT)));
  }

  @Test
  void whatADocumentSaysIsWhatTheWorkloadThatShipsSends() {
    isAsShipped(CHAT, "chat");
    isAsShipped(BURSTY, "bursty");
    isAsShipped(BIMODAL, "bimodal");
    isAsShipped(B2B, "b2b");
    isAsShipped(MIXED_SHARED, "mixed-shared");
  }

  @Test
  void saysWhatItIsMadeFor() {
    assertThat(read(CHAT).preset())
        .isEqualTo(
            new Preset(
                "mine",
                "conversations of people",
                10,
                Unit.SESSIONS_PER_SECOND,
                "8xh100-8b",
                480,
                120));
    assertThat(read(B2B).preset())
        .isEqualTo(
            new Preset(
                "mine",
                "a workload of its own",
                7,
                Unit.REQUESTS_PER_SECOND,
                "8xh100x2-32b",
                300,
                60));
  }

  @Test
  void aFactorIsTimesItsLoad() {
    assertThat(requests(Workloads.read("mine", "mine.yaml", CHAT, 1.5).workload()))
        .isEqualTo(requests(Workloads.named("chat", Workloads.Options.times(1.5))));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{requests: {question: 1, answer: 1}} | load: is missing; set a number",
        "{load: 0, requests: {question: 1, answer: 1}} | load: is \"0\"; set a number above 0",
        "{load: 1} | sessions: is missing; set one of [sessions, groups, requests]",
        "{load: 1, groups: {}, requests: {}} | requests: is a second kind; set one of",
        "{load: 1, rate: 2, requests: {question: 1, answer: 1}} | rate: is no field of a workload; it has summary, load,",
        "{load: 1, requests: {question: 1}} | requests.answer: is missing; set a number",
        "{load: 1, requests: {question: 1, answer: 1, turns: 2}} | requests.turns: is no field of requests; it has system, question, answer",
        "{load: 1, requests: {question: {mean: 3}, answer: 1}} | requests.question.shape: is missing; set one of [either, exponential, geometric, log-normal, normal], or write a number",
        "{load: 1, requests: {question: {shape: either, usual: 3, share: 1.5}, answer: 1}} | requests.question.share: is 1.5; set the share of the rare ones, above 0 to 1",
        "{load: 1, requests: {question: {shape: either, usual: 3, share: 0.5}, answer: 1}} | requests.question.rare: is missing; set a number",
        "{load: 1, requests: {question: {shape: normal, mean: 3}, answer: 1}} | requests.question.sd: is missing; set a number",
        "{load: 1, requests: {question: {shape: exponential, mean: 3, sd: 1}, answer: 1}} | requests.question.sd: is no field of a exponential; it has shape, mean, least, most",
        "{load: 1, requests: {question: {shape: geometric, mean: 0.5}, answer: 1}} | requests.question.mean: is 0.5; set 1 or more",
        "{load: 1, requests: {question: {shape: exponential, mean: 3, least: 5, most: 4}, answer: 1}} | requests.question.most: is 4.0; set no less than least, 5.0",
        "{load: 1, length: 60, requests: {question: 1, answer: 1}} | length: is \"60\"; set a time, as in 10s",
        "{load: 1, length: 60s, warmUp: 60s, requests: {question: 1, answer: 1}} | warmUp: is 60.0 s; set less than the length, 60.0 s",
        "{load: 1, burstiness: 30, requests: {question: 1, answer: 1}} | burstiness: is 30.0; set above 0 to 20",
        "{load: 1, requests: 3} | requests: is \"3\"; write fields, as in NAME: VALUE",
      })
  void whatIsWrongIsToldWithItsFieldAndWhatHelps(String text, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> read(text))
        .withMessageStartingWith("mine.yaml")
        .withMessageContaining(": " + message);
  }
}
