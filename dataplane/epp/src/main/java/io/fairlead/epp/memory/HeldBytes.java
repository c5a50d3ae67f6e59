package io.fairlead.epp.memory;

import com.google.protobuf.ByteOutput;
import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.fairlead.epp.openai.BodyBytes;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * What has come of a body, and what it takes. Nothing of it is ever moved. Bytes of a socket are
 * copied once, out of buffers that are read into again: into one page where that holds all of the
 * body, else into several. Those pages are used again by other bodies. Those of a message stay in
 * the message's own array, unless they are few.
 */
final class HeldBytes {

  /** Shortest and longest page; in between, one is as long as all before it, or as its piece. */
  private static final int SHORTEST_PAGE = 4 << 10;

  private static final int LONGEST_PAGE = 256 << 10;

  /**
   * Longest page that others use again: a quarter of what these are cut from, so that what a body
   * is charged is at least three quarters of what it takes.
   */
  private static final int LONGEST_USED_AGAIN = BodyBudget.CHUNK / 4;

  /** Bytes of a message from which they stay where they are: an array has a cost of its own. */
  private static final int KEPT = 4 << 10;

  private final BodyBytes bytes = new BodyBytes();
  private final ByteBufAllocator pages;

  /** The last page, whose writer is behind what is taken, and those before it. */
  private ByteBuf page = Unpooled.EMPTY_BUFFER;

  private final List<ByteBuf> full = new ArrayList<>(0);

  /** What all pages take, and what all arrays do. */
  private long paged;

  private long held;
  private long charged;

  /**
   * Nothing.
   *
   * @param pages where pages are from that are used again; their buffers have arrays
   */
  HeldBytes(ByteBufAllocator pages) {
    this.pages = pages;
  }

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

  /** Has the first page this long, if nothing of the body has come. */
  void expect(int length) {
    if (held == 0) {
      turn(length > LONGEST_USED_AGAIN ? ofNobody(length) : pages.heapBuffer(length, length));
    }
  }

  /** Nobody reads {@link #bytes} any more: pages are used again once what is sent of them is. */
  void release() {
    page.release();
    full.forEach(ByteBuf::release);
    full.clear();
    page = Unpooled.EMPTY_BUFFER;
  }

  /**
   * Copies a piece.
   *
   * @param charged what the body may take: pages don't go beyond that where they need not
   */
  void copy(ByteBuf piece, long charged) {
    this.charged = charged;
    while (piece.isReadable()) {
      if (!page.isWritable()) {
        int length = nextPage(piece.readableBytes());
        turn(pages.heapBuffer(length, length));
      }
      int next = Math.min(piece.readableBytes(), page.writableBytes());
      bytes.add(page, page.writerIndex(), next);
      page.writeBytes(piece, next);
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
        if (!page.isWritable()) {
          turn(ofNobody(nextPage(offset + length - at)));
        }
        int next = Math.min(offset + length - at, page.writableBytes());
        // Of an array that is nobody's: it goes out with the message that is made of it.
        bytes.add(page.array(), page.writerIndex(), next);
        page.writeBytes(array, at, next);
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

  /** How long the next page is, for so many bytes and perhaps more. */
  private int nextPage(int wanted) {
    long usual = Math.min(paged, charged - held);
    return Math.clamp(Math.max(wanted, usual), SHORTEST_PAGE, LONGEST_PAGE);
  }

  private static ByteBuf ofNobody(int length) {
    return Unpooled.wrappedBuffer(new byte[length]).clear();
  }

  private void turn(ByteBuf next) {
    if (page.capacity() > 0) {
      full.add(page);
    }
    page = next;
    paged += next.capacity();
    held += next.capacity();
  }
}
