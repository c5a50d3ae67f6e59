package io.fairlead.cli.explain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Receipts that were saved, and edited or cut off since. */
class ReceiptReaderTest {

  private static final String WHOLE =
      """
      {"version": 1, "id": "r-1", "arrived": "then", "model": "chat", "outcome": "completed",
       "decisions": [
        {"at": "then", "configHash": "abc", "endpoint": "b", "profile": "only",
         "excluded": [{"endpoint": "c", "why": "is full"}],
         "candidates": [{"endpoint": "b", "health": "in use"}], "moreCandidates": 0,
         "profiles": [
          {"name": "only", "picker": "p", "preference": "", "picked": ["b"],
           "rejected": [{"endpoint": "d", "by": "gold"}],
           "scored": [{"endpoint": "b", "score": 3, "scores": [{"plugin": "q", "score": 1, "weight": 2}]},
                      {"endpoint": "a", "score": 1, "scores": [{"plugin": "q", "score": 1, "weight": 2}]}]}]}],
       "refusals": [{"at": "then", "configHash": "abc", "endpoints": [{"endpoint": "c", "why": "is out"}]}]}
      """;

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private static List<String> read(String text) throws IOException {
    return ReceiptText.lines(new ReceiptReader("saved.json").receipt(text), List.of());
  }

  @Test
  void readsAWholeOne() throws IOException {
    assertThat(read(WHOLE)).contains("request r-1 for chat");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "\"decisions\": [ | \"decided\": [ | decisions: is missing",
        "\"decisions\": [ | \"decisions\": 3, \"x\": [ | decisions: expected a list",
        "\"endpoint\": \"b\", \"profile\" | \"endpoint\": \"x\", \"profile\" | decisions[0].endpoint: x is not among those that were scored",
        "\"profile\": \"only\" | \"profile\": \"other\" | decisions[0].profile: none of its profiles is called other",
        "\"by\": \"gold\" | \"buy\": \"gold\" | decisions[0].profiles[0].rejected[0].by: is missing",
        "\"score\": 3, | \"score\": \"high\", | decisions[0].profiles[0].scored[0].score: expected a number",
        "{\"endpoint\": \"a\", \"score\": 1 | {\"endpoint\": \"b\", \"score\": 1 | decisions[0].profiles: b is scored twice",
        "{\"version\" | {}{\"version\" | something follows its end",
        "\"version\": 1 | \"version\": null | version: is missing",
      })
  void saysWhatIsWrongAndWhere(String right, String wrong, String problem) {
    assertThat(WHOLE).contains(right);
    assertThatThrownBy(() -> read(WHOLE.replace(right, wrong)))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("saved.json: is no receipt: " + problem)
        .hasMessageNotContaining("fairlead");
  }

  /** Whatever is taken out, or is of another kind: it is told, or refused in words. */
  @Test
  void neitherAFieldLessNorOneOfAnotherKindDoesHarm() throws IOException {
    List<String> broken = new ArrayList<>();
    JsonNode whole = JSON.readTree(WHOLE);
    int places = places(whole).size();
    assertThat(places).isGreaterThan(50);
    for (int place = 0; place < places; place++) {
      for (String other : List.of("", "null", "7", "\"x\"", "[]", "{}", "[null]", "true")) {
        JsonNode edited = whole.deepCopy();
        Place at = places(edited).get(place);
        if (other.isEmpty()) {
          at.remove();
        } else {
          at.set(JSON.readTree(other));
        }
        try {
          assertThat(read(edited.toString())).isNotEmpty();
        } catch (IOException e) {
          String told = Objects.requireNonNull(e.getMessage());
          if (!told.startsWith("saved.json: ") || told.contains("io.")) {
            broken.add(told);
          }
        } catch (RuntimeException e) {
          broken.add(e + " of " + edited);
        }
      }
    }
    assertThat(broken).isEmpty();
  }

  /** A value in a page: by name in an object, by number in a list. */
  private record Place(JsonNode in, String name, int number) {

    void remove() {
      if (in instanceof ObjectNode object) {
        object.remove(name);
      } else {
        ((ArrayNode) in).remove(number);
      }
    }

    void set(JsonNode value) {
      if (in instanceof ObjectNode object) {
        object.set(name, value);
      } else {
        ((ArrayNode) in).set(number, value);
      }
    }
  }

  private static List<Place> places(JsonNode in) {
    List<Place> places = new ArrayList<>();
    in.fieldNames()
        .forEachRemaining(
            name -> {
              places.add(new Place(in, name, 0));
              places.addAll(places(in.get(name)));
            });
    for (int i = 0; in.isArray() && i < in.size(); i++) {
      places.add(new Place(in, "", i));
      places.addAll(places(in.get(i)));
    }
    return places;
  }
}
