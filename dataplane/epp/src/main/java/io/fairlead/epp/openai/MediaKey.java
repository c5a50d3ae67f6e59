package io.fairlead.epp.openai;

import org.jspecify.annotations.Nullable;

/** Keys under which a prompt has what is no text, or says what it is. */
enum MediaKey {
  OTHER(""),
  TYPE("type"),
  URL("url"),
  DATA("data"),
  FILE("file"),
  DETAIL("detail"),
  FORMAT("format"),
  SOURCE("source"),
  RESULT("result"),
  FILE_ID("file_id"),
  FILE_URL("file_url"),
  FILE_DATA("file_data"),
  IMAGE_URL("image_url"),
  VIDEO_URL("video_url"),
  AUDIO_URL("audio_url"),
  MEDIA_TYPE("media_type"),
  INPUT_AUDIO("input_audio");

  private static final MediaKey[] ALL = values();

  private final String text;

  MediaKey(String text) {
    this.text = text;
  }

  static MediaKey of(BodyBytes body, int from, int to) {
    for (MediaKey key : ALL) {
      if (body.same(key.text, from, to)) {
        return key;
      }
    }
    return OTHER;
  }

  static MediaKey of(String decoded) {
    for (MediaKey key : ALL) {
      if (key.text.equals(decoded)) {
        return key;
      }
    }
    return OTHER;
  }

  /** What usually stands under it; null when that can be anything. */
  @Nullable MediaKind usual() {
    return switch (this) {
      case IMAGE_URL -> MediaKind.IMAGE;
      case VIDEO_URL -> MediaKind.VIDEO;
      case AUDIO_URL, INPUT_AUDIO -> MediaKind.COMPRESSED_SOUND;
      default -> null;
    };
  }
}
