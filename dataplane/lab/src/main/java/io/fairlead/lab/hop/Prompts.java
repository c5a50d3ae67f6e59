package io.fairlead.lab.hop;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Requests of a size, of which some share all but their ends, as in a warm pool. */
final class Prompts {

  private static final int CONVERSATIONS = 16;
  private static final int QUESTIONS = 4;
  private static final int QUESTION_BYTES = 64;
  private static final String ENDS = "\"}]}";

  private Prompts() {}

  /**
   * Whole requests, ready to be sent.
   *
   * @param size of the body in bytes, about
   * @param chunks events of the answer; 0 for an answer in one piece
   * @param everyMillis between two of them
   */
  static List<byte[]> requests(int size, int chunks, int everyMillis) {
    return bodies(size, chunks > 0).stream()
        .map(body -> request(body, chunks, everyMillis))
        .toList();
  }

  /** One whole request, answered in one piece. */
  static byte[] request(int size) {
    return request(body(size, false, 0), 0, 0);
  }

  /** The bodies alone. */
  static List<byte[]> bodies(int size, boolean stream) {
    List<byte[]> bodies = new ArrayList<>();
    for (int i = 0; i < CONVERSATIONS * QUESTIONS; i++) {
      bodies.add(body(size, stream, i));
    }
    return bodies;
  }

  private static byte[] body(int size, boolean stream, int number) {
    String begins =
        "{\"model\":\"load-model\",\"stream\":%s,\"messages\":[{\"role\":\"user\",\"content\":\""
            .formatted(stream);
    int text = Math.max(QUESTION_BYTES, size - begins.length() - ENDS.length());
    String body =
        begins
            + words(number % CONVERSATIONS, text - QUESTION_BYTES)
            + words(1_000L + number, QUESTION_BYTES)
            + ENDS;
    return body.getBytes(US_ASCII);
  }

  private static byte[] request(byte[] body, int chunks, int everyMillis) {
    String answer =
        chunks == 0
            ? ""
            : "%s: %d\r\n%s: %d\r\n"
                .formatted(CannedServer.CHUNKS, chunks, CannedServer.EVERY_MILLIS, everyMillis);
    byte[] head =
        ("POST /v1/chat/completions HTTP/1.1\r\nhost: load\r\ncontent-type: application/json\r\n"
                + answer
                + "content-length: "
                + body.length
                + "\r\n\r\n")
            .getBytes(US_ASCII);
    byte[] all = new byte[head.length + body.length];
    System.arraycopy(head, 0, all, 0, head.length);
    System.arraycopy(body, 0, all, head.length, body.length);
    return all;
  }

  private static String words(long seed, int bytes) {
    SplittableRandom random = new SplittableRandom(seed);
    StringBuilder text = new StringBuilder(bytes);
    while (text.length() < bytes) {
      text.append(text.length() % 6 == 5 ? ' ' : (char) ('a' + random.nextInt(26)));
    }
    return text.toString();
  }
}
