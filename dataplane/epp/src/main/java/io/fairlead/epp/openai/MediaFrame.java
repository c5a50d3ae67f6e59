package io.fairlead.epp.openai;

import org.jspecify.annotations.Nullable;

/**
 * An object of a prompt that is not at its end yet: what its keys have said so far, and a string in
 * it that may be no text.
 */
final class MediaFrame {

  /** What must be true of the object for the string to be no text. */
  private enum Condition {
    NONE,
    /** Its type says that it holds Base64. */
    BASE64,
    /** Its type says that it holds an address. */
    URL,
    /** Its type says that it names a file. */
    FILE,
    /** Its type says that it is an image or a file. */
    PART,
    /** Its type says that it is a call whose result is an image. */
    DRAWN
  }

  /** What a {@code type} tells. */
  private enum Type {
    OTHER,
    BASE64,
    URL,
    IMAGE,
    FILE,
    DRAWING
  }

  private static final int NONE = -1;

  private MediaKey place = MediaKey.OTHER;
  private MediaKey key = MediaKey.OTHER;
  private Type type = Type.OTHER;
  private boolean low;

  /** What the object says that its part is. */
  private @Nullable MediaKind said;

  private int part = NONE;
  private Condition condition = Condition.NONE;

  /** What the part itself says that it is. */
  private @Nullable MediaKind told;

  /** What the key above it lets one expect. */
  private @Nullable MediaKind hint;

  /** What it holds; -1 when that is somewhere else. */
  private long bytes;

  void begin(MediaKey under) {
    place = under;
    key = MediaKey.OTHER;
    type = Type.OTHER;
    low = false;
    said = null;
    part = NONE;
  }

  MediaKey key() {
    return key;
  }

  void key(MediaKey next) {
    key = next;
  }

  boolean hasPart() {
    return part != NONE;
  }

  int part() {
    return part;
  }

  /** Takes in what a string says of the object. */
  void says(BodyBytes body, int from, int to) {
    switch (key) {
      case TYPE -> type = type(body, from, to);
      case DETAIL -> low = body.same("low", from, to);
      case MEDIA_TYPE -> said = MediaKind.ofMediaType(body, from, to);
      case FORMAT -> {
        if (place == MediaKey.INPUT_AUDIO) {
          said = MediaKind.ofSound(body, from, to);
        }
      }
      default -> {}
    }
  }

  private static Type type(BodyBytes body, int from, int to) {
    if (body.same("base64", from, to)) {
      return Type.BASE64;
    }
    if (body.same("url", from, to)) {
      return Type.URL;
    }
    if (body.same("image", from, to) || body.same("input_image", from, to)) {
      return Type.IMAGE;
    }
    if (body.same("image_generation_call", from, to)) {
      return Type.DRAWING;
    }
    boolean file =
        body.same("document", from, to)
            || body.same("input_file", from, to)
            || body.same("file", from, to);
    return file ? Type.FILE : Type.OTHER;
  }

  /** Whether a string under the present key may be no text. */
  boolean mayBeMedia() {
    return condition(key, place) != null;
  }

  /** Null for what can be nothing but text. */
  private static @Nullable Condition condition(MediaKey key, MediaKey place) {
    return switch (key) {
      case IMAGE_URL, VIDEO_URL, AUDIO_URL, FILE_DATA -> Condition.NONE;
      case URL ->
          switch (place) {
            case IMAGE_URL, VIDEO_URL, AUDIO_URL -> Condition.NONE;
            case SOURCE -> Condition.URL;
            default -> null;
          };
      case DATA ->
          switch (place) {
            case INPUT_AUDIO -> Condition.NONE;
            case SOURCE -> Condition.BASE64;
            default -> null;
          };
      case RESULT -> Condition.DRAWN;
      case FILE_ID, FILE_URL ->
          switch (place) {
            case FILE -> Condition.NONE;
            case SOURCE -> Condition.FILE;
            default -> Condition.PART;
          };
      default -> null;
    };
  }

  /** Has this string, for which {@link #mayBeMedia} holds, wait for the end of the object. */
  void found(int number, BodyBytes body, int from, int to) {
    Condition needed = condition(key, place);
    condition = needed == null ? Condition.NONE : needed;
    part = number;
    hint = key == MediaKey.URL || key == MediaKey.DATA ? place.usual() : key.usual();
    if (MediaKind.isDataUrl(body, from, to)) {
      told = MediaKind.ofDataUrl(body, from, to);
      int comma = from;
      while (comma < to && body.at(comma) != ',') {
        comma++;
      }
      bytes = decoded(to - comma);
    } else {
      told = null;
      bytes = holdsBase64(key) ? decoded(to - from) : -1;
    }
  }

  private static boolean holdsBase64(MediaKey key) {
    return key == MediaKey.DATA || key == MediaKey.FILE_DATA || key == MediaKey.RESULT;
  }

  /** Bytes that so many characters of Base64 stand for. */
  private static long decoded(long characters) {
    return characters * 3 / 4;
  }

  /** Whether only the object around it says what its part is. */
  boolean isSource() {
    return place == MediaKey.SOURCE && isMedia();
  }

  /** Takes over the part of a source in this object. */
  void takeOver(MediaFrame source) {
    part = source.part;
    condition = Condition.NONE;
    told = source.told == null ? source.said : source.told;
    hint = source.hint;
    bytes = source.bytes;
  }

  private boolean isMedia() {
    return switch (condition) {
      case NONE -> true;
      case BASE64 -> type == Type.BASE64;
      case URL -> type == Type.URL;
      case FILE -> type == Type.FILE;
      case PART -> type == Type.IMAGE || type == Type.FILE;
      case DRAWN -> type == Type.DRAWING;
    };
  }

  /** What the part costs, in tokens, by all that is known now; 0 when it is text. Forgets it. */
  int cost() {
    part = NONE;
    if (!isMedia()) {
      return 0;
    }
    MediaKind kind = kind();
    int cost = bytes < 0 ? kind.usualTokens() : kind.tokens(bytes);
    return low && kind == MediaKind.IMAGE ? MediaKind.lowDetail(cost) : cost;
  }

  private MediaKind kind() {
    if (told != null) {
      return told;
    }
    if (said != null) {
      return said;
    }
    if (hint != null) {
      return hint;
    }
    return type == Type.IMAGE || type == Type.DRAWING ? MediaKind.IMAGE : MediaKind.DOCUMENT;
  }
}
