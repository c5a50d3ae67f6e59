package io.fairlead.crds.tls;

/** Writes DER, and finds its way in it. */
public final class Der {

  private Der() {}

  /** Tag, length, and the parts one after the other. */
  public static byte[] of(int tag, byte[]... parts) {
    int length = 0;
    for (byte[] part : parts) {
      length += part.length;
    }
    byte[] prefix =
        length < 0x80
            ? new byte[] {(byte) tag, (byte) length}
            : length < 0x100
                ? new byte[] {(byte) tag, (byte) 0x81, (byte) length}
                : new byte[] {(byte) tag, (byte) 0x82, (byte) (length >> 8), (byte) length};
    byte[] out = new byte[prefix.length + length];
    System.arraycopy(prefix, 0, out, 0, prefix.length);
    int at = prefix.length;
    for (byte[] part : parts) {
      System.arraycopy(part, 0, out, at, part.length);
      at += part.length;
    }
    return out;
  }

  /** Where the content of the element at {@code at} begins. */
  static int content(byte[] der, int at) {
    int first = der[at + 1] & 0xff;
    return at + 2 + (first < 0x80 ? 0 : first & 0x7f);
  }

  /** Where the element at {@code at} ends; beyond the array if that is cut short. */
  static int end(byte[] der, int at) {
    int first = der[at + 1] & 0xff;
    int content = content(der, at);
    if (first < 0x80) {
      return content + first;
    }
    int length = 0;
    for (int i = at + 2; i < content; i++) {
      length = (length << 8) | (der[i] & 0xff);
    }
    if (length < 0) {
      throw new IllegalArgumentException("an element is longer than an array can be");
    }
    return Math.addExact(content, length);
  }
}
