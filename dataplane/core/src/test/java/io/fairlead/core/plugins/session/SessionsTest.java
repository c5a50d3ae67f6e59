package io.fairlead.core.plugins.session;

import static io.fairlead.core.plugins.Settings.assertRefused;
import static io.fairlead.core.plugins.Settings.make;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.plugins.TestCandidates;
import io.fairlead.core.plugins.TestEndpoint;
import io.fairlead.core.plugins.TestRequest;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.HeaderWriter;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Scorer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SessionsTest {

  private static final long SECOND = 1_000_000_000L;

  private final Map<String, String> responseHeaders = new HashMap<>();
  private final TestCandidates candidates = new TestCandidates();

  private final HeaderWriter headers =
      new HeaderWriter() {
        @Override
        public void request(String name, String value) {
          throw new AssertionError("set request header " + name);
        }

        @Override
        public void response(String name, String value) {
          responseHeaders.put(name, value);
        }
      };

  SessionsTest() {
    for (int i = 0; i < 3; i++) {
      candidates.add(new TestEndpoint("pod-" + i + "-rank-0"));
    }
  }

  @Test
  void tokenOfTheResponseBringsTheNextRequestBack() {
    Scorer scorer = make(Scorer.class, "session-affinity-scorer");
    joinAll(scorer);
    TestRequest first = new TestRequest(1, 0);
    assertThat(scores(scorer, first)).containsExactly(0, 0, 0);
    dispatched(scorer, first, 1);

    TestRequest second = new TestRequest(2, 0);
    second.headers.putAll(responseHeaders);
    assertThat(responseHeaders).containsOnlyKeys("x-session-token");
    assertThat(scores(scorer, second)).containsExactly(0, 1, 0);
  }

  @Test
  void tokenIsNotTrusted() {
    Scorer scorer = make(Scorer.class, "session-affinity-scorer");
    joinAll(scorer);
    // Not base 64; a name nobody has; one that somebody has; far too long.
    Map<String, double[]> expected =
        Map.of(
            "%%%",
            new double[] {0, 0, 0},
            "bm9ib2R5",
            new double[] {0, 0, 0},
            "cG9kLTItcmFuay0w",
            new double[] {0, 0, 1},
            "A".repeat(100_000),
            new double[] {0, 0, 0});
    expected.forEach(
        (token, scores) -> {
          TestRequest request = new TestRequest(1, 0);
          request.headers.put("x-session-token", token);
          assertThat(scores(scorer, request)).containsExactly(scores);
        });
  }

  @Test
  void tokenMeansAnEndpointByNameWhateverItsSlot() {
    Scorer scorer = make(Scorer.class, "session-affinity-scorer");
    joinAll(scorer);
    TestRequest request = new TestRequest(1, 0);
    dispatched(scorer, request, 1);
    request.headers.putAll(responseHeaders);
    // Another endpoint takes the slot over: the session is not its.
    TestEndpoint other = new TestEndpoint("other");
    other.slot = 1;
    ((Observer) scorer).joined(other);
    assertThat(scores(scorer, request)).containsExactly(0, 0, 0);
    // The same comes back in another slot.
    candidates.endpoint(1).slot = 7;
    ((Observer) scorer).joined(candidates.get(1));
    assertThat(scores(scorer, request)).containsExactly(0, 1, 0);
  }

  @Test
  void namedSessionStaysWhereItWentAndNewOnesGoWhereTheFewestAre() {
    Scorer scorer = identified(Map.of());
    assertThat(scores(scorer, session("a", 0))).containsExactly(1, 1, 1);
    dispatched(scorer, session("a", 0), 2);
    dispatched(scorer, session("b", 0), 0);
    assertThat(responseHeaders).isEmpty();
    assertThat(scores(scorer, session("a", 1))).containsExactly(0, 0, 1);
    assertThat(scores(scorer, session("b", 1))).containsExactly(1, 0, 0);
    assertThat(scores(scorer, session("c", 1))).containsExactly(0, 1, 0);
    assertThat(scores(scorer, new TestRequest(1, 0))).containsExactly(0, 0, 0);
    // It moves when it is sent elsewhere.
    dispatched(scorer, session("a", 2), 1);
    assertThat(scores(scorer, session("a", 3))).containsExactly(0, 1, 0);
    assertThat(scores(scorer, session("c", 3))).containsExactly(0, 0, 1);
  }

  @Test
  void namedSessionEndsWhenUnusedOrWhenItsEndpointIsAnother() {
    Scorer scorer = identified(Map.of("evictionTtlSeconds", 10L));
    dispatched(scorer, session("a", 0), 2);
    dispatched(scorer, session("b", 5), 2);
    assertThat(scores(scorer, session("a", 10))).containsExactly(0, 0, 1);
    assertThat(scores(scorer, session("a", 11))).containsExactly(1, 1, 0);
    assertThat(scores(scorer, session("b", 15))).containsExactly(0, 0, 1);
    ((Observer) scorer).joined(candidates.get(2));
    assertThat(scores(scorer, session("b", 15))).containsExactly(1, 1, 1);
  }

  @Test
  void namedSessionsAreBoundedInNumber() {
    IdSessions sessions = new IdSessions(List.of("x-session-id"), 0, 100);
    for (int i = 0; i < 10_000; i++) {
      sessions.dispatched(session("s" + i, i), candidates.get(i % 3), headers);
      assertThat(sessions.size()).isEqualTo(Math.min(100, i + 1));
    }
    assertThat(sessions.bound(session("s9900", 0))).isEqualTo(0);
    assertThat(sessions.bound(session("s9899", 0))).isEqualTo(Sessions.NONE);
    // 100 are left, 34, 33 and 33: the counts are those of what is remembered.
    double[] scores = new double[3];
    sessions.scoreUnbound(session("new", 0), candidates, scores);
    assertThat(scores).containsExactly(0, 1, 1);
  }

  @Test
  void firstSourceThatIsThereNamesTheSession() {
    Scorer scorer =
        identified(
            Map.of("sources", List.of(Map.of("header", "X-User"), Map.of("header", "x-chat"))));
    TestRequest chat = new TestRequest(1, 0);
    chat.headers.put("x-chat", "c");
    dispatched(scorer, chat, 1);
    assertThat(scores(scorer, chat)).containsExactly(0, 1, 0);
    chat.headers.put("x-user", "u");
    assertThat(scores(scorer, chat)).containsExactly(1, 0, 1);
  }

  @Test
  void filterKeepsTheBoundOneOnlyWhileItIsACandidate() {
    Filter filter = make(Filter.class, "session-affinity-filter", Map.of("strategy", "session_id"));
    boolean[] keep = {true, true, true};
    filter.filter(session("a", 0), candidates, keep);
    assertThat(keep).containsOnly(true);
    ((Observer) filter).dispatched(session("a", 0), candidates.get(1), headers);
    filter.filter(session("a", 1), candidates, keep);
    assertThat(keep).containsExactly(false, true, false);
    TestCandidates others = new TestCandidates().add(new TestEndpoint("x"), 0);
    boolean[] kept = {true};
    filter.filter(session("a", 1), others, kept);
    assertThat(kept).containsExactly(true);
  }

  @Test
  void settingsThatMeanNothingAreRefused() {
    for (String type : List.of("session-affinity-scorer", "session-affinity-filter")) {
      assertRefused(type, Map.of("strategy", "guess"), "strategy");
      assertRefused(
          type,
          Map.of("encodedEndpointHeaderConfig", Map.of("header", "x session")),
          "encodedEndpointHeaderConfig.header");
      assertRefused(type, Map.of("profileName", "prefill"), "profileName");
      assertRefused(type, Map.of("sessionIdConfig", Map.of()), "sessionIdConfig");
      assertRefused(
          type,
          Map.of("strategy", "session_id", "encodedEndpointHeaderConfig", Map.of()),
          "encodedEndpointHeaderConfig");
      assertRefused(
          type,
          Map.of(
              "strategy",
              "session_id",
              "sessionIdConfig",
              Map.of("sources", List.of(Map.of("attribute", "sid")))),
          "sessionIdConfig.sources[0].attribute");
    }
  }

  private Scorer identified(Map<String, Object> config) {
    Scorer scorer =
        make(
            Scorer.class,
            "session-affinity-scorer",
            Map.of("strategy", "session_id", "sessionIdConfig", config));
    joinAll(scorer);
    return scorer;
  }

  private void joinAll(Scorer scorer) {
    for (int i = 0; i < candidates.size(); i++) {
      ((Observer) scorer).joined(candidates.get(i));
    }
  }

  private void dispatched(Scorer scorer, TestRequest request, int candidate) {
    ((Observer) scorer).dispatched(request, candidates.get(candidate), headers);
  }

  private static TestRequest session(String id, long seconds) {
    TestRequest request = new TestRequest(1, 0);
    request.headers.put("x-session-id", id);
    request.now = seconds * SECOND;
    return request;
  }

  private double[] scores(Scorer scorer, TestRequest request) {
    double[] scores = {77, 77, 77};
    scorer.score(request, candidates, scores);
    return scores;
  }
}
