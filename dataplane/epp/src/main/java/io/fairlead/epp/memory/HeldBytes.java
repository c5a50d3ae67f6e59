package io.fairlead.epp.memory;

import com.google.protobuf.ByteOutput;
import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.fairlead.epp.openai.BodyBytes;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What has come of a body, and what it takes. Nothing of it is ever moved. Bytes of a socket are
 * copied once, out of buffers that are read into again: into one array where the body's length is
 * known, else into pages. Those of a message stay in the message's own array, unless they are few.
 */
final class HeldBytes {

  /** Shortest and longest page; in between, one is as long as all before it, or as its piece. */
  private static final int SHORTEST_PAGE = 4 << 10;

  private static final int LONGEST_PAGE = 256 << 10;

  /** Bytes of a message from which they stay where they are: an array has a cost of its own. */
  private static final int KEPT = 4 << 10;

  private static final byte[] NOTHING = {};

  private final BodyBytes bytes = new BodyBytes();

  /** The last page, and how much of it is taken. */
  private byte[] page = NOTHING;

  private int taken;

  /** What all pages take, and what all arrays do. */
  private long paged;

  private long held;
  private long charged;

  /** The bytes. */
  BodyBytes bytes() {
    return bytes;
  }

  /** How many there are. */
  int length() {
    return bytes.length();
  }

  /** How many the arrays have room for that they are in. */
  long held() {
    return held;
  }

  /** Has the body in one array of this length, if nothing of it has come; it is no longer. */
  void expect(int length) {
    if (held == 0) {
      take(length);
    }
  }

  /**
   * Copies a piece.
   *
   * @param charged what the body may take: pages don't go beyond that where they need not
   */
  void copy(ByteBuf piece, long charged) {
    this.charged = charged;
    while (piece.isReadable()) {
      int next = room(piece.readableBytes());
      piece.readBytes(page, taken, next);
      filled(next);
    }
  }

  /**
   * Keeps a piece.
   *
   * @param whole whether nothing comes behind it
   * @param charged as for {@link #copy}
   */
  void keep(ByteString piece, boolean whole, long charged) {
    this.charged = charged;
    try {
      UnsafeByteOperations.unsafeWriteTo(piece, new Keeping(whole));
    } catch (IOException e) {
      throw new IllegalStateException("bytes in memory can't be read", e);
    }
  }

  /** Gets the arrays that a message's bytes are in. */
  private final class Keeping extends ByteOutput {

    private final boolean whole;

    Keeping(boolean whole) {
      this.whole = whole;
    }

    @Override
    public void writeLazy(byte[] array, int offset, int length) {
      if (length < KEPT && !whole) {
        write(array, offset, length);
      } else {
        bytes.add(array, offset, length);
        held += length;
      }
    }

    @Override
    public void write(byte[] array, int offset, int length) {
      int at = offset;
      while (at < offset + length) {
        int next = room(offset + length - at);
        System.arraycopy(array, at, page, taken, next);
        filled(next);
        at += next;
      }
    }

    @Override
    public void write(byte value) {
      write(new byte[] {value}, 0, 1);
    }

    @Override
    public void write(ByteBuffer value) {
      byte[] copy = new byte[value.remaining()];
      value.get(copy);
      write(copy, 0, copy.length);
    }

    @Override
    public void writeLazy(ByteBuffer value) {
      write(value);
    }
  }

  /** For how many of so many bytes there is room in the page, which is a new one if it was full. */
  private int room(int wanted) {
    if (taken == page.length) {
      long usual = Math.min(paged, charged - held);
      take(Math.clamp(Math.max(wanted, usual), SHORTEST_PAGE, LONGEST_PAGE));
    }
    return Math.min(wanted, page.length - taken);
  }

  private void take(int length) {
    page = new byte[length];
    taken = 0;
    paged += length;
    held += length;
  }

  private void filled(int more) {
    bytes.add(page, taken, more);
    taken += more;
  }
}
