package io.fairlead.crds.document;

import io.fabric8.kubernetes.api.model.ConfigMap;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Texts in a ConfigMap, which holds 1 MiB. Short ones lie in {@code data}, where people can read
 * them. Long ones lie in {@code binaryData}, compressed by gzip, under the key with {@link #SUFFIX}
 * behind it.
 */
public final class ConfigMapTexts {
  /** What a key ends with whose value is compressed. */
  public static final String SUFFIX = ".gz";

  /** UTF-8 bytes of all texts of a ConfigMap that are left as they are. */
  public static final int MOST_PLAIN = 512 * 1024;

  /** Bytes that a ConfigMap holds; the rest of the 1 MiB is for keys and what others add. */
  public static final int MOST_STORED = 1_000_000;

  /** UTF-8 bytes of one text, however well it can be compressed: who reads it has to hold it. */
  public static final int LONGEST = TreeReader.LONGEST_TEXT;

  private ConfigMapTexts() {}

  /** Whether a ConfigMap can hold the text, plain or compressed. */
  public static boolean fits(String text) {
    int length = bytes(text).length;
    return length <= MOST_PLAIN || (length <= LONGEST && compressed(text).length <= MOST_STORED);
  }

  /**
   * Adds a text, and another for which there need not be room.
   *
   * @param data of the ConfigMap; texts are put there as they are
   * @param binaryData of the ConfigMap; compressed ones are put there in Base64
   * @param text see {@link #fits}
   * @param spare left out where both would not fit; null for none
   */
  public static void put(
      Map<String, String> data,
      Map<String, String> binaryData,
      String key,
      String text,
      String spareKey,
      @Nullable String spare) {
    int length = bytes(text).length + (spare == null ? 0 : bytes(spare).length);
    if (length <= MOST_PLAIN) {
      data.put(key, text);
      if (spare != null) {
        data.put(spareKey, spare);
      }
      return;
    }
    byte[] stored = compressed(text);
    binaryData.put(key + SUFFIX, Base64.getEncoder().encodeToString(stored));
    byte[] beside = spare == null ? new byte[0] : compressed(spare);
    if (spare != null && stored.length + beside.length <= MOST_STORED) {
      binaryData.put(spareKey + SUFFIX, Base64.getEncoder().encodeToString(beside));
    }
  }

  /**
   * The text under a key, compressed or not.
   *
   * @return null when there is none
   * @throws IOException when what is there cannot be uncompressed, or is too long
   */
  public static @Nullable String read(ConfigMap map, String key) throws IOException {
    String compressed = map.getBinaryData() == null ? null : map.getBinaryData().get(key + SUFFIX);
    if (compressed == null) {
      return map.getData() == null ? null : map.getData().get(key);
    }
    try (GZIPInputStream in =
        new GZIPInputStream(new ByteArrayInputStream(Base64.getDecoder().decode(compressed)))) {
      byte[] text = in.readNBytes(LONGEST + 1);
      if (text.length > LONGEST) {
        throw new IOException("is longer than " + LONGEST + " bytes");
      }
      return new String(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw new IOException("is no Base64", e);
    }
  }

  private static byte[] compressed(String text) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    // No time and no name in it: equal texts have equal bytes.
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      out.write(bytes(text));
    } catch (IOException e) {
      throw new UncheckedIOException("memory can always be written to", e);
    }
    return bytes.toByteArray();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
