package io.fairlead.epp.capture;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;

/** A file being written in whole lines: what the disk does not take whole is cut off again. */
final class OutputFile {

  private static final int BUFFER = 64 << 10;

  private final SeekableByteChannel channel;
  private final CaptureCounters counters;
  private final ByteArrayOutputStream buffer = new ByteArrayOutputStream(BUFFER);
  private int lines;
  private long written;

  /** Takes the channel over. */
  OutputFile(SeekableByteChannel channel, CaptureCounters counters) {
    this.channel = channel;
    this.counters = counters;
  }

  long size() {
    return written + buffer.size();
  }

  /** Begins the file with what is no line of its own. */
  void begin(byte[] preamble) {
    buffer.writeBytes(preamble);
  }

  void append(byte[] line) throws IOException {
    buffer.writeBytes(line);
    lines++;
    if (buffer.size() >= BUFFER) {
      flush();
    }
  }

  /** Lines that the disk does not take are counted, and gone. */
  void flush() throws IOException {
    if (buffer.size() == 0) {
      return;
    }
    int count = lines;
    ByteBuffer bytes = ByteBuffer.wrap(buffer.toByteArray());
    buffer.reset();
    lines = 0;
    try {
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    } catch (IOException e) {
      counters.failed(count);
      cutOff(e);
      throw e;
    }
    written += bytes.limit();
    counters.written(count, bytes.limit());
  }

  private void cutOff(IOException cause) {
    try {
      channel.truncate(written);
    } catch (IOException e) {
      cause.addSuppressed(e);
    }
  }

  /** Writes the rest first. */
  void close() throws IOException {
    try (channel) {
      flush();
    }
  }
}
