package io.fairlead.epp.handover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.handover.News;
import io.fairlead.core.handover.SentRequest;
import io.fairlead.core.handover.SentRequest.Load;
import io.fairlead.core.handover.SentRequest.Prompt;
import io.fairlead.core.handover.SentRequests;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What another has told is what is heard, as a whole or not at all. */
final class HeardNewsTest {

  private static final int ALL_AT_ONCE = 1_000;

  private static final EndpointSpec AT = new EndpointSpec("a", "pod", "10.0.0.1", 8000, Map.of());
  private static final Load LOAD = new Load(100, 60, 2, true, false, true);
  private static final Prompt PROMPT = new Prompt(9, new long[] {1, 2, 3}, 2);

  private static final News NEWS =
      new News(
          true,
          List.of(
              new SentRequests(
                  AT,
                  5.5,
                  List.of(
                      new SentRequest(7, 10, LOAD, true, null, PROMPT),
                      new SentRequest(8, 9, LOAD, false, new News.End(1, 30), Prompt.NONE)))),
          List.of(new News.Computed(5, 11)),
          List.of(new News.Over(6, new News.End(12, -1))));

  private static byte[] frame() {
    return frame(NEWS);
  }

  private static byte[] frame(News news) {
    FrameWriter writer = new FrameWriter();
    writer.config("config", "hashing");
    writer.news(42, news);
    return writer.take();
  }

  @Test
  void whatWasToldIsHeard() throws IOException {
    HeardNews heard = HeardNews.read(frame(), "hashing", ALL_AT_ONCE);
    assertThat(heard.picker()).isEqualTo(42);
    assertThat(heard.prompts()).isEqualTo(1);
    assertThat(heard.news()).hasSize(1);
    News news = heard.news().getFirst();
    assertThat(news.anew()).isTrue();
    assertThat(news.computed()).isEqualTo(NEWS.computed());
    assertThat(news.over()).isEqualTo(NEWS.over());
    SentRequests sent = news.sent().getFirst();
    assertThat(sent.endpoint()).isEqualTo(AT);
    assertThat(sent.startedAt()).isEqualTo(5.5);
    assertThat(sent.requests())
        .usingRecursiveComparison()
        .ignoringFields("prompt")
        .isEqualTo(NEWS.sent().getFirst().requests());
    assertThat(sent.requests().getFirst().prompt().salted()).containsExactly(PROMPT.salted());
  }

  /** What is hashed in another way says nothing of caches, and what it takes up counts. */
  @Test
  void promptsOfAnotherHashingAreOfNoUse() throws IOException {
    SentRequest request =
        HeardNews.read(frame(), "another", ALL_AT_ONCE)
            .news()
            .getFirst()
            .sent()
            .getFirst()
            .requests()
            .getFirst();
    assertThat(request.prompt().count()).isZero();
    assertThat(request.load()).isEqualTo(LOAD);
  }

  /** Each piece takes little of the loop, and only the first one is of those told anew. */
  @Test
  void comesInPiecesAndInOrder() throws IOException {
    List<News> pieces = HeardNews.read(frame(), "hashing", 1).news();
    assertThat(pieces.stream().filter(News::anew)).containsExactly(pieces.getFirst());
    assertThat(
            pieces.stream()
                .flatMap(piece -> piece.sent().stream())
                .flatMap(sent -> sent.requests().stream())
                .map(SentRequest::number))
        .containsExactly(7L, 8L);
    assertThat(pieces.stream().flatMap(piece -> piece.over().stream()))
        .containsExactlyElementsOf(NEWS.over());
  }

  /** A request may go on with what another has left that ended before it was sent. */
  @Test
  void whatHappenedBeforeIsInNoLaterPiece() throws IOException {
    EndpointSpec other = new EndpointSpec("b", "pod", "10.0.0.2", 8000, Map.of());
    News news =
        new News(
            false,
            List.of(
                new SentRequests(AT, 5.5, List.of(sent(11, 400), sent(12, 200))),
                new SentRequests(other, 6.5, List.of(sent(13, 300), sent(14, 100)))),
            List.of(new News.Computed(5, 350), new News.Computed(6, 50)),
            List.of(new News.Over(6, new News.End(250, 7)), new News.Over(5, new News.End(20, 7))));
    List<String> happened = new ArrayList<>();
    for (News piece : HeardNews.read(frame(news), "hashing", 1).news()) {
      for (SentRequests at : piece.sent()) {
        at.requests().forEach(one -> happened.add(one.number() + " to " + at.endpoint().name()));
      }
      piece.computed().forEach(one -> happened.add(one.number() + " computed"));
      piece.over().forEach(one -> happened.add(one.number() + " over"));
    }
    assertThat(happened)
        .containsExactly(
            "11 to a",
            "5 computed",
            "13 to b",
            "6 over",
            "12 to a",
            "14 to b",
            "6 computed",
            "5 over");
  }

  private static SentRequest sent(long number, long age) {
    return new SentRequest(number, age, LOAD, false, null, PROMPT);
  }

  @Test
  void anythingElseIsRefused() {
    byte[] frame = frame();
    byte[] more = Arrays.copyOf(frame, frame.length + 1);
    more[frame.length] = Wire.HELD;
    assertThatThrownBy(() -> HeardNews.read(more, "hashing", ALL_AT_ONCE))
        .isInstanceOf(IOException.class);
    byte[] cut = Arrays.copyOf(frame, frame.length - 1);
    assertThatThrownBy(() -> HeardNews.read(cut, "hashing", ALL_AT_ONCE))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> HeardNews.read(new byte[0], "hashing", ALL_AT_ONCE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("nobody");
  }

  /** No picker sends such a request, and it would fill the endpoint for all who hear of it. */
  @Test
  void moreAnswersThanARequestMayHaveAreRefused() {
    Load many = new Load(100, 60, RequestFacts.MOST_ANSWERS + 1, true, false, true);
    SentRequest request = new SentRequest(7, 10, many, true, null, Prompt.NONE);
    News news =
        new News(true, List.of(new SentRequests(AT, 5.5, List.of(request))), List.of(), List.of());
    assertThatThrownBy(() -> HeardNews.read(frame(news), "hashing", ALL_AT_ONCE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("1025 answers");
  }
}
