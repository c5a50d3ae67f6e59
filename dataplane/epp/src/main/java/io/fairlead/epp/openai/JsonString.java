package io.fairlead.epp.openai;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Text as a JSON string. */
final class JsonString {

  private static final String ESCAPED = "\"\\/bfnrt";
  private static final String MEANT = "\"\\/\b\f\n\r\t";

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

  /** What the bytes between a JSON string's quotes say; null if they are broken. */
  static @Nullable String text(byte[] bytes, int from, int to) {
    String raw = new String(bytes, from, to - from, StandardCharsets.UTF_8);
    StringBuilder text = new StringBuilder(raw.length());
    for (int i = 0; i < raw.length(); i++) {
      char c = raw.charAt(i);
      if (c == '\\') {
        i++;
        int plain = i < raw.length() ? ESCAPED.indexOf(raw.charAt(i)) : -1;
        if (plain >= 0) {
          c = MEANT.charAt(plain);
        } else if (i + 4 < raw.length() && raw.charAt(i) == 'u') {
          int unit = 0;
          for (int digit = i + 1; digit <= i + 4; digit++) {
            int value = Character.digit(raw.charAt(digit), 16);
            if (value < 0) {
              return null;
            }
            unit = unit << 4 | value;
          }
          c = (char) unit;
          i += 4;
        } else {
          return null;
        }
      }
      text.append(c);
    }
    return text.toString();
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
