package io.fairlead.epp.openai;

import org.jspecify.annotations.Nullable;

/** The calls that carry a prompt, told apart by the end of their path. */
enum Operation {
  CHAT("/chat/completions", Field.MESSAGES),
  COMPLETIONS("/completions", Field.PROMPT),
  EMBEDDINGS("/embeddings", Field.INPUT),
  RESPONSES("/responses", Field.INPUT),
  /** Anything else: whichever prompt field is there counts, and none is needed. */
  OTHER("", null);

  private final String suffix;
  private final @Nullable Field prompt;

  Operation(String suffix, @Nullable Field prompt) {
    this.suffix = suffix;
    this.prompt = prompt;
  }

  static Operation of(String path) {
    int query = path.indexOf('?');
    int length = query < 0 ? path.length() : query;
    for (Operation operation : values()) {
      int from = length - operation.suffix.length();
      if (path.startsWith(operation.suffix, from)) {
        return operation;
      }
    }
    return OTHER;
  }

  /** The field that this call can't do without, or null. */
  @Nullable Field prompt() {
    return prompt;
  }
}
