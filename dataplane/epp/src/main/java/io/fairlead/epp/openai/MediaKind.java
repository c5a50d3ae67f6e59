package io.fairlead.epp.openai;

import io.fairlead.core.account.TokenEstimate;
import org.jspecify.annotations.Nullable;

/**
 * What a part of a prompt that is no text costs, in tokens: by its size where it stands in the
 * body, and as much as a usual one where only its address does. A guess, within bounds; what the
 * model at hand really makes of it is learned from what servers report, see {@link TokenEstimate}.
 *
 * <p>Where the numbers come from:
 *
 * <ul>
 *   <li>Images: Qwen2-VL and its successors take a token for 28 by 28 pixels, Anthropic's models
 *       one for 750, and a photograph as JPEG has about 2 bits a pixel, so 196 bytes make a token.
 *       A small image is cut into a tile or two (SmolVLM: 64 tokens each); LLaVA-NeXT stops at
 *       2,880, which is also what Qwen2-VL makes of a full screen. 1024 by 1024 pixels are 765
 *       tokens by OpenAI's tiles, between 576 (LLaVA-1.5) and 1,369 (Qwen2-VL). {@code detail: low}
 *       is 85 tokens there.
 *   <li>Sounds: Qwen2-Audio takes 25 tokens a second, as Whisper's encoder gives 50 frames that are
 *       put together in pairs. Speech as MP3 has about 96 kbit/s, as WAV 16 bits at 16 kHz. From a
 *       second to eleven minutes; half a minute, Whisper's window, where nothing is known.
 *   <li>Videos: engines look at some frames a second of what has about a Mbit/s; LLaVA-NeXT-Video
 *       takes 32 frames of 144 tokens, Qwen2.5-VL no more than 24,576 tokens in all by default.
 *   <li>Documents: a page has 2,000 tokens, more with its picture, and is about 100 kB as PDF. Up
 *       to 100 pages, where Anthropic's limit is; two pages where nothing is known.
 * </ul>
 */
enum MediaKind {
  IMAGE(196, 64, 2_880, 768),
  COMPRESSED_SOUND(480, 25, 16_384, 750),
  WAVE_SOUND(1_280, 25, 16_384, 750),
  VIDEO(512, 512, 24_576, 4_608),
  DOCUMENT(50, 250, 200_000, 4_000),
  TEXT_FILE(TokenEstimate.USUAL_BYTES, 1, 200_000, 4_000);

  private static final int LOW_DETAIL = 85;

  private static final String DATA_URL = "data:";

  private final int bytesPerToken;
  private final int fewest;
  private final int most;
  private final int usual;

  MediaKind(int bytesPerToken, int fewest, int most, int usual) {
    this.bytesPerToken = bytesPerToken;
    this.fewest = fewest;
    this.most = most;
    this.usual = usual;
  }

  /** Of one that is this large. */
  int tokens(long bytes) {
    return Math.clamp(bytes / bytesPerToken, fewest, most);
  }

  /** Of one that is somewhere else. */
  int usualTokens() {
    return usual;
  }

  /** Where the model is told to look at an image only roughly. */
  static int lowDetail(int tokens) {
    return Math.min(tokens, LOW_DETAIL);
  }

  /** Whether the bytes begin an address that holds what it names. */
  static boolean isDataUrl(BodyBytes bytes, int from, int to) {
    return begins(DATA_URL, bytes, from, to);
  }

  /** Of the media type in an address for which {@link #isDataUrl} holds; null when it says none. */
  static @Nullable MediaKind ofDataUrl(BodyBytes bytes, int from, int to) {
    return ofMediaType(bytes, from + DATA_URL.length(), to);
  }

  /** Of a media type such as {@code image/png}; null when there is none. */
  static @Nullable MediaKind ofMediaType(BodyBytes bytes, int from, int to) {
    if (begins("image", bytes, from, to)) {
      return IMAGE;
    }
    if (begins("video", bytes, from, to)) {
      return VIDEO;
    }
    if (begins("text", bytes, from, to)) {
      return TEXT_FILE;
    }
    if (begins("application", bytes, from, to)) {
      return DOCUMENT;
    }
    if (!begins("audio", bytes, from, to)) {
      return null;
    }
    // After the slash, which some write with a backslash before it.
    int at = from + "audio".length();
    while (at < to && (bytes.at(at) == '/' || bytes.at(at) == '\\')) {
      at++;
    }
    boolean wave =
        begins("wav", bytes, at, to) || begins("x-wav", bytes, at, to) || isPcm(bytes, at, to);
    return wave ? WAVE_SOUND : COMPRESSED_SOUND;
  }

  /** Of a sound's {@code format}. */
  static MediaKind ofSound(BodyBytes bytes, int from, int to) {
    return begins("wav", bytes, from, to) || isPcm(bytes, from, to) ? WAVE_SOUND : COMPRESSED_SOUND;
  }

  private static boolean isPcm(BodyBytes bytes, int from, int to) {
    return begins("pcm", bytes, from, to);
  }

  private static boolean begins(String ascii, BodyBytes bytes, int from, int to) {
    return to - from >= ascii.length() && bytes.same(ascii, from, from + ascii.length());
  }
}
