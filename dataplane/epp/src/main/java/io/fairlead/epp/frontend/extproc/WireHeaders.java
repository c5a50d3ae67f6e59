package io.fairlead.epp.frontend.extproc;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
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

  private static final int MAP_HEADERS = tag(1);
  private static final int KEY = tag(1);
  private static final int VALUE = tag(2);
  private static final int RAW_VALUE = tag(3);

  /** Numbers for each header: where its key begins and ends, and its value. */
  private static final int NUMBERS = 4;

  private static final int USUAL_HEADERS = 24;

  private final byte[] message;
  private int[] places = new int[0];
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
    places = new int[USUAL_HEADERS * NUMBERS];
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
    if (count * NUMBERS == places.length) {
      places = Arrays.copyOf(places, 2 * places.length);
    }
    int at = count++ * NUMBERS;
    int outer = in.pushLimit(in.readRawVarint32());
    boolean raw = false;
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      if (tag == KEY) {
        readBytes(in, at);
      } else if (tag == RAW_VALUE) {
        readBytes(in, at + 2);
        raw = places[at + 3] > places[at + 2];
      } else if (tag == VALUE && !raw) {
        readBytes(in, at + 2);
      } else {
        in.skipField(tag);
      }
    }
    in.popLimit(outer);
  }

  private void readBytes(CodedInputStream in, int at) throws IOException {
    int length = in.readRawVarint32();
    if (length < 0) {
      throw new InvalidProtocolBufferException("a header's length is negative");
    }
    places[at] = in.getTotalBytesRead();
    in.skipRawBytes(length);
    places[at + 1] = in.getTotalBytesRead();
  }

  private static int tag(int field) {
    return field << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED;
  }

  /** First value of a header, or "". */
  String value(String name) {
    String value = first(name);
    return value == null ? "" : value;
  }

  /** First value of a header. Proxies fill {@code raw_value}, older ones {@code value}. */
  @Nullable String first(String name) {
    int at = find(name);
    return at < 0
        ? null
        : new String(
            message, places[at + 2], places[at + 3] - places[at + 2], StandardCharsets.UTF_8);
  }

  boolean has(String name) {
    return find(name) >= 0;
  }

  /** A header that holds a number, or -1 if it is missing or holds none. */
  long number(String name) {
    int at = find(name);
    if (at < 0 || places[at + 3] == places[at + 2] || places[at + 3] - places[at + 2] > 18) {
      return -1;
    }
    long number = 0;
    for (int i = places[at + 2]; i < places[at + 3]; i++) {
      int digit = message[i] - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      number = number * 10 + digit;
    }
    return number;
  }

  private int find(String name) {
    for (int at = 0; at < count * NUMBERS; at += NUMBERS) {
      if (places[at + 1] - places[at] == name.length() && isNamed(places[at], name)) {
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
