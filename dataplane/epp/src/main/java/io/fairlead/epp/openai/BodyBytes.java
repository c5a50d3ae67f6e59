package io.fairlead.epp.openai;

import com.dynatrace.hash4j.hashing.HashStream64;
import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A request's body, in the arrays in which it came: it is read where it lies and sent as it lies.
 * Its places are counted from its first byte, however it is cut. Not thread-safe.
 *
 * <p>Arrays that are used again belong to buffers: then what is sent of them keeps them, and
 * nothing may be read here any more once the body's owner has released them.
 */
public final class BodyBytes {

  private static final Hasher64 DIGESTS = Hashing.wyhashFinal4();

  private static final byte[][] NO_ARRAYS = {};
  private static final ByteBuf[] NO_OWNERS = {};
  private static final int[] NO_PLACES = {};

  private byte[][] arrays = NO_ARRAYS;

  /** Of each part: whose array it is; null for one that is nobody's. */
  private @Nullable ByteBuf[] owners = NO_OWNERS;

  /** Of each part: what is added to a place in the body for its place in the array. */
  private int[] shifts = NO_PLACES;

  /** Of each part: the place behind it. */
  private int[] ends = NO_PLACES;

  private int count;

  /** The part that was looked at last. */
  private int part;

  /** No bytes. */
  public BodyBytes() {}

  /** The body is these bytes, which must not change any more. */
  public static BodyBytes of(byte[] bytes, int offset, int length) {
    BodyBytes body = new BodyBytes();
    body.add(bytes, offset, length);
    return body;
  }

  /** The body is these bytes, which must not change any more. */
  public static BodyBytes of(byte[] bytes) {
    return of(bytes, 0, bytes.length);
  }

  @SuppressWarnings("ReferenceEquality") // the very array, not one like it
  private boolean goesOn(byte[] bytes, int offset, @Nullable ByteBuf owner) {
    return count > 0
        && arrays[count - 1] == bytes
        && owners[count - 1] == owner
        && shifts[count - 1] + length() == offset;
  }

  /** More of the body. The bytes are kept where they are, and must not change any more. */
  public void add(byte[] bytes, int offset, int length) {
    add(bytes, offset, length, null);
  }

  /** The same in the array of a buffer, which the caller keeps until the body is released. */
  public void add(ByteBuf page, int index, int length) {
    add(page.array(), page.arrayOffset() + index, length, page);
  }

  private void add(byte[] bytes, int offset, int length, @Nullable ByteBuf owner) {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    if (length == 0) {
      return;
    }
    int start = length();
    if (goesOn(bytes, offset, owner)) {
      ends[count - 1] += length;
      return;
    }
    if (count == arrays.length) {
      int room = Math.max(1, count * 2);
      arrays = Arrays.copyOf(arrays, room);
      owners = Arrays.copyOf(owners, room);
      shifts = Arrays.copyOf(shifts, room);
      ends = Arrays.copyOf(ends, room);
    }
    arrays[count] = bytes;
    owners[count] = owner;
    shifts[count] = offset - start;
    ends[count] = start + length;
    count++;
  }

  /** How many bytes there are. */
  public int length() {
    return count == 0 ? 0 : ends[count - 1];
  }

  /** How many arrays they are in. */
  int parts() {
    return count;
  }

  byte[] array(int part) {
    return arrays[part];
  }

  /** Place of a part's first byte in the body. */
  int start(int part) {
    return part == 0 ? 0 : ends[part - 1];
  }

  /** Place in the body behind a part. */
  int end(int part) {
    return ends[part];
  }

  /** What is added to a place in the body for its place in the part's array. */
  int shift(int part) {
    return shifts[part];
  }

  /** The byte at a place of the body. */
  byte at(int place) {
    int found = find(place);
    return arrays[found][place + shifts[found]];
  }

  /** The part that a place is in. Places are asked for in about their order. */
  private int find(int place) {
    while (place >= ends[part]) {
      part++;
    }
    while (part > 0 && place < ends[part - 1]) {
      part--;
    }
    return part;
  }

  /** Whether the bytes between two places are this ASCII text. */
  boolean same(String ascii, int from, int to) {
    if (ascii.length() != to - from) {
      return false;
    }
    for (int i = 0; i < ascii.length(); i++) {
      if (at(from + i) != ascii.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /** What the bytes between two places say. */
  String text(int from, int to, Charset charset) {
    if (from == to) {
      return "";
    }
    int first = find(from);
    if (to <= ends[first]) {
      return new String(arrays[first], from + shifts[first], to - from, charset);
    }
    byte[] bytes = new byte[to - from];
    int[] copied = {0};
    show(
        from,
        to,
        (array, begin, end) -> {
          System.arraycopy(array, begin, bytes, copied[0], end - begin);
          copied[0] += end - begin;
        });
    return new String(bytes, charset);
  }

  /** Shows the bytes between two places, as they lie, from first to last. */
  void show(int from, int to, ByteWindows.Reader reader) {
    int at = from;
    while (at < to) {
      int in = find(at);
      int end = Math.min(to, ends[in]);
      reader.read(arrays[in], at + shifts[in], end + shifts[in]);
      at = end;
    }
  }

  /** Stands for the bytes between two places, of which there are some, however they are cut. */
  long digest(int from, int to) {
    int first = find(from);
    if (to <= ends[first]) {
      return DIGESTS.hashBytesToLong(arrays[first], from + shifts[first], to - from);
    }
    HashStream64 stream = DIGESTS.hashStream();
    show(from, to, (array, begin, end) -> stream.putBytes(array, begin, end - begin));
    return stream.getAsLong();
  }

  /** All bytes in an array of their own. */
  public byte[] copy() {
    byte[] all = new byte[length()];
    for (int i = 0; i < parts(); i++) {
      System.arraycopy(array(i), start(i) + shift(i), all, start(i), end(i) - start(i));
    }
    return all;
  }

  /**
   * The bytes between two places.
   *
   * @return a heap buffer over the arrays themselves, which keeps them until it is released
   */
  ByteBuf slice(int from, int to) {
    if (from == to) {
      return Unpooled.EMPTY_BUFFER;
    }
    int first = find(from);
    int last = find(to - 1);
    ByteBuf[] slices = new ByteBuf[last - first + 1];
    for (int i = first; i <= last; i++) {
      slices[i - first] = slice(i, Math.max(from, start(i)), Math.min(to, ends[i]));
    }
    return slices.length == 1 ? slices[0] : Unpooled.wrappedBuffer(slices);
  }

  private ByteBuf slice(int part, int from, int to) {
    ByteBuf owner = owners[part];
    int offset = from + shifts[part];
    return owner == null
        ? Unpooled.wrappedBuffer(arrays[part], offset, to - from)
        : owner.retainedSlice(offset - owner.arrayOffset(), to - from);
  }
}
