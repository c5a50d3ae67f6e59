package io.fairlead.epp.corpus;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fairlead.core.Usage;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * The files {@code corpus/requests.jsonl} and {@code corpus/answers.jsonl}: a case on each line.
 *
 * <p>In a case's {@code body}, {@code @} is where the model is named that a frontend replaces,
 * {@code #} where a name stands that it must leave alone, {@code %PAD%} so many bytes of text,
 * {@code %BAD%} bytes that are no UTF-8. The model {@value #ASKED} is served as {@value #TARGET}.
 */
public final class Corpus {

  public static final String ASKED = "chat";
  public static final String TARGET = "llama-v2";

  /** Up to this size a body is cut everywhere. */
  private static final int SMALL = 800;

  private static final int RANDOM_CUTS = 20;
  private static final ObjectMapper JSON = new ObjectMapper();

  private Corpus() {}

  /**
   * A request's body.
   *
   * @param outcome {@code ok}, or the code of the error that it is refused with
   */
  @SuppressWarnings("ArrayRecordComponent") // read by tests, never compared
  public record Request(String name, byte[] sent, byte[] forwarded, String outcome) {
    public boolean isGood() {
      return outcome.equals("ok");
    }

    @Override
    public String toString() {
      return name;
    }
  }

  /** An answer's body, of a request for {@link #ASKED}. */
  @SuppressWarnings("ArrayRecordComponent") // read by tests, never compared
  public record Answer(
      String name, String contentType, byte[] body, byte[] delivered, Usage usage, String outcome) {
    public boolean isStream() {
      return contentType.startsWith("text/event-stream");
    }

    @Override
    public String toString() {
      return name;
    }
  }

  public static List<Request> requests() {
    return read(
        "requests",
        line -> {
          String asked = line.path("asked").asText("\"" + ASKED + "\"");
          String body = padded(line);
          return new Request(
              line.path("name").asText(),
              bytes(body, asked, "\"" + ASKED + "\""),
              bytes(body, "\"" + TARGET + "\"", "\"" + ASKED + "\""),
              line.path("outcome").asText());
        });
  }

  public static List<Answer> answers() {
    return read(
        "answers",
        line -> {
          String body =
              padded(line).repeat(line.path("repeat").asInt(1)) + line.path("then").asText();
          JsonNode usage = line.path("usage");
          return new Answer(
              line.path("name").asText(),
              line.path("type").asText(),
              bytes(body, "\"" + TARGET + "\"", "\"" + TARGET + "\""),
              bytes(body, "\"" + ASKED + "\"", "\"" + TARGET + "\""),
              new Usage(usage.path(0).asInt(), usage.path(1).asInt(), usage.path(2).asInt()),
              line.path("outcome").asText("COMPLETED"));
        });
  }

  /** Offsets to cut a body at: all of a small one, some of a larger one, the same each time. */
  public static int[] cuts(byte[] body) {
    if (body.length <= SMALL) {
      return IntStream.rangeClosed(0, body.length).toArray();
    }
    return new Random(body.length).ints(RANDOM_CUTS, 0, body.length + 1).toArray();
  }

  private static String padded(JsonNode line) {
    return line.path("body").asText().replace("%PAD%", "x".repeat(line.path("pad").asInt(0)));
  }

  private static byte[] bytes(String body, String named, String lookAlike) {
    byte[] bytes = body.replace("@", named).replace("#", lookAlike).getBytes(UTF_8);
    int bad = new String(bytes, ISO_8859_1).indexOf("%BAD%");
    if (bad >= 0) {
      Arrays.fill(bytes, bad, bad + 5, (byte) 0xff);
    }
    return bytes;
  }

  private static <T> List<T> read(String file, Function<JsonNode, T> of) {
    List<T> cases = new ArrayList<>();
    try (InputStream in = Corpus.class.getResourceAsStream("/corpus/" + file + ".jsonl")) {
      if (in == null) {
        throw new IllegalStateException(file + ".jsonl is missing");
      }
      for (String line : new String(in.readAllBytes(), UTF_8).lines().toList()) {
        cases.add(of.apply(JSON.readTree(line)));
      }
      return cases;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
