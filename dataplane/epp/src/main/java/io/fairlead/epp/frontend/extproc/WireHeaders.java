package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * An {@code envoy.config.core.v3.HeaderMap} as it lies in the message that it came in. A proxy
 * sends all headers, and of most nobody ever asks: one becomes a string when somebody does.
 */
final class WireHeaders {

  static final WireHeaders NONE = new WireHeaders(new byte[0]);

  private static final int MAP_HEADERS = tag(HeaderMap.HEADERS_FIELD_NUMBER);
  private static final int KEY = tag(HeaderValue.KEY_FIELD_NUMBER);
  private static final int VALUE = tag(HeaderValue.VALUE_FIELD_NUMBER);
  private static final int RAW_VALUE = tag(HeaderValue.RAW_VALUE_FIELD_NUMBER);

  /** Numbers for each header: where its key begins and ends, its value, and its raw value. */
  private static final int NUMBERS = 6;

  private static final int VALUE_AT = 2;
  private static final int RAW_VALUE_AT = 4;

  private static final int USUAL_HEADERS = 24;

  /** Any number of so many digits is a {@code long}. */
  private static final int MOST_DIGITS = 18;

  private final byte[] message;
  private int[] ranges = new int[0];
  private int count;

  private WireHeaders(byte[] message) {
    this.message = message;
  }

  /**
   * Reads the field of a header map that {@code in} is at, its length first.
   *
   * @param message what {@code in} reads, from its first byte on; never written again
   */
  static WireHeaders read(byte[] message, CodedInputStream in) throws IOException {
    WireHeaders headers = new WireHeaders(message);
    headers.readMap(in);
    return headers;
  }

  private void readMap(CodedInputStream in) throws IOException {
    ranges = new int[USUAL_HEADERS * NUMBERS];
    int outer = in.pushLimit(in.readRawVarint32());
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      if (tag == MAP_HEADERS) {
        readHeader(in);
      } else {
        in.skipField(tag);
      }
    }
    in.popLimit(outer);
  }

  private void readHeader(CodedInputStream in) throws IOException {
    if (count * NUMBERS == ranges.length) {
      ranges = Arrays.copyOf(ranges, 2 * ranges.length);
    }
    int at = count++ * NUMBERS;
    int outer = in.pushLimit(in.readRawVarint32());
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      if (tag == KEY) {
        readBytes(in, at);
      } else if (tag == VALUE) {
        readBytes(in, at + VALUE_AT);
      } else if (tag == RAW_VALUE) {
        readBytes(in, at + RAW_VALUE_AT);
      } else {
        in.skipField(tag);
      }
    }
    in.popLimit(outer);
  }

  private void readBytes(CodedInputStream in, int at) throws IOException {
    int length = in.readRawVarint32();
    ranges[at] = in.getTotalBytesRead();
    in.skipRawBytes(length);
    ranges[at + 1] = in.getTotalBytesRead();
  }

  /** About how many bytes of memory they take, with the message that they lie in. */
  long memory() {
    return message.length + (long) Integer.BYTES * ranges.length;
  }

  /** What stands before a field of bytes or a message. */
  static int tag(int field) {
    return field << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED;
  }

  /** First value of a header, or "". */
  String value(String name) {
    String value = first(name);
    return value == null ? "" : value;
  }

  /** First value of a header. Proxies fill {@code raw_value}, older ones {@code value}. */
  @Nullable String first(String name) {
    int header = find(name);
    if (header < 0) {
      return null;
    }
    int at = valueOf(header);
    return new String(message, ranges[at], ranges[at + 1] - ranges[at], StandardCharsets.UTF_8);
  }

  /** Where the ends of what a header says are. */
  private int valueOf(int header) {
    int raw = header + RAW_VALUE_AT;
    return ranges[raw + 1] > ranges[raw] ? raw : header + VALUE_AT;
  }

  boolean has(String name) {
    return find(name) >= 0;
  }

  /** Whether the header is there more than once, with values that differ. */
  boolean contradicts(String name) {
    int first = find(name);
    int other = first < 0 ? first : find(name, first + NUMBERS);
    while (other >= 0) {
      int a = valueOf(first);
      int b = valueOf(other);
      if (!Arrays.equals(message, ranges[a], ranges[a + 1], message, ranges[b], ranges[b + 1])) {
        return true;
      }
      other = find(name, other + NUMBERS);
    }
    return false;
  }

  /** A header that holds a number, or -1 if it is missing or holds none. */
  long number(String name) {
    int header = find(name);
    if (header < 0) {
      return -1;
    }
    int start = ranges[valueOf(header)];
    int end = ranges[valueOf(header) + 1];
    if (start == end || end - start > MOST_DIGITS) {
      return -1;
    }
    long number = 0;
    for (int i = start; i < end; i++) {
      int digit = message[i] - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      number = number * 10 + digit;
    }
    return number;
  }

  private int find(String name) {
    return find(name, 0);
  }

  private int find(String name, int from) {
    for (int at = from; at < count * NUMBERS; at += NUMBERS) {
      if (ranges[at + 1] - ranges[at] == name.length() && isNamed(ranges[at], name)) {
        return at;
      }
    }
    return -1;
  }

  /** Whatever the case of ASCII letters: headers' names have no others. */
  private boolean isNamed(int from, String name) {
    for (int i = 0; i < name.length(); i++) {
      int there = message[from + i];
      int wanted = name.charAt(i);
      if (there != wanted && (lowerCase(there) != lowerCase(wanted))) {
        return false;
      }
    }
    return true;
  }

  private static int lowerCase(int letter) {
    return letter >= 'A' && letter <= 'Z' ? letter + ('a' - 'A') : letter;
  }
}
