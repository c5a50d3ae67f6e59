package io.fairlead.epp.openai;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.FastThreadLocal;

/**
 * Shows a buffer's bytes as arrays, from first to last. What is not in one is copied, some at a
 * time: far cheaper than asking the buffer for each byte.
 */
final class ByteWindows {

  /** Whoever looks at the bytes. */
  @FunctionalInterface
  interface Reader {
    void read(byte[] bytes, int from, int to);
  }

  private static final FastThreadLocal<byte[]> WINDOW =
      new FastThreadLocal<>() {
        @Override
        protected byte[] initialValue() {
          return new byte[8 << 10];
        }
      };

  private ByteWindows() {}

  /** Shows the readable bytes without consuming them. The arrays are not the reader's to keep. */
  static void show(ByteBuf buffer, Reader reader) {
    int at = buffer.readerIndex();
    int end = buffer.writerIndex();
    if (buffer.hasArray()) {
      int offset = buffer.arrayOffset();
      reader.read(buffer.array(), offset + at, offset + end);
      return;
    }
    byte[] window = WINDOW.get();
    while (at < end) {
      int length = Math.min(window.length, end - at);
      buffer.getBytes(at, window, 0, length);
      reader.read(window, 0, length);
      at += length;
    }
  }
}
