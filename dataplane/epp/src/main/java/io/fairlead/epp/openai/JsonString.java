package io.fairlead.epp.openai;

import java.nio.charset.StandardCharsets;

/** Text as a JSON string. */
final class JsonString {

  private JsonString() {}

  /** The text in quotes, escaped where JSON asks for it, in UTF-8. */
  static byte[] of(String text) {
    StringBuilder json = new StringBuilder(text.length() + 16).append('"');
    append(json, text);
    return json.append('"').toString().getBytes(StandardCharsets.UTF_8);
  }

  /** Whether these bytes are this ASCII text. */
  static boolean same(String ascii, byte[] bytes, int from, int to) {
    if (ascii.length() != to - from) {
      return false;
    }
    for (int i = 0; i < ascii.length(); i++) {
      if (bytes[from + i] != ascii.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  static void append(StringBuilder json, String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (c < 0x20 || Character.isSurrogate(c)) {
        json.append("\\u");
        for (int shift = 12; shift >= 0; shift -= 4) {
          json.append(Character.forDigit(c >> shift & 0xf, 16));
        }
      } else {
        json.append(c);
      }
    }
  }
}
