package io.fairlead.epp.capture;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.Arrays;

/**
 * Events of one kind with nothing to say but when, written as the first of them and how far each is
 * from the one before.
 */
final class EventRun {

  private final long seq;
  private final long at;
  private long lastSeq;
  private long lastAt;

  /** Of each further event: numbers and nanoseconds since the one before. */
  private long[] steps = {};

  private int length;

  EventRun(long seq, long at) {
    this.seq = seq;
    this.at = at;
    lastSeq = seq;
    lastAt = at;
  }

  void add(long nextSeq, long nextAt) {
    if (length == steps.length) {
      steps = Arrays.copyOf(steps, Math.max(8, length * 2));
    }
    steps[length++] = nextSeq - lastSeq;
    steps[length++] = nextAt - lastAt;
    lastSeq = nextSeq;
    lastAt = nextAt;
  }

  /** How many events there are. */
  int size() {
    return 1 + length / 2;
  }

  /** Number of the last event. */
  long last() {
    return lastSeq;
  }

  /** Roughly the memory that it takes. */
  int weight() {
    return 64 + steps.length * Long.BYTES;
  }

  /** Writes the fields of an object. */
  void write(JsonGenerator json) throws IOException {
    json.writeNumberField("seq", seq);
    json.writeNumberField("at", at);
    if (length > 0) {
      json.writeFieldName("next");
      json.writeArray(steps, 0, length);
    }
  }
}
