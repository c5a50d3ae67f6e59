package io.fairlead.cli.explain;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a person reads of a receipt. */
class ReceiptTextTest {

  private static final String TWICE =
      """
      {"version": 1, "id": "r-1", "arrived": "2026-11-24T05:00:00Z", "model": "chat", "outcome": "failed",
       "priority": 1, "criticality": "Standard", "flow": "team-a", "promptTokens": 1200,
       "waited": true, "streamed": true, "beforeSentMillis": 40.2, "firstTokenMillis": 250.4,
       "firstTokenErrorMillis": -9.26, "tookMillis": 2310,
       "decisions": [
        {"at": "2026-11-24T05:00:00Z", "configHash": "abcdef0123456789", "endpoint": "b", "profile": "only",
         "excluded": [{"endpoint": "full", "why": "is full"}],
         "candidates": [
          {"endpoint": "a", "inFlight": 3, "waiting": 1, "kvUsage": 0.5, "cachedTokens": 0, "scrapeAgeMillis": 12.4, "health": "in use"},
          {"endpoint": "b", "inFlight": 0, "waiting": 0, "cachedTokens": 1100, "health": "in use"}],
         "moreCandidates": 5,
         "profiles": [
          {"name": "only", "picker": "max-score-picker", "preference": "", "picked": ["b"],
           "rejected": [{"endpoint": "iron", "by": "gold"}],
           "scored": [
            {"endpoint": "a", "score": 1.5, "scores": [
              {"plugin": "queue", "score": 0.5, "weight": 2}, {"plugin": "kv", "score": 0.5, "weight": 1}]},
            {"endpoint": "b", "score": 3, "scores": [
              {"plugin": "queue", "score": 1, "weight": 2}, {"plugin": "kv", "score": 1, "weight": 1}]}]}]},
        {"at": "2026-11-24T05:00:01Z", "configHash": "abcdef0123456789", "endpoint": "a", "profile": "only",
         "excluded": [{"endpoint": "b", "why": "failed this request before"}],
         "candidates": [{"endpoint": "a", "inFlight": 3, "waiting": 1, "cachedTokens": 0, "health": "in use"}],
         "moreCandidates": 0,
         "profiles": [
          {"name": "only", "picker": "random-picker", "preference": "", "picked": ["a"], "rejected": [],
           "scored": [{"endpoint": "a", "score": 0, "scores": []}]}]}]}
      """;

  @Test
  void tellsWhatMayHaveBeenOld() throws IOException {
    String kept =
        TWICE.replaceFirst(
            "(\"configHash\": \"[a-f0-9]*\",)",
            "$1 \"fromCheckpoint\": {\"config\": false, \"endpoints\": true},");
    assertThat(text(kept))
        .containsOnlyOnce(
            "config abcdef012345\n  endpoints from the picker's checkpoint, perhaps old: nobody had"
                + " told of newer ones\n");
    assertThat(text(kept.replace("\"config\": false", "\"config\": true")))
        .contains("  config and endpoints from the picker's checkpoint");
    assertThat(text(kept.replace("false, \"endpoints\": true", "true, \"endpoints\": false")))
        .contains("  config from the picker's checkpoint");
  }

  private static String text(String json) throws IOException {
    ReceiptPage page = JsonMapper.builder().build().readValue(json, ReceiptPage.class);
    return String.join("\n", ReceiptText.lines(page, List.of()));
  }

  @Test
  void tellsEachSendingWinnerFirst() throws IOException {
    assertThat(text(TWICE))
        .isEqualTo(
            """
            request r-1 for chat, 1,200 prompt tokens, Standard, streamed
              failed after 2,310 ms
              first token after 250 ms, 9.3 ms sooner than expected
              waited for room 40 ms, priority 1, flow team-a

            attempt 1, 2026-11-24T05:00:00Z: sent to b of 8 endpoints, by profile only of config abcdef012345

              ENDPOINT    SUM  queue x 2  kv x 1  IN FLIGHT  QUEUE  KV USE  CACHED    SCRAPED
              b         3.000      1.000   1.000          0      0       -   1,100          -
              a         1.500      0.500   0.500          3      1    50 %       0  12 ms ago

              why not the others
                a: queue says 0.500 instead of 1.000, kv says 0.500 instead of 1.000
                5 others: did no better than these
                iron: was rejected by gold
                full: is full

            attempt 2, 2026-11-24T05:00:01Z: sent to a of 2 endpoints, by profile only of config abcdef012345

              ENDPOINT    SUM  IN FLIGHT  QUEUE  KV USE  CACHED  SCRAPED
              a         0.000          3      1       -       0        -

              why not the others
                b: failed this request before""");
  }

  @Test
  void tellsHowAnAttemptFailedAndWhoWasOut() throws IOException {
    String failed =
        TWICE
            .replace(
                "\"moreCandidates\": 5,",
                "\"moreCandidates\": 5, \"failed\": {\"how\": \"died\", \"why\":"
                    + " \"breaks connections before it answers\", \"afterMillis\": 12.3},")
            .replace("\"decisions\":", "\"notSentAgain\": \"no other endpoint\", \"decisions\":")
            .replace(
                "\"cachedTokens\": 1100, \"health\": \"in use\"",
                "\"cachedTokens\": 1100, \"health\": \"out\", \"healthSince\": \"then\","
                    + " \"healthReason\": \"refuses connections\"")
            .replace(
                "\"why\": \"failed this request before\"",
                "\"why\": \"failed this request before\", \"health\": \"out\","
                    + " \"healthSince\": \"then\", \"healthReason\": \"dies\"");
    assertThat(text(failed))
        .contains(
            "  was not sent again: no other endpoint\n",
            """
            \n  failed after 12 ms: breaks connections before it answers
              it was out, since then: refuses connections; one that is out is used where too few others are left

              ENDPOINT    SUM  queue x 2  kv x 1  IN FLIGHT  QUEUE  KV USE  CACHED    SCRAPED  HEALTH
              b         3.000      1.000   1.000          0      0       -   1,100          -     out
              a         1.500      0.500   0.500          3      1    50 %       0  12 ms ago  in use
            """,
            "    b: failed this request before; out since then: dies");
    assertThat(text(failed.replace("\"health\": \"out\"", "\"health\": \"on trial\"")))
        .contains("  it was on trial, since then: refuses connections; it was to be tried\n");
  }

  @Test
  void countsOthersWhereManyWereLeftOut() throws IOException {
    String many =
        IntStream.range(0, 200)
            .mapToObj(i -> "{\"endpoint\": \"e%d\", \"why\": \"is out\"}".formatted(i))
            .collect(Collectors.joining(","));
    String text = text(TWICE.replace("{\"endpoint\": \"full\", \"why\": \"is full\"}", many));
    assertThat(text).contains("    e0, e1, e2, e3, e4, e5, e6, e7 and 192 more: each is out\n");
    String different =
        IntStream.range(0, 200)
            .mapToObj(
                i ->
                    "{\"endpoint\": \"e%d\", \"why\": \"is full\", \"saturation\": %d, \"fullFrom\": 1}"
                        .formatted(i, i))
            .collect(Collectors.joining(","));
    assertThat(text(TWICE.replace("{\"endpoint\": \"full\", \"why\": \"is full\"}", different)))
        .contains("at 1800 %; this request goes below 100 %)\n    181 others: each is full\n");
    assertThat(text.lines().count()).isLessThan(50);
  }

  @Test
  void tellsAnAnswersStatusAndWhatAFilterKeeps() throws IOException {
    String told =
        TWICE
            .replace("\"moreCandidates\": 5,", "\"moreCandidates\": 5, \"status\": 429,")
            .replace(
                "\"by\": \"gold\"",
                "\"by\": \"gold\", \"keeps\": \"endpoints labelled tier=gold\"");
    assertThat(text(told))
        .contains(
            "  its answer had status 429\n",
            "    iron: was rejected by gold, which keeps endpoints labelled tier=gold\n");
  }

  @Test
  void saysWhatWasPreferredToAScore() throws IOException {
    String drawn =
        TWICE
            .replace("\"preference\": \"\"", "\"preference\": \"the least busy\"")
            .replace("\"score\": 1.5,", "\"score\": 3.5,");
    assertThat(text(drawn))
        .contains("  preferred: the least busy\n", "    a: scored higher, but see above\n");
    assertThat(text(TWICE.replace("\"score\": 1.5,", "\"score\": 3.5,")))
        .contains("    a: scored higher, but max-score-picker picked by more than scores\n");
  }

  /** Of two scorers one has a cost: its terms are told where it counts most against an endpoint. */
  @Test
  void tellsTheTermsOfACostOnlyWhereThatDecided() throws IOException {
    String twoScorers =
        TWICE
            .replace("\"preference\": \"\"", "\"preference\": \"\", \"costOf\": \"kv\"")
            .replace(
                "{\"endpoint\": \"a\", \"score\": 1.5,",
                "{\"endpoint\": \"a\", \"score\": 1.5, \"cost\": 9,"
                    + " \"terms\": [{\"name\": \"decoding\", \"millis\": 9, \"weight\": 1}],")
            .replace(
                "{\"endpoint\": \"b\", \"score\": 3,",
                "{\"endpoint\": \"b\", \"score\": 3, \"cost\": 1,"
                    + " \"terms\": [{\"name\": \"decoding\", \"millis\": 1, \"weight\": 1}],");
    assertThat(text(twoScorers))
        .contains("    a: queue says 0.500 instead of 1.000, kv says 0.500 instead of 1.000\n");
    String byCost =
        twoScorers
            .replace("\"plugin\": \"kv\", \"score\": 0.5", "\"plugin\": \"kv\", \"score\": -1.0")
            .replace("\"score\": 1.5,", "\"score\": 0,");
    assertThat(text(byCost))
        .contains("    a: decoding costs 8.0 ms more, queue says 0.500 instead of 1.000\n");
    assertThat(text(byCost.replace("\"costOf\": \"kv\"", "\"costOf\": \"queue\"")))
        .contains("    a: kv says -1.000 instead of 1.000, queue says 0.500 instead of 1.000\n");
  }

  @Test
  void tellsOfARequestThatWasNeverSent() throws IOException {
    assertThat(
            text(
                """
                {"version": 1, "id": "r-2", "arrived": "2026-11-24T05:00:00Z", "model": "chat",
                 "outcome": "saturated", "waited": true, "streamed": false, "tookMillis": 5000,
                 "decisions": []}
                """))
        .isEqualTo(
            """
            request r-2 for chat
              saturated after 5,000 ms
              waited for room
              was sent to nobody""");
  }

  /** Nobody has rejected a request whose client did not wait. */
  @Test
  void tellsOfAClientThatWentAwayWhileItsRequestWaited() throws IOException {
    assertThat(
            text(
                """
                {"version": 1, "id": "r-4", "arrived": "then", "model": "chat",
                 "nth": 2, "sameId": 3, "outcome": "disconnected", "promptTokens": 1, "criticality": "Critical",
                 "waited": true, "streamed": false, "tookMillis": 499, "decisions": [],
                 "refusals": [
                  {"at": "then", "configHash": "abcdef0123456789", "endpoints": [
                   {"endpoint": "a", "why": "is full"}]}]}
                """))
        .isEqualTo(
            """
            request r-4 for chat, 1 prompt token, Critical
              is number 2 of 3 with this id, the newest is 1; --nth tells of another
              disconnected after 499 ms
              its client went away
              waited for room
              was sent to nobody

            then: none of 1 endpoint got it then, under config abcdef012345
                a: is full""");
  }

  @Test
  void tellsOfEachEndpointWhyNobodyGotARequest() throws IOException {
    assertThat(
            text(
                """
                {"version": 1, "id": "r-3", "arrived": "2026-11-24T05:00:00Z", "model": "chat",
                 "outcome": "queue_timeout", "promptTokens": 12, "criticality": "Sheddable",
                 "waited": true, "streamed": false, "tookMillis": 30000, "decisions": [],
                 "refusals": [
                  {"at": "2026-11-24T05:00:00Z", "configHash": "abcdef0123456789", "endpoints": [
                   {"endpoint": "a", "why": "is full", "limit": "KV cache", "saturation": 1.25, "fullFrom": 1}]},
                  {"at": "2026-11-24T05:00:30Z", "configHash": "abcdef0123456789", "endpoints": [
                   {"endpoint": "a", "why": "is out", "health": "out",
                    "healthSince": "2026-11-24T05:00:12Z", "healthReason": "refused the connection"},
                   {"endpoint": "b", "why": "has room, but others were to go first"}]}]}
                """))
        .isEqualTo(
            """
            request r-3 for chat, 12 prompt tokens, Sheddable
              queue_timeout after 30,000 ms
              waited for room
              was sent to nobody

            2026-11-24T05:00:00Z: none of 1 endpoint got it then, under config abcdef012345
                a: is full, by KV cache (at 125 %; this request goes below 100 %)

            2026-11-24T05:00:30Z: rejected, since of 2 endpoints none got it, under config abcdef012345
                a: is out, since 2026-11-24T05:00:12Z: refused the connection
                b: has room, but others were to go first""");
  }
}
