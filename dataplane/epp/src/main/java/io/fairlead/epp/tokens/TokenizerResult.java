package io.fairlead.epp.tokens;

import java.util.Locale;

/** What came of having a prompt cut into tokens. */
public enum TokenizerResult {
  /** It was, in time. */
  DONE,
  /** It took too long, or would have: the request went on with an estimate. */
  LATE,
  /** Too many wait already. */
  BUSY,
  /** What the server will compute can't be known, such as of an image. */
  UNSUPPORTED,
  /** The tokenizer failed. */
  FAILED;

  /** As metrics have it. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
