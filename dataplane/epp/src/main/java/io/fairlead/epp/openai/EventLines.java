package io.fairlead.epp.openai;

/**
 * Tells the parts of a stream of server-sent events apart while its bytes go by: what is an event's
 * data, and where lines and events end. Works byte by byte, so how the stream is cut makes no
 * difference.
 */
final class EventLines {

  /** What a byte is. */
  enum Part {
    /** Of an event's data. */
    DATA,
    /** The end of a line of data. */
    DATA_END,
    /** The empty line behind an event, with data or without. */
    EVENT_END,
    /** Of no matter. */
    OTHER
  }

  private static final byte[] DATA = {'d', 'a', 't', 'a', ':'};
  private static final int OTHER_LINE = -1;

  /** Bytes of {@link #DATA} that the line has begun with, or {@link #OTHER_LINE}. */
  private int matched;

  private boolean emptyLine = true;
  private boolean afterCarriageReturn;

  /** Whether every byte up to the end of the line is data. */
  boolean inData() {
    return matched == DATA.length;
  }

  /** Takes the next byte. */
  Part next(byte b) {
    boolean secondOfLineEnd = afterCarriageReturn && b == '\n';
    afterCarriageReturn = b == '\r';
    if (secondOfLineEnd) {
      return Part.OTHER;
    }
    if (b == '\n' || b == '\r') {
      return endLine();
    }
    emptyLine = false;
    if (inData()) {
      return Part.DATA;
    }
    if (matched >= 0) {
      matched = b == DATA[matched] ? matched + 1 : OTHER_LINE;
    }
    return Part.OTHER;
  }

  private Part endLine() {
    Part ended = emptyLine ? Part.EVENT_END : inData() ? Part.DATA_END : Part.OTHER;
    emptyLine = true;
    matched = 0;
    return ended;
  }
}
