package io.fairlead.epp.openai;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Test;

/** Words find what bytes find. */
class JsonWordsTest {

  /** Neighbours of what is looked for, in value or by one bit, which borrows may touch. */
  private static final byte[] NEAR = {
    '"',
    '!',
    '#',
    '\\',
    '[',
    ']',
    '{',
    '}',
    'Z',
    '^',
    '|',
    '~',
    ' ',
    0x1f,
    0,
    0x21,
    (byte) 0x80,
    (byte) 0xa2,
    (byte) 0xdb,
    (byte) 0xdc,
    (byte) 0xff,
    'a',
    '\n',
    '\t'
  };

  private interface Search {
    int in(byte[] bytes, int from, int to);
  }

  private static boolean control(int b) {
    return b < 0x20;
  }

  private static boolean text(int b) {
    return control(b) || b == '"' || b == '\\';
  }

  private static boolean structure(int b) {
    return control(b) || "\"[]{}".indexOf(b) >= 0;
  }

  private static int plainly(byte[] bytes, int from, int to, IntPredicate wanted) {
    int at = from;
    while (at < to && !wanted.test(bytes[at] & 0xff)) {
      at++;
    }
    return at;
  }

  @Test
  void agreeWithBytesWhereverTheyBeginAndEnd() {
    Random random = new Random(1);
    for (int run = 0; run < 3_000; run++) {
      byte[] bytes = new byte[random.nextInt(40)];
      random.nextBytes(bytes);
      boolean near = random.nextBoolean();
      for (int i = 0; i < bytes.length; i++) {
        if (random.nextInt(10) > 0) {
          bytes[i] = near ? NEAR[random.nextInt(NEAR.length)] : (byte) ('a' + random.nextInt(26));
        }
      }
      for (int from = 0; from <= bytes.length; from++) {
        for (int to = from; to <= bytes.length; to++) {
          check(bytes, from, to, JsonWords::control, JsonWordsTest::control);
          check(bytes, from, to, JsonWords::endOfText, JsonWordsTest::text);
          check(bytes, from, to, JsonWords::structure, JsonWordsTest::structure);
          checkWords(bytes, from, to);
        }
      }
    }
  }

  private static void check(byte[] bytes, int from, int to, Search words, IntPredicate wanted) {
    int found = words.in(bytes, from, to);
    if (found != plainly(bytes, from, to, wanted)) {
      assertThat(found).as("%s..%s of %s", from, to, bytes).isEqualTo(-1);
    }
  }

  private static void checkWords(byte[] bytes, int from, int to) {
    int found = JsonWords.endOfPlainWords(bytes, from, to);
    int plainly = plainly(bytes, from, to, b -> text(b) || b >= 0x80);
    boolean stopped = found == plainly || (found < plainly && to - found < Long.BYTES);
    assertThat(stopped).isTrue();
  }
}
