package io.fairlead.epp.openai;

import java.util.Arrays;

/**
 * Finds what is no text in a prompt while its JSON is passed: images, sounds, videos and files as
 * OpenAI's chat and responses and Anthropic's messages carry them, told by the keys that they stand
 * under. Is told of each object and key, and asked about each string in an object.
 *
 * <p>What a string is may depend on a key behind it, so that it is decided when its object ends.
 */
final class MediaParts {

  private static final int FIRST_PARTS = 8;
  private static final int KEPT_FRAMES = 32;
  private static final BodyBytes NOTHING = new BodyBytes();

  private final PromptSpans spans;
  private MediaFrame[] frames = {};
  private BodyBytes body = NOTHING;

  /** By the order in which they stand in the body; 0 for what is text after all. */
  private int[] tokens = new int[FIRST_PARTS];

  private int[] lengths = new int[FIRST_PARTS];
  private int count;
  private int sectionTokens;

  /**
   * No parts yet.
   *
   * @param spans where text is counted
   */
  MediaParts(PromptSpans spans) {
    this.spans = spans;
  }

  void begin(BodyBytes bytes) {
    body = bytes;
    count = 0;
  }

  /** Lets go of the body, and of what many parts or deep nesting took. */
  void release() {
    body = NOTHING;
    if (frames.length > KEPT_FRAMES) {
      frames = Arrays.copyOf(frames, KEPT_FRAMES);
    }
    if (tokens.length > FIRST_PARTS) {
      tokens = new int[FIRST_PARTS];
      lengths = new int[FIRST_PARTS];
    }
  }

  void beginSection() {
    sectionTokens = 0;
  }

  /** What all of the section cost, as far as its objects have ended. */
  int sectionTokens() {
    return sectionTokens;
  }

  /** How many there are so far. */
  int mark() {
    return count;
  }

  /** What one costs, by its number; 0 for one that is text. */
  int tokens(int part) {
    return tokens[part];
  }

  /**
   * An object begins.
   *
   * @param depth how many objects and lists it is in
   * @param keyed whether the innermost of them is an object
   */
  void enter(int depth, boolean keyed) {
    if (depth >= frames.length) {
      int known = frames.length;
      frames = Arrays.copyOf(frames, Math.max(8, depth * 2));
      for (int i = known; i < frames.length; i++) {
        frames[i] = new MediaFrame();
      }
    }
    frames[depth].begin(keyed ? frames[depth - 1].key() : MediaKey.OTHER);
  }

  /** A key of the object, without its quotes. */
  void key(int depth, int from, int to) {
    frames[depth].key(MediaKey.of(body, from, to));
  }

  /** A key of the object that has escapes in it. */
  void key(int depth, String decoded) {
    frames[depth].key(MediaKey.of(decoded));
  }

  /**
   * A string of the object, without its quotes.
   *
   * @return whether it may be no text
   */
  boolean string(int depth, int from, int to) {
    MediaFrame frame = frames[depth];
    if (!frame.mayBeMedia()) {
      frame.says(body, from, to);
      return false;
    }
    if (frame.hasPart()) {
      decide(frame);
    }
    if (count == tokens.length) {
      tokens = Arrays.copyOf(tokens, count * 2);
      lengths = Arrays.copyOf(lengths, count * 2);
    }
    // With its quotes, as it would be counted as text.
    lengths[count] = to - from + 2;
    frame.found(count++, body, from, to);
    return true;
  }

  /** The object ends. */
  void leave(int depth) {
    MediaFrame frame = frames[depth];
    if (!frame.hasPart()) {
      return;
    }
    if (!frame.isSource()) {
      decide(frame);
      return;
    }
    MediaFrame owner = frames[depth - 1];
    if (owner.hasPart()) {
      decide(owner);
    }
    owner.takeOver(frame);
  }

  private void decide(MediaFrame frame) {
    int part = frame.part();
    int cost = frame.cost();
    tokens[part] = cost;
    sectionTokens = (int) Math.min((long) sectionTokens + cost, Integer.MAX_VALUE);
    if (cost == 0) {
      spans.countText(lengths[part]);
    }
  }
}
