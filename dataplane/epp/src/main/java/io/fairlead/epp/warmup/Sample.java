package io.fairlead.epp.warmup;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A request of the warm-up.
 *
 * @param body a chat completion
 * @param streamed whether its answer is to be streamed
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Sample(byte[] body, boolean streamed) {

  /** What the samples ask for. */
  static final String MODEL = "warm-up";

  static final String PATH = "/v1/chat/completions";

  /**
   * Lengths of prompts in bytes. Most requests are short; the long ones are what the loops over
   * bytes are compiled for.
   */
  private static final int[] LENGTHS = {64, 256, 1_000, 4_000, 256, 32_000, 1_000, 128_000};

  private static final int OF_EACH = 8;
  private static final int SHARED = 512;

  /** Samples of all lengths, streamed and not; some begin alike. */
  static List<Sample> all() {
    SplittableRandom random = new SplittableRandom(1);
    String shared = words(random, SHARED);
    List<Sample> samples = new ArrayList<>();
    for (int i = 0; i < OF_EACH; i++) {
      for (int length : LENGTHS) {
        boolean streamed = random.nextBoolean();
        String prompt =
            length > SHARED && i % 2 == 0
                ? shared + words(random, length - SHARED)
                : words(random, length);
        samples.add(new Sample(body(prompt, streamed), streamed));
      }
    }
    return List.copyOf(samples);
  }

  private static byte[] body(String prompt, boolean streamed) {
    return """
        {"model": "%s", "stream": %s, "max_tokens": 100, "temperature": 0.7,
         "messages": [{"role": "system", "content": "Answer \\"briefly\\".\\n"},
                      {"role": "user", "content": "%s"}]}"""
        .formatted(MODEL, streamed, prompt)
        .getBytes(StandardCharsets.UTF_8);
  }

  private static String words(SplittableRandom random, int length) {
    StringBuilder text = new StringBuilder(length + 16);
    while (text.length() < length) {
      for (int i = 1 + random.nextInt(9); i > 0; i--) {
        text.append((char) ('a' + random.nextInt(26)));
      }
      text.append(random.nextInt(40) == 0 ? "\\n" : " ");
    }
    return text.toString();
  }
}
